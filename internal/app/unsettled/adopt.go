package unsettled

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"deployster/apply"
	appartifacts "deployster/internal/app/artifacts"
	"deployster/internal/app/workspace"
	"deployster/internal/base/diag"
	"deployster/internal/base/words"
	"deployster/internal/runtime/artifact"
	artifactimages "deployster/internal/runtime/artifact/images"
	"deployster/internal/runtime/remote/router"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/plan"
	"deployster/state"
	"deployster/state/actions"
	"deployster/state/moves"
)

// Adopt finds out how actions ended whose end is unknown because their command was killed
// or interrupted. It waits for those that still run, records what it finds, and warns
// about the rest: for those resources the state action finds the current state.
//
// The output of an action may hold secrets that only its config reveals. Where the config
// is neither in the state nor in the saved plan p, which may be nil, the output is not
// shown and not kept.
//
// Actions on hosts are searched for on the machines where they were started. Adopt
// returns the resources whose machine is unreachable: an action may still run there.
func (f Finder) Adopt(ctx context.Context, store *state.Store, p *plan.Plan) (left []string, err error) {
	prior := store.Snapshot()
	snapshot, err := f.locate(ctx, prior, func(addr string) bool { return leaves(prior, addr, p) })
	if err != nil {
		return nil, err
	}
	if len(snapshot.Unknown()) == 0 {
		return nil, f.discardEnded(ctx, snapshot, p)
	}
	f.Command.Learn(snapshot) // the output of the actions may hold its secrets
	found := adoption{f, store, store.Snapshot(), nil}
	left, err = found.find(ctx, snapshot, p)
	if failed := found.settle(); failed != nil {
		return nil, errors.Join(err, failed)
	}
	if err != nil {
		return nil, err
	}
	return left, f.discardEnded(ctx, snapshot, p)
}

// on returns the Adopter for the actions of a resource, on the machine where they were started.
func (f Finder) on(s state.Snapshot, addr string) router.Adopter {
	return f.Places.AdopterFor(s.Host(addr))
}

// leaves reports whether what the ended actions of a resource have left is removed: those of a resumed plan, and those in
// a cluster, where a Pod would stay.
func leaves(s state.Snapshot, addr string, p *plan.Plan) bool {
	return resumes(s.Unsettled[addr], p) || s.Host(addr).InCluster()
}

func resumes(u actions.Unsettled, p *plan.Plan) bool { return p != nil && u.Plan == p.ID }

// discardEnded removes the traces of actions whose end is recorded, where their command was killed before it did: in
// clusters, and those of a resumed plan everywhere. There a second attempt has the same key, and the trace of the first one
// must not be taken for its end.
func (f Finder) discardEnded(ctx context.Context, snapshot state.Snapshot, p *plan.Plan) error {
	for addr, u := range snapshot.Unsettled {
		if !leaves(snapshot, addr, p) {
			continue
		}
		for _, a := range u.Actions {
			if a.Exit == nil {
				continue
			}
			err := f.on(snapshot, addr).Discard(ctx, a.Key)
			if diag.Is[*runner.HostError](err) {
				continue // the plan does not resume what is on that host
			}
			if err != nil && !resumes(u, p) {
				f.Command.Work.Warn(left(addr, a, err))
			} else if err != nil {
				return diag.Errorf("Cannot continue a plan", "%s of %s, started by %s, has ended and cannot be run again: "+
					"%s.", a.Action, addr,
					u.By, err)
			}
		}
	}
	return nil
}

