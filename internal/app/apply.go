package app

import (
	"context"
	"errors"
	"runtime/debug"

	"deployster/apply"
	"deployster/internal/app/approval"
	"deployster/internal/app/hosts"
	"deployster/internal/app/policy"
	"deployster/internal/app/rounds"
	"deployster/internal/app/savedplan"
	"deployster/internal/app/stage"
	"deployster/internal/app/workspace"
	"deployster/internal/base/diag"
	"deployster/plan"
)

// ApplyOptions declare what is applied, and who approves it.
type ApplyOptions struct {
	workspace.Inputs         // Paths may be one saved plan
	Destroy          bool    // apply the plan of an empty manifest
	Back             *uint64 // apply the plan that goes back to the state with this serial; nil = the manifests
	Selection        plan.Selection
	Parallelism      int  // as for PlanOptions
	KeepGoing        bool // after a failure continue with the resources that do not depend on it
	HostOptions
	Report   string // the file for the report; "" = none
	Approval approval.Options
	Override policy.Overrides
	Policy   savedplan.PolicyOptions
}

// command returns the name of the command.
func (o ApplyOptions) command() string {
	if o.Destroy {
		return "destroy"
	}
	if o.Back != nil {
		return "rollback"
	}
	return "apply"
}

// Apply applies a saved plan, or plans, prompts and applies. The report is nil if nothing
// was run. The report file is written in every case.
func (e *Engine) Apply(ctx context.Context, o ApplyOptions) (report *apply.Report, err error) {
	r := Reporter{command: e.command, file: o.Report}
	tell := teller{engine: e, where: "deployster " + o.command() + " in " + e.Workspace.Dir}
	if err := r.Begin(); err != nil {
		return nil, err
	}
	defer func() {
		if panicked := recover(); panicked != nil {
			err = errors.Join(err, diag.Crash(panicked, debug.Stack(), "What was done until then is recorded next to the state "+
				"file, and the next command merges it."))
		}
		err = r.End(err)
		tell.end(ctx, r.report)
	}()
	return e.apply(ctx, o, &r, &tell)
}

// apply is the list of the stages of an apply.
func (e *Engine) apply(ctx context.Context, o ApplyOptions, r *Reporter, tell *teller) (*apply.Report, error) {
	rules, err := e.rules(o)
	if err != nil {
		return nil, err
	}
	loaded, err := e.toApply(ctx, o, rules)
	r.plan, tell.of = loaded.Saved, loaded.Manifest
	if err != nil {
		return nil, err
	}
	if o.Destroy {
		if prior, err := e.Workspace.ReadState(ctx, loaded.Place); err == nil && prior.Lineage == "" {
			e.Workspace.Note("Nothing to destroy: there is no state at %s.", loaded.Place)
			return apply.Refused(nil, apply.OK, nil), nil
		}
	}
	opened, err := stage.Lock(ctx, e.command, loaded, o.command())
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	machine, err := e.Machine(ctx)
	if err != nil {
		return nil, err
	}
	connected, err := stage.Act(ctx, e.command, opened, machine, o.command(), o.HostOptions)
	if err != nil {
		return nil, err
	}
	defer connected.Close()
	drafted, err := e.toApprove(ctx, o, connected, rules, r)
	if err == nil {
		err = stage.HeldBack(drafted)
	}
	if err != nil {
		return nil, err
	}
	waves, err := stage.Schedule(drafted, o.Waves)
	if err != nil {
		return nil, err
	}
	approved, err := stage.Approve(ctx, e.command, drafted, rules.approval)
	if err != nil {
		return nil, err
	}
	tell.begin(ctx)
	ro := stage.RunOptions{Parallelism: o.Parallelism, KeepGoing: o.KeepGoing, AtOnce: o.AtOnce, MaxFailed: o.MaxFailed, Waves: waves}
	ran, err := stage.Run(ctx, e.command, approved, ro)
	if err != nil {
		return nil, err
	}
	ran = rounds.Rounds{Command: e.command, Approval: rules.approval, Override: o.Override, Run: ro, Waves: o.Waves,
		Unreachable: o.FailUnreachable}.Continue(ctx, ran)
	report := ran.Finish() // hosts record what the state declares there: the connections are still needed
	if !tell.waits() {
		e.release(connected.Close)
	}
	report.Policies = ran.Plan.Policies
	if d := hosts.NotDone(ran.Left); d != nil {
		report.Problems = append(report.Problems, diag.From("", d)...)
	}
	report.Fail(r.Write(report))
	e.Workspace.WarnClear(ran.Place)
	ran.Conclude(e.command)
	return report, nil
}

