package unsettled

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"deployster/internal/base/diag"
	"deployster/internal/runtime/remote/router"
	"deployster/internal/runtime/runner"
	"deployster/plan"
	"deployster/state"
	"deployster/state/actions"
	"deployster/state/moves"
)

// adoption collects the ends of actions that were found out. settle records all of them
// in one write, so that only one backup copy of the state is kept.
type adoption struct {
	finder Finder
	store  *state.Store
	next   state.Snapshot // the state with the ends that were found out
	ended  []adopted
}

// adopted is an action whose end was found out.
type adopted struct {
	addr string
	a    actions.Attempt
	out  runner.Outcome
	at   router.Adopter
}

// find waits for the ends of all open actions. It returns the resources whose machine is
// unreachable.
func (n *adoption) find(ctx context.Context, snapshot state.Snapshot, p *plan.Plan) (left []string, err error) {
	limited, f := ctx, n.finder
	if f.Command.Work.LockTimeout > 0 {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeoutCause(ctx, f.Command.Work.LockTimeout, errWaitedEnough)
		defer cancel()
	}
	for _, addr := range snapshot.Unknown() {
		u := snapshot.Unsettled[addr]
		on, operation := moves.OperationAt(addr)
		_, described := snapshot.Resources[on]
		described = described || p != nil && p.Resources[addr] != nil
		for _, a := range u.Open() {
			if operation != "" && !f.ended(limited, snapshot, addr, a) {
				f.warnOperation(limited, snapshot, addr, a)
				continue
			}
			if Elsewhere(f.Place, snapshot, addr) {
				f.warnUnknown(snapshot, addr, a, "it was started on another machine, "+u.By.Host, byType)
				continue
			}
			out, err := f.follow(limited, snapshot, addr, a, described)
			switch {
			case errors.Is(context.Cause(limited), errWaitedEnough):
				return nil, stillRuns(addr, a, u.By, f.Command.Work.LockTimeout)
			case ctx.Err() != nil:
				f.Command.Work.Note("%s/%s continues. The next apply waits for it again.", addr, diag.Visible(a.Action))
				return nil, context.Cause(ctx)
			case diag.Is[*runner.HostError](err):
				f.warnUnknown(snapshot, addr, a, err.Error(), byHost)
				left = append(left, addr)
				continue
			case err != nil:
				return nil, diag.Errorf("Cannot find the outcome of an action",
					"%s of %s, started by %s: %s. When you know its outcome: `deployster resolve -as=done '%s'`, or "+
						"-as=failed.", a.Action, addr, u.By,
					strings.TrimSuffix(err.Error(), "."), addr)
			case out.Fate == runner.Unknown && operation != "":
				f.warnOperation(limited, snapshot, addr, a)
				continue
			case out.Fate == runner.Unknown:
				f.warnUnknown(snapshot, addr, a, out.Why, byType)
				continue
			}
			n.add(adopted{addr, a, out, f.on(snapshot, addr)})
		}
	}
	return slices.Compact(left), nil
}

// errWaitedEnough is the cause of the end of a wait for an action.
var errWaitedEnough = errors.New("it still runs")

// stillRuns returns the error for an action that was not seen to end in time.
func stillRuns(addr string, a actions.Attempt, by actions.By, waited time.Duration) error {
	return diag.Errorf("An action still runs", "%q of %s was started by %s at %s, and has not ended. Gave up waiting after %s, and the "+
		"action continues. Wait longer (-lock-timeout), or end its program; the next apply finds its outcome.", a.Action, addr, by,
		a.Started.Format(time.RFC3339), waited)
}

// add notes how an action ended, and reports it.
func (n *adoption) add(f adopted) {
	exit, note := exitOf(f.out), n.finder.Command.Work.Note
	if said := n.finder.answered(n.next, f.addr, f.out); said != nil {
		n.next = n.next.Answered(f.addr, said)
	}
	n.next = n.next.Settled(f.addr, f.a.Key, exit, saidBy(f.a, f.out))
	n.ended = append(n.ended, f)
	switch name := diag.Visible(f.a.Action); {
	case exit == nil:
		note("%s/%s had not begun.", f.addr, name)
	case f.out.ExitCode == 0:
		note("%s/%s ended well at %s.", f.addr, name, f.out.Ended.Local().Format(time.TimeOnly))
	default:
		note("%s/%s ended at %s with exit code %d.", f.addr, name, f.out.Ended.Local().Format(time.TimeOnly), f.out.ExitCode)
	}
}

// settle records all ends that were found, and then discards the traces of those actions in containerd.
func (n *adoption) settle() error {
	if len(n.ended) == 0 {
		return nil
	}
	if err := n.store.Replace(n.next); err != nil {
		return err
	}
	for _, f := range n.ended {
		if f.a.Silent {
			f.out.Result.Stdout = nil
		}
		n.finder.recordAdopted(f.addr, runner.NameOf(n.next.Host(f.addr)), f.a, f.out)
		if err := f.at.Discard(context.Background(), f.a.Key); err != nil {
			n.finder.Command.Work.Warn(left(f.addr, f.a, err))
		}
	}
	return nil
}

// left returns the warning that an action has left something.
func left(addr string, a actions.Attempt, err error) *diag.Diagnostic {
	return diag.Warningf("Something was left of an action",
		"The outcome of %s of %s is recorded, and its remains could not be removed: %s.", a.Action, addr, err)
}
