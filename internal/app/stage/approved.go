package stage

import (
	"context"
	"maps"
	"time"

	"deployster/apply"
	"deployster/apply/turns"
	"deployster/config"
	"deployster/internal/app/approval"
	"deployster/internal/app/command"
	"deployster/internal/runtime/runner"
	"deployster/plan"
	"deployster/plan/reason"
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

<<<<<<< ours
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
=======
// Again returns what the next round of a run is planned from: the same manifest, with the instances that are known, the same
// images, and the state as the run has recorded it. hold are addresses with which the round does nothing, with the reasons.
// unreachable is as in HostOptions.
func (r Ran) Again(ctx context.Context, c command.Command, hold map[string]*reason.Reason, unreachable bool) (Connected, error) {
	n := r.Connected
	n.Manifest, n.Prior, n.images, n.Saved = r.expanded, r.journal.Snapshot(), r.Plan.Images, nil
	n.Selection = r.Plan.Selection
	n.Selection.Replace, n.Selection.Purge, n.Selection.OtherPath = nil, false, false
	n.Selection.Unreached, n.Selection.UnreachedHosts = nil, nil
	n, err := n.reach(ctx, c, unreachable, true)
	if err == nil && len(hold) > 0 {
		all := maps.Clone(hold)
		maps.Copy(all, n.Selection.Unreached)
		n.Selection.Unreached = all
>>>>>>> theirs
	}
	return n, err
}

// Schedule returns the waves in which a plan begins its hosts.
func Schedule(d Drafted, w turns.Waves) (*turns.Schedule, error) {
	return turns.NewSchedule(w, d.Plan, d.expanded.Applying(time.Now()))
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
<<<<<<< ours

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
=======
>>>>>>> theirs
