package stage

import (
	"context"
	"time"

	"deployster/apply"
	"deployster/apply/turns"
	"deployster/config"
	"deployster/internal/app/approval"
	"deployster/internal/app/command"
	"deployster/internal/runtime/runner"
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

// Again returns what the next round of a run is planned from: the same manifest, with the instances that are known, the same
// images, and the state as the run has recorded it. An unreachable host is an error, as in HostOptions.
func (r Ran) Again(ctx context.Context, c command.Command, failUnreachable bool) (Connected, error) {
	n := r.Connected
	n.Manifest, n.Prior, n.again, n.Saved = r.expanded, r.journal.Snapshot(), r.Plan, nil
	n.Selection = r.Plan.Selection
	n.Selection.Replace, n.Selection.Purge, n.Selection.OtherPath = nil, false, false
	n.Selection.Unreached, n.Selection.UnreachedHosts = nil, nil
	return n.reach(ctx, c, failUnreachable, true)
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
