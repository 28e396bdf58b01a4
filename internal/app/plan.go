package app

import (
	"context"

	"deployster/config"
	"deployster/internal/app/announce"
	"deployster/internal/app/approval"
	"deployster/internal/app/draft"
	"deployster/internal/app/policy"
	"deployster/internal/app/savedplan"
	"deployster/internal/app/stage"
	"deployster/internal/app/workspace"
	"deployster/internal/base/diag"
	"deployster/plan"
	"deployster/state"
)

// DefaultParallelism is how many resources are worked on concurrently.
const DefaultParallelism = draft.DefaultParallelism

// HostOptions declare how a command treats hosts.
type HostOptions = stage.HostOptions

// PlanOptions declare what to plan, and what to do with the plan.
type PlanOptions struct {
	workspace.Inputs
	Selection   plan.Selection
	Parallelism int      // how many resources are worked on concurrently; 0 = DefaultParallelism, and more in workers
	Explain     []string // addresses whose changes are explained instead of showing the plan
	Out         string   // the file to save the plan in; "" = none
	HostOptions
	SignKey  *string // the file with the signing key
	AnyState bool    // the signed plan may begin any state
	Override policy.Overrides
	Deferred *string // apply: the apply of the saved plan has later rounds; stop
	Approve  *string // other-path, purge, both or nothing: they change what is planned
}

// Plan queries the state of every resource, and returns what an apply would do. A plan that policies deny is shown, saved
// and returned with the error about that.
func (e *Engine) Plan(ctx context.Context, o PlanOptions) (*plan.Plan, error) {
	var err error
	if o.Selection.OtherPath, o.Selection.Purge, err = approval.OfPlan(o.Approve); err != nil {
		return nil, err
	}
	if o.Selection.Deferred, err = approval.RoundsOf(o.Deferred, o.Out); err != nil {
		return nil, err
	}
	if err = o.Override.Check(false); err != nil {
		return nil, err
	}
	key, err := savedplan.SigningKey(e.Workspace.Options, o.SignKey, o.Out, o.AnyState)
	if err == nil && o.Out != "" {
		err = savedplan.CheckFile(e.Workspace.Options, o.Out)
	}
	if err != nil {
		return nil, err
	}
	loaded, err := load(ctx, e, o)
	if err != nil {
		return nil, err
	}
	loaded.OnlyShown = o.Out == "" && len(o.Explain) == 0 // an explanation compares the pins with the state
	opened, recovery, err := stage.Hold(ctx, e.command, loaded)
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	if err := e.Workspace.Keys.Ready(); err != nil {
		return nil, err
	}
	if err := announce.Explainable(opened.Manifest, opened.Prior, o.Selection, o.Explain); err != nil {
		return nil, err
	}
	stage.Recovered(e.command, opened, recovery)
	machine, err := e.Machine(ctx)
	if err != nil {
		return nil, err
	}
	connected, err := stage.View(ctx, e.command, opened, machine, o.HostOptions)
	if err != nil {
		return nil, err
	}
	drafted, err := stage.Draft(ctx, e.command, connected, o.Parallelism, o.Override)
	if err == nil {
		err = stage.HeldBack(drafted)
	}
	if err == nil && key != nil {
		err = savedplan.Bind(e.Workspace, drafted.Plan, drafted.Place, o.AnyState)
	}
	if err != nil {
		return nil, err
	}
	e.release(connected.Close)
	if err := e.show(drafted.Plan, drafted.Manifest, drafted.Prior, o.Explain); err != nil {
		return nil, err
	}
	if o.Out != "" {
		if err := savedplan.Save(e.Workspace, drafted.Plan, o.Out, key); err != nil {
			return nil, err
		}
	}
	e.command.Planned(drafted.Plan, o.Out)
	return drafted.Plan, drafted.Denied()
}

// load reads the manifest to plan.
func load(ctx context.Context, e *Engine, o PlanOptions) (stage.Loaded, error) {
	if !o.Selection.Destroy {
		return stage.Load(ctx, e.command, o.Inputs, o.Selection)
	}
	if len(o.Paths) > 0 {
		return stage.Loaded{}, diag.Errorf("Unexpected argument", "plan -destroy takes no manifests: it destroys everything in the "+
			"state file. -target and -exclude limit it.")
	}
	return stage.LoadEmpty(e.command, o.Selection)
}

// show shows a plan, or explains the changes of some resources. prior is the state that
// the plan was made from, or a later one.
func (e *Engine) show(p *plan.Plan, m *config.Manifest, prior state.Snapshot, addresses []string) error {
	if len(addresses) == 0 {
		e.command.UI.Plan(p)
		return nil
	}
	m, err := draft.Expanded(m, p)
	if err != nil {
		return err
	}
	list, err := announce.Explain(p, m, prior, addresses)
	if err != nil {
		return err
	}
	e.command.UI.Explain(p, list)
	return nil
}

// ExplainSaved explains the changes of some resources of a saved plan.
func (e *Engine) ExplainSaved(ctx context.Context, p *plan.Plan, addresses []string) error {
	m, err := e.Workspace.Replay(p.Sources, p.Variables, p.Created)
	if err != nil {
		return err
	}
	snapshot, err := e.Workspace.ReadState(ctx, e.Workspace.StatePlace(m))
	if err != nil {
		return err
	}
	e.command.Learn(snapshot)
	return e.show(p, m, snapshot, addresses)
}
