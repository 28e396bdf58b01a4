package stage

import (
	"cmp"
	"context"
	"errors"
	"time"

	"deployster/apply"
	"deployster/apply/turns"
	"deployster/config"
	"deployster/internal/app/approval"
	"deployster/internal/app/command"
	"deployster/internal/app/draft"
	"deployster/internal/app/hosts"
	"deployster/internal/app/remotes"
	"deployster/internal/app/savedplan"
	"deployster/internal/app/workspace"
	"deployster/internal/runtime/remote"
	"deployster/internal/runtime/runner"
	"deployster/internal/ui/events"
	"deployster/plan"
	"deployster/plan/verdict"
	"deployster/state"
)

// Approved is a plan that may be applied, with what has to be prompted for on the way.
type Approved struct {
	Drafted
	options apply.Options
}

// Approve finds out whether a plan may be applied: one that policies deny may not. It fetches the files of artifacts that the plan needs.
func Approve(ctx context.Context, c command.Command, d Drafted, a approval.Approval) (Approved, error) {
	ok := Approved{Drafted: d}
	if err := verdict.Refuse(d.Plan.Policies); err != nil {
		return Approved{}, err
	}
	if err := a.Approve(ctx, c.UI, d.Plan, d.Prior, runner.RealDir(c.Work.Dir), &ok.options); err != nil {
		return Approved{}, err
	}
	return ok, d.Clients.Prefetch(ctx, d.Plan)
}

// ApproveBy approves a plan for which everything was decided before, by what a watch may do, unless policies deny it.
func ApproveBy(d Drafted, o apply.Options) (Approved, error) {
	return Approved{d, o}, verdict.Refuse(d.Plan.Policies)
}

// Schedule returns the waves in which a plan begins its hosts.
func Schedule(d Drafted, w turns.Waves) (*turns.Schedule, error) {
	return turns.NewSchedule(w, d.Plan, d.expanded.Applying(time.Now()))
}

// RunOptions declare how a plan is applied.
type RunOptions struct {
	Parallelism int             // 0 = DefaultParallelism, and more in workers
	KeepGoing   bool            // after a failure continue with the resources that do not depend on it
	AtOnce      int             // how many hosts are worked on concurrently; 0 = order.Hosts
	MaxFailed   int             // after that many failed hosts no further one is started; 0 = no limit
	Waves       *turns.Schedule // nil = hosts begin without waves
}

// Ran is the run of an approved plan.
type Ran struct {
	Approved
	report  *apply.Report
	journal *state.Journal
	err     error
	release func(whole bool) error // the claims on machines
	work    *workspace.Workspace
}

// Run applies a plan.
func Run(ctx context.Context, c command.Command, a Approved, ro RunOptions) (Ran, error) {
	// A plan that was made without a state also fits a state that was created since and
	// is still empty: apply.Check has verified that.
	warnings, err := remotes.Fresh(c.Work, a.Plan.Remote)
	if err != nil {
		return Ran{}, err
	}
	c.Work.Diagnostics(warnings)
	if err := a.transfers.GivePlanned(a.Plan); err != nil {
		return Ran{}, err
	}
	lineage := cmp.Or(a.Plan.Lineage, a.store.Snapshot().Lineage, a.lineage)
	overrides := verdict.Overrides(a.Plan.Policies)
	a.store.Overridden(overrides)
	a.store.Publishes(exported(a.Manifest, a.Plan), remotes.Reads(c.Work, a.Plan.Remote))
	journal, err := a.store.Begin(a.Plan.ID, lineage)
	if err != nil {
		return Ran{}, err
	}
	release, err := a.claim(ctx, c, lineage)
	if err != nil {
		return Ran{}, errors.Join(err, journal.Finish(state.StatusError))
	}
	c.Records().Begin()
	c.Records().Applies(a.Plan.ID, a.SignedBy, overrides)
	c.Work.Events(events.Event{Level: events.Info, Message: "Applying", Body: events.ApplyStarted{Plan: a.Plan.ID}})
	if err := errors.Join(journal.Saw(a.Plan.Saw()), a.keep(c, journal), a.Clients.Begin(journal, a.Plan)); err != nil {
		return Ran{}, errors.Join(err, journal.Finish(state.StatusError), release(false))
	}
	o := a.options
	o.Parallelism, o.InWorkers = draft.ApplyLimits(ro.Parallelism, a.Place)
	o.Hosts, o.MaxFailedHosts, o.Waves = ro.AtOnce, ro.MaxFailed, ro.Waves
	o.Guard = a.Clients.Guard()
	o.KeepGoing, o.Abort, o.Left = ro.KeepGoing, c.Abort, a.Left
	o.Events, o.Now, o.Reacher = c.Applying, time.Now, hosts.NewReacher(a.Places)
	o.Secret, o.Hide = c.Work.Secrets.Learn, c.Work.Secrets.Hide
	o.Look = a.Planner(c).Look(a.Inputs(0), a.expanded.Applying(time.Now()), a.store.Snapshot, a.Clients)
	o.Pod = func(key string) string { return remote.ActionPod(a.lineage, key) }
	end := c.UI.Begin("Applying", toDo(a.Plan))
	report, err := apply.Run(ctx, a.Plan, a.expanded.Applying(time.Now()), a.store.Snapshot(), journal, a.Clients, o)
	end()
	return Ran{a, report, journal, err, release, c.Work}, nil
}

// keep records what a rollback to the state of this run needs.
func (a Approved) keep(c command.Command, journal *state.Journal) error {
	packed, err := savedplan.Keep(c.Work, a.Plan, a.Manifest)
	if err != nil || packed == nil {
		return err
	}
	return journal.Former(packed)
}

// Finish completes the journal and the report of a run. The report has all problems after that.
func (r Ran) Finish() *apply.Report {
	if r.err == nil && r.report.Whole() {
		r.err = errors.Join(r.Clients.End(r.journal, r.expanded, r.store.Snapshot(), r.Plan, time.Now()), r.schedule())
	}
	r.report.Fail(without(r.err, r.report.Problems))
	r.report.Fail(without(r.journal.Finish(state.Status(r.report.Status)), r.report.Problems))
	r.report.Fail(without(r.release(r.err == nil && r.report.Whole()), r.report.Problems))
	r.report.Problems = append(r.report.Problems, remotes.Changed(r.work, r.Plan.Remote)...)
	return r.report
}

// schedule records the operations that are run by a schedule from now on.
func (r Ran) schedule() error {
	declared, changed := r.Plan.Schedules()
	if !changed {
		return nil
	}
	return r.journal.Operations(declared)
}

// Conclude reports how a run ended, everywhere alike: all that follows takes the status and
// the problems from the report, which is complete before it is shown.
func (r Ran) Conclude(c command.Command) {
	c.Work.Diagnostics(r.report.Problems)
	var recorded *state.Snapshot
	if now := r.store.Snapshot(); r.report.Whole() {
		recorded = &now
	}
	c.UI.Report(r.Plan, r.report, recorded)
	c.Reported(r.report, recorded)
}

// exported returns how the outputs of a plan are published; nil = as before.
func exported(m *config.Manifest, p *plan.Plan) *state.Exports {
	if e := m.Settings().Exports; e != nil {
		return &state.Exports{Recipients: e.Recipients}
	}
	for _, o := range p.Outputs {
		if o.Export {
			return &state.Exports{}
		}
	}
	return nil
}

// toDo counts the resources that a plan may act on.
func toDo(p *plan.Plan) int {
	n := 0
	for _, step := range p.Resources {
		if step.Change() != plan.Valid || step.Certainty == plan.MayChange {
			n++
		}
	}
	return n
}
