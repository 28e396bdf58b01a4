package stage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"deployster/apply"
	"deployster/apply/turns"
	"deployster/internal/app/command"
	"deployster/internal/app/draft"
	"deployster/internal/app/hosts"
	"deployster/internal/app/remotes"
	"deployster/internal/app/savedplan"
	"deployster/internal/app/workspace"
	"deployster/internal/runtime/remote"
	"deployster/internal/ui/events"
	"deployster/plan"
	"deployster/plan/verdict"
	"deployster/state"
)

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

	first  string     // the id of the plan of the first round
	rounds int        // how many were begun
	shown  *plan.Plan // the plans of all rounds in one
	left   *leaving   // why there is no later round; nil = nothing is left to one
}

// leaving is why a run stops before a later round.
type leaving struct {
	why     string
	problem error // nil = that is not an error
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
	r := Ran{Approved: a, journal: journal, release: release, work: c.Work, first: a.Plan.ID}
	return r.carry(ctx, c, ro, a.store.Snapshot()), nil
}

// Next carries out another approved plan in the same run. Nothing of it has begun where it returns an error.
func (r Ran) Next(ctx context.Context, c command.Command, a Approved, ro RunOptions) (Ran, error) {
	prior := r.journal.Snapshot()
	if err := r.journal.Round(a.Plan.ID); err != nil {
		return r, err
	}
	release, err := a.claim(ctx, c, prior.Lineage)
	if err != nil {
		return r, err
	}
	r.release = release
	c.Work.Events(events.Event{Level: events.Info, Message: fmt.Sprintf("Applying round %d", r.rounds+1),
		Body: events.ApplyStarted{Plan: a.Plan.ID, Round: r.rounds + 1}})
	if err := errors.Join(r.journal.Saw(a.Plan.Saw()), a.keep(c, r.journal), a.Clients.Begin(r.journal, a.Plan)); err != nil {
		return r, err
	}
	r.Approved = a
	return r.carry(ctx, c, ro, prior), nil
}

// NextID returns the id of the plan of the next round.
func (r Ran) NextID() string { return fmt.Sprintf("%s.%d", r.first, r.rounds+1) }

// Whole reports whether all that was shown until now was done.
func (r Ran) Whole() bool { return r.err == nil && r.report.Whole() }

// Leave ends a run before what its plan has deferred to a later round. problem may be nil.
func (r Ran) Leave(why string, problem error) Ran {
	r.left = &leaving{why, problem}
	return r
}

// carry carries out a plan whose run is recorded.
func (r Ran) carry(ctx context.Context, c command.Command, ro RunOptions, prior state.Snapshot) Ran {
	a, o := r.Approved, r.options
	o.Parallelism, o.InWorkers = draft.ApplyLimits(ro.Parallelism, a.Place)
	o.Hosts, o.MaxFailedHosts, o.Waves = ro.AtOnce, ro.MaxFailed, ro.Waves
	o.Guard = a.Clients.Guard()
	o.KeepGoing, o.Abort, o.Left, o.Stays = ro.KeepGoing, c.Abort, a.Left, r.rounds > 0
	o.Events, o.Now, o.Reacher = c.Applying, time.Now, hosts.NewReacher(a.Places)
	o.Secret, o.Hide = c.Work.Secrets.Learn, c.Work.Secrets.Hide
	o.Look = a.Planner(c).Look(a.Inputs(0), a.expanded.Applying(time.Now()), a.store.Snapshot, a.Clients)
	o.Pod = func(key string) string { return remote.ActionPod(a.lineage, key) }
	end := c.UI.Begin("Applying", toDo(a.Plan))
	report, err := apply.Run(ctx, a.Plan, a.expanded.Applying(time.Now()), prior, r.journal, a.Clients, o)
	end()
	if r.shown = plan.Together(r.shown, a.Plan); r.report != nil {
		report = r.report.With(report)
	}
	r.report, r.err = report, err
	r.rounds++
	return r
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
	if r.left != nil {
		r.report.LeaveLater(r.Plan, r.left.why, errors.Is(r.left.problem, context.Canceled))
		if !errors.Is(r.left.problem, context.Canceled) {
			r.report.Fail(without(r.left.problem, r.report.Problems))
		}
	}
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
	c.UI.Report(r.shown, r.report, recorded)
	c.Reported(r.report, recorded)
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