// follow adopts one action, and shows its output, as an apply does. The output of a
// resource that nothing describes may hold secrets, and is dropped.
func (f Finder) follow(ctx context.Context, s state.Snapshot, addr string, a actions.Attempt, described bool) (runner.Outcome, error) {
	name, u, show := addr+"/"+a.Action, s.Unsettled[addr], f.Command.Line
	if !described {
		show = func(typeclient.Line) {}
	}
	showStdout := show
	if a.Silent { // its stdout is data to record, and not for people
		showStdout = func(typeclient.Line) {}
	}
	stdout, endStdout := typeclient.Lines(addr, a.Action, typeclient.Stdout, showStdout)
	stderr, endStderr := typeclient.Lines(addr, a.Action, typeclient.Stderr, show)
	out, err := f.outcome(ctx, s, addr, a, runner.Watch{Stdout: stdout, Stderr: stderr, Running: func() {
		most := ""
		if f.Command.Work.LockTimeout > 0 {
			most = fmt.Sprintf(", for at most %s", f.Command.Work.LockTimeout)
		}
		f.Command.Work.Note("%s still runs. %s started it at %s. Waiting for its end%s.", diag.Visible(name), diag.Visible(u.By.String()),
			a.Started.Local().Format(time.TimeOnly), most)
	}})
	endStdout()
	endStderr()
	if !described {
		out.Result.Stderr = []byte("[not kept: its secrets are not known]\n")
		if !a.Silent {
			out.Result.Stdout = nil
		}
	}
	return out, err
}

// outcome waits for the end of an action, and returns how it ended. An action without a trace on
// the machine where it would have started never started: its command was killed before.
func (f Finder) outcome(ctx context.Context, s state.Snapshot, addr string, a actions.Attempt, w runner.Watch) (runner.Outcome, error) {
	out, err := f.on(s, addr).Adopt(ctx, a.Key, w)
	on, _ := moves.OperationAt(addr)
	if entry, known := s.Resources[on]; err == nil && out.NoTrace && a.Started.After(out.Forgotten) && known &&
		entry.Settings.Host == nil && workspace.ActsHere(f.Command.Work.Options, s.Unsettled[addr].By) {
		out.Fate = runner.NotBegun
	}
	return out, err
}

// exitOf returns the exit code of an action that has ended; nil = it never started.
func exitOf(out runner.Outcome) *int {
	if out.Fate != runner.Exited {
		return nil
	}
	return &out.ExitCode
}

// answered returns the answer of a put that has ended; nil = it gave none, or the action is not a put.
func (f Finder) answered(s state.Snapshot, addr string, out runner.Outcome) *artifact.Put {
	put := s.Unsettled[addr].Put
	if put == nil || out.Fate != runner.Exited {
		return nil
	}
	types := typeclient.New(typeclient.Options{Hide: f.Command.Work.Secrets.Hide})
	return appartifacts.ReadPut(artifactimages.New(artifactimages.Options{Types: types}), addr, put, out.Result)
}

// saidBy returns the data that an action printed to be recorded; nil = none.
func saidBy(a actions.Attempt, out runner.Outcome) json.RawMessage {
	if !a.Silent || out.Fate != runner.Exited {
		return nil
	}
	memory, err := typeclient.ReadSaid(out.Result.Stdout)
	if err != nil {
		return nil // as when an apply sees the end: then what the action made is unknown
	}
	return memory
}

// recordAdopted adds the output of an adopted action to the records of this run. Its
// input is in the records of the run that started it. An action that never started has no
// output and no exit code.
func (f Finder) recordAdopted(addr, host string, a actions.Attempt, out runner.Outcome) {
	if out.Fate != runner.Exited {
		return
	}
	if out.Duration == 0 && out.Ended.After(a.Started) {
		out.Duration = out.Ended.Sub(a.Started)
	}
	f.Command.Records().Add(typeclient.Invocation{Address: addr, Host: host, Step: a.Action, Started: a.Started, Result: out.Result})
}

// How deployster finds out what became of an action whose end nothing observed.
const (
	byType = "Its type is queried for the current state. Until the answer is VALID, the action stays open. If you know its outcome: " +
		"`deployster resolve -as=done '%s'`, or -as=failed."
	byHost = "It may still run there, so it and its dependants are skipped until that machine answers or is replaced. When the machine " +
		"is lost for good: `deployster resolve -as=failed '%s'`."
)