// rules are what decides whether a plan may be applied.
type rules struct {
	policy   savedplan.Policy
	approval approval.Approval
	saved    bool // the plan was saved: nothing is planned again
}

// rules checks the options of an apply.
func (e *Engine) rules(o ApplyOptions) (r rules, err error) {
	r.saved = !o.Destroy && savedplan.IsPlan(e.Workspace, o.Paths)
	if err = o.Override.Check(r.saved); err != nil {
		return r, err
	}
	if r.policy, err = savedplan.PolicyOf(e.Workspace.Options, o.Policy); err == nil && !r.saved {
		err = r.policy.SavedOnly(o.command())
	}
	if err != nil {
		return r, err
	}
	o.Approval.Demanded = r.policy.Demanding() && o.Policy.Deferred == nil
	if r.policy.OnlyShown() {
		stop := "stop"
		o.Approval.Deferred = &stop
	}
	r.approval, err = approval.New(o.Approval, r.saved)
	return r, err
}

// toApply reads the plan or the manifest that is applied.
func (e *Engine) toApply(ctx context.Context, o ApplyOptions, r rules) (stage.Loaded, error) {
	s := o.Selection
	s.OtherPath, s.Purge, s.Destroy = r.approval.Other, r.approval.Purge, s.Destroy || o.Destroy
	switch {
	case o.Destroy && len(o.Paths) > 0:
		return stage.Loaded{}, diag.Errorf("Unexpected argument", "destroy takes no arguments: it destroys everything in the state file.")
	case o.Destroy:
		return stage.LoadEmpty(e.command, s)
	case o.Back != nil:
		return stage.LoadFormer(ctx, e.command, *o.Back, s)
	case r.saved && len(o.Variables) > 0:
		return stage.Loaded{}, diag.Errorf("Conflicting flags",
			"A saved plan holds the values of its variables: -var and -var-file cannot change them. Plan again with other values.")
	case r.saved && !s.Unlimited():
		return stage.Loaded{}, diag.Errorf("Conflicting flags",
			"-target, -exclude, -replace and -refresh cannot change a saved plan. Plan again with them.")
	case r.saved:
		return stage.LoadSaved(e.command, o.Paths[0], r.policy.Check)
	}
	if err := stage.NamesPlan(e.Workspace, o.Paths); err != nil {
		return stage.Loaded{}, err
	}
	return stage.Load(ctx, e.command, o.Inputs, s)
}

// toApprove makes and shows the plan, or takes the saved one.
func (e *Engine) toApprove(ctx context.Context, o ApplyOptions, n stage.Connected, r rules, report *Reporter) (stage.Drafted, error) {
	if n.Saved != nil {
		return stage.Resume(ctx, e.command, n, r.approval.Mode() != approval.Never)
	}
	drafted, err := stage.Draft(ctx, e.command, n, o.Parallelism, o.Override)
	if err != nil {
		return drafted, err
	}
	report.plan = drafted.Plan
	if drafted, err = stage.Expand(drafted); err != nil {
		return drafted, err
	}
	e.command.UI.Plan(drafted.Plan)
	e.command.Planned(drafted.Plan, "")
	return drafted, r.policy.CheckDigest(drafted.Plan)
}
