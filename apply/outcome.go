package apply

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"deployster/apply/facts"
	"deployster/apply/fresh"
	"deployster/apply/latehost"
	"deployster/apply/report"
	"deployster/apply/turns"
	"deployster/internal/base/diag"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/plan"
	"deployster/protocol"
	"deployster/state"
)

// outcome is what the runner of a step notes about its node.
type outcome struct {
	report.Ended
	silent  bool            // an action returned no memory, though its type has one
	again   bool            // this is not the first attempt
	running string          // the action in progress
	unsure  map[string]bool // actions that were started, and have not ended well since

	incomplete *state.Entry // the entry recorded with its first action; nil = there is an entry already

	declined bool // it was not approved: what does not depend on it continues

	open    bool           // its actions are undone unless its group is confirmed: what it reports is not final
	after   bool           // it does not belong to its group after all, and waits for that
	settled []report.Ended // of a node that settles a group: how its resources ended

	batchGroup string // the resources whose actions may be carried out together with its own; "" = none
	leaveBatch func() // notes that it does not join a batch any more
}

// begin notes the start of an action: until it has ended well, it is unknown which secrets the object has.
func (o *outcome) begin(action string, f *facts.Facts) {
	if o.unsure == nil {
		o.unsure = map[string]bool{}
	}
	o.Acted, o.running, o.unsure[action] = true, action, true
	f.SetApplied(o.Addr, nil)
}

// end notes the end of an action.
func (o *outcome) end(action string, err error) {
	if o.running = ""; err == nil {
		delete(o.unsure, action)
	}
}

// holds reports whether a step needs an action, as far as the plan knows, and none may start.
func (r *stepRunner) holds(step *plan.Step, out *outcome) bool {
	switch step.Change() {
	case plan.Valid, plan.Forget, plan.Record, plan.Left:
		return false
	}
	return out.held(r.hosts.Why(turns.HostName(step)))
}

// held reports whether there is a reason why no action may start, and notes it.
func (o *outcome) held(why string) bool {
	if why != "" {
		o.decline(why)
	}
	return why != ""
}

// failHost notes that the host of a resource is not known or cannot be used.
func (o *outcome) failHost(err error) {
	if unusable, ok := errors.AsType[*latehost.QueryError](err); ok {
		o.failQuery(unusable.Err)
		return
	}
	o.Report.NotAttempted = o.Report.Planned
	o.fail(report.FailedConfig, err)
}

// failIdentity notes that the object of a resource belongs to another one, or, without an
// owner, is not the recorded one.
func (o *outcome) failIdentity(owner string) {
	const became = "What identifies it became known only now. "
	if owner == "" { // nothing has failed: it takes two applies
		o.decline("it would be another object than the recorded one")
		o.Problem = &diag.Diagnostic{Severity: diag.Error, Summary: "Not done yet: " + o.Report.Reason, Address: o.Addr,
			Detail: became + "Nothing of this resource was run. Plan and apply again: then it is replaced."}
		return
	}
	why := "it would be the object of " + report.References([]string{owner})
	o.Report.NotAttempted = o.Report.Planned
	o.fail(report.FailedIdentity, fresh.Stale(why, became+whatNow))
	o.Report.Reason = "plan is stale: " + why
}

// interrupted reports whether the user has interrupted the apply. Then it notes in the
// outcome which actions are left.
func (o *outcome) interrupted(ctx context.Context, next protocol.Action, left []protocol.Action) bool {
	if ctx.Err() == nil {
		return false
	}
	o.Report.Status = Interrupted
	o.Report.Reason = "interrupted before " + next.Name
	o.Report.NotAttempted = report.Names(left)
	return true
}

// failQuery notes that a query of the state failed.
func (o *outcome) failQuery(err error) {
	o.Report.NotAttempted = o.Report.Planned[len(o.Report.Completed):]
	o.fail(report.FailedState, err)
	if errors.Is(err, errAborted) {
		o.Report.Status = Interrupted
	}
}

// fail fills in the report of a resource that failed.
func (o *outcome) fail(what string, err error) {
	o.Report.Status, o.Report.Failed = Error, what
	d := diag.From("Apply failed", err)[0]
	if d.Address == "" {
		d.Address = o.Addr
	}
	o.Problem = d
	o.Report.Reason = reason(d, err)
	var gone *runner.HostError
	o.Gone = errors.As(err, &gone)
	if exit, ok := errors.AsType[*typeclient.ExitError](err); ok {
		o.Report.ExitCode = exit.Code
		if exit.Tail != "" {
			o.Report.LastLines = strings.Split(exit.Tail, "\n")
		}
	}
}

// failJournal notes that a fact could not be made durable: nothing may be started
// after that.
func (o *outcome) failJournal(err error) {
	o.fail(report.FailedJournal, err)
	o.Fatal = true
}

// reason returns why something failed, without what stands next to it in the report.
func reason(d *diag.Diagnostic, err error) string {
	if exit, ok := errors.AsType[*typeclient.ExitError](err); ok {
		last := exit.Tail[strings.LastIndexByte(exit.Tail, '\n')+1:]
		return strings.TrimSuffix(fmt.Sprintf("exit %d: %s", exit.Code, last), ": ")
	}
	if d.Detail == "" {
		return d.Summary
	}
	return d.Detail
}

// reasonOf returns the text of an error; "" = there is none.
func reasonOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