// warnUnknown warns which action was in progress, since when, who started it, and what to do next.
func (f Finder) warnUnknown(s state.Snapshot, addr string, a actions.Attempt, why, next string) {
	u := s.Unsettled[addr]
	why = whyUnknown(u.By, s.Host(addr), why)
	d := diag.Warningf("The outcome of an action is unknown", "%s started %q of %s at %s, and did not see its end: %s. "+next,
		u.By, a.Action, addr, a.Started.Format(time.RFC3339), why, addr)
	d.Address = addr
	f.Command.Work.Warn(d)
}

// whyUnknown reports why the end of an action is unknown. For an action on a host it returns
// why: only the host knows, whichever machine started the action.
func whyUnknown(by actions.By, on *runner.Host, why string) string {
	host, boot := by.Local()
	switch {
	case on != nil || by.Host == "":
		return why
	case !host:
		return "it was started on another machine, " + by.Host
	case !boot:
		return "the machine was restarted since"
	}
	return why
}

// View warns of unknown ends of actions, for a command that records nothing.
// It returns the state with the data that ended actions have printed since. left are the
// resources whose machine is unreachable.
func (f Finder) View(ctx context.Context, recorded state.Snapshot) (now state.Snapshot, left []string, err error) {
	prior, err := f.locate(ctx, recorded, func(string) bool { return false })
	if err != nil {
		return recorded, nil, err
	}
	now = recorded
	var running []string
	for _, addr := range prior.Unknown() {
		u := prior.Unsettled[addr]
		for _, a := range u.Open() {
			if IsOperation(addr) {
				f.warnOperation(ctx, prior, addr, a)
				continue
			}
			if Elsewhere(f.Place, prior, addr) {
				f.warnUnknown(prior, addr, a, "it was started on another machine, "+u.By.Host, byType)
				continue
			}
			runs, err := f.on(prior, addr).Running(ctx, a.Key)
			tells := a.Silent || u.Put != nil // what it made is known only when it has ended
			switch {
			case diag.Is[*runner.HostError](err):
				f.warnUnknown(prior, addr, a, err.Error(), byHost)
				left = append(left, addr)
				continue
			case err != nil:
				return now, nil, err
			case runs && tells:
				return now, nil, diag.Errorf("An action still runs",
					"%q of %s was started by %s at %s, and has not ended. Its result is known only after its end. `deployster apply` "+
						"waits for it.",
					a.Action, addr, u.By, a.Started.Format(time.RFC3339))
			case runs:
				running = append(running, fmt.Sprintf("%q of %s (started by %s at %s)", a.Action, addr, u.By,
					a.Started.Format(time.RFC3339)))
				continue
			case tells:
				if out, err := f.outcome(ctx, prior, addr, a, runner.Watch{}); err == nil && out.Fate != runner.Unknown {
					now = now.Answered(addr, f.answered(prior, addr, out)).Settled(addr, a.Key, exitOf(out), saidBy(a, out))
					continue
				}
			}
			f.warnUnknown(prior, addr, a, "the next apply checks whether it ended", byType)
		}
	}
	if len(running) > 0 {
		f.Command.Work.Warn(diag.Warningf("Actions still run", "%s. This plan may not apply afterwards. `deployster apply` waits for "+
			"the end.", words.Claim(running, "has not ended")))
	}
	return now, slices.Compact(left), nil
}

// Resumed reports that this run resumes a saved plan whose earlier run ended unexpectedly.
func Resumed(w *workspace.Workspace, p *plan.Plan, prior state.Snapshot) {
	done, resumed := apply.Resumed(p, prior)
	if !resumed {
		return
	}
	what := "nothing of it was applied yet"
	if len(done) > 0 {
		what = "done already: " + words.All(done)
	}
	w.Note("The run of this plan was interrupted. Continuing; %s.", what)
}
