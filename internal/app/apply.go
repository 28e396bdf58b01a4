package app

import (
	"cmp"
	"context"
	"errors"
	"os"
	"runtime/debug"
	"time"

	"deployster/apply"
	"deployster/config"
	"deployster/internal/app/approval"
	front "deployster/internal/app/artifacts"
	"deployster/internal/app/hosts"
	"deployster/internal/app/images"
	"deployster/internal/app/workspace"
	"deployster/internal/base/diag"
	"deployster/internal/runtime/runner"
	"deployster/internal/ui/events"
	"deployster/plan"
	"deployster/state"
	stateplace "deployster/state/place"
)

// ApplyOptions say what is applied, and who approves it.
type ApplyOptions struct {
	workspace.Inputs      // Paths may be one saved plan
	Destroy          bool // apply the plan of an empty manifest
	Selection        plan.Selection
	Parallelism      int  // as for PlanOptions
	KeepGoing        bool // after a failure go on with the resources that do not depend on it
	HostOptions
	Report   string // the file for the report; "" = none
	Approval approval.Options
	Policy   workspace.PolicyOptions
}

// task is one apply: what it does, and with what.
type task struct {
	*Engine
	ApplyOptions
	command  string
	saved    bool // the plan was saved: nothing is planned again
	policy   workspace.Policy
	approval approval.Approval
	plan     *plan.Plan
	manifest *config.Manifest
	client   *answerers
	report   reporter
	options  apply.Options // as they were approved
	place    state.Place
	left     map[string]string // what the plan leaves out because of hosts, with the reasons
}

// Apply applies a saved plan, or plans, asks and applies. The report is nil if nothing
// was run. The report file is written in every case.
func (e *Engine) Apply(ctx context.Context, o ApplyOptions) (report *apply.Report, err error) {
	t := task{Engine: e, ApplyOptions: o, command: "apply", report: reporter{engine: e, file: o.Report}}
	if o.Destroy {
		t.command, t.Selection.Destroy = "destroy", true
	}
	if err := t.report.begin(); err != nil {
		return nil, err
	}
	defer func() {
		if panicked := recover(); panicked != nil {
			err = errors.Join(err, diag.Crash(panicked, debug.Stack(), "What was done until then is recorded beside the state file, and the "+
				"next command folds it in."))
		}
		err = t.report.end(t.plan, err)
	}()
	return t.apply(ctx)
}

func (t *task) apply(ctx context.Context) (*apply.Report, error) {
	if err := t.prepare(ctx); err != nil {
		return nil, err
	}
	place := t.StatePlace(t.manifest)
	if t.Destroy || t.saved && t.plan.Selection.Destroy {
		place = t.StatePlaceAround()
	}
	if t.Destroy && !t.saved {
		if prior, err := t.ReadState(ctx, place); err == nil && prior.Lineage == "" {
			t.Note("There is nothing to destroy: there is no state at %s.", place)
			return apply.Refused(nil, apply.OK, nil), nil
		}
	}
	store, err := t.OpenState(ctx, place, t.command)
	if err != nil {
		return nil, err
	}
	defer func() { _ = store.Close() }() // the lock goes with the process anyway
	if warning := stateplace.Unreliable(place); warning != nil {
		t.Warn(warning)
	}
	if t.saved {
		if err := t.Fits(t.plan, place, store.Snapshot()); err != nil {
			return nil, err
		}
	}
	if err := t.greetAs(ctx, place, store); err != nil {
		return nil, err
	}
	if t.saved {
		for _, step := range t.plan.Resources {
			t.Secrets.Add(t.Secrets.StepSecrets(step))
		}
	}
	open, err := t.adopt(ctx, place, store, t.manifest, t.plan)
	if err != nil {
		return nil, err
	}
	if t.saved {
		err = t.resume(ctx, store.Snapshot())
	} else {
		err = t.decide(ctx, store.Snapshot(), open)
	}
	if err == nil {
		err = t.heldBack(place, t.plan, store.Snapshot())
	}
	if err == nil {
		err = t.approval.Approve(ctx, t.ui, t.plan, store.Snapshot(), runner.RealDir(t.Dir), &t.options)
	}
	if err != nil {
		return nil, err
	}
	if a := t.client.artifacts; a != nil {
		if err := a.front.Prefetch(ctx, t.plan); err != nil {
			return nil, err
		}
	}
	t.place, t.left = place, hosts.Left(t.plan, open)
	return t.execute(ctx, store)
}

// prepare reads the plan or the manifest of the task, and checks its options.
func (t *task) prepare(ctx context.Context) (err error) {
	t.saved = !t.Destroy && t.IsPlan(t.Paths)
	if t.policy, err = t.Engine.Policy(t.Policy); err == nil && !t.saved {
		err = t.policy.SavedOnly(t.command)
	}
	if err == nil {
		if t.policy.OnlyShown() {
			stop := "stop"
			t.Approval.Deferred = &stop
		}
		t.approval, err = approval.New(t.Approval, t.saved)
		t.Selection.OtherPath = t.approval.Other
	}
	switch {
	case err != nil:
		return err
	case t.Destroy && len(t.Paths) > 0:
		return diag.Errorf("Wrong command line", "destroy takes no arguments: it removes everything that the state file knows.")
	case t.Destroy:
		t.manifest, err = t.Empty()
	case t.saved:
		err = t.readSaved()
	default:
		if err = namesPlan(t.Engine, t.Paths); err == nil {
			t.manifest, err = t.Manifest(ctx, t.Inputs)
		}
	}
	return err
}

// namesPlan returns an error if the only path looks like a saved plan that does not exist.
func namesPlan(e *Engine, paths []string) error {
	if len(paths) != 1 || workspace.IsManifest(paths[0]) {
		return nil
	}
	if _, err := os.Stat(e.Path(paths[0])); errors.Is(err, os.ErrNotExist) {
		return diag.Errorf("No such file", "%s is neither a saved plan nor a manifest nor a directory. `%s` would make "+
			"a plan of that name.", paths[0], e.Typed("plan", "-out="+paths[0]))
	}
	return nil
}

// readSaved reads a saved plan and the manifests in it.
func (t *task) readSaved() error {
	if len(t.Variables) > 0 {
		return diag.Errorf("Wrong command line",
			"A saved plan holds the values of its variables: -var and -var-file cannot change them. Plan again with other values.")
	}
	if !t.Selection.IsZero() {
		return diag.Errorf("Wrong command line",
			"-target, -exclude, -replace and -refresh cannot change a saved plan. Plan again with them.")
	}
	file := t.Paths[0]
	p, signature, err := t.ReadPlan(file)
	if err == nil {
		err = t.policy.Check(file, p, signature)
	}
	if err != nil {
		return err
	}
	t.plan = p
	t.manifest, err = t.Replay(p.Sources, p.Variables, p.Created)
	return err
}

// resume prepares the run of a saved plan. The plan pins more images than a lock file
// does.
func (t *task) resume(ctx context.Context, prior state.Snapshot) error {
	t.tellResumed(t.plan, prior)
	types := t.Engine.client(prior, t.plan.Images, images.NewResolver(t.runtime, t.manifest, nil))
	t.client = &answerers{Types: types}
	if len(t.plan.Artifacts) > 0 || front.Concern(t.manifest, prior) {
		t.client.artifacts = pinnedArtifacts(t.Engine, t.manifest, prior, types, t.plan)
		t.client.Types = t.client.artifacts.front
	}
	if err := apply.CheckPlugs(t.plan, runner.RealDir(t.Dir)); err != nil {
		return err
	}
	if err := checkHosts(ctx, t.Engine, t.plan); err != nil {
		return err
	}
	if err := images.Ensure(ctx, t.runtime, t.plan); err != nil {
		return err
	}
	if t.approval.Mode() != approval.Never {
		t.ui.Plan(t.plan)
	}
	return nil
}

// decide makes and shows the plan. open are the resources whose actions may still run.
func (t *task) decide(ctx context.Context, prior state.Snapshot, open []string) (err error) {
	m, selection, err := reach(ctx, t.Engine, t.manifest, prior, narrowed(t.Selection, t.manifest, t.Paths), true, open)
	if err != nil {
		return err
	}
	if t.plan, t.client, err = t.build(ctx, m, prior, selection, t.Parallelism); err != nil {
		return err
	}
	t.manifest = m
	if t.manifest, err = expanded(t.manifest, t.plan); err != nil {
		return err
	}
	t.ui.Plan(t.plan)
	t.tellPlan(t.plan, "")
	return t.policy.CheckDigest(t.plan)
}

// execute applies the plan, and reports in every case.
func (t *task) execute(ctx context.Context, store *state.Store) (*apply.Report, error) {
	// A plan that was made without a state also fits a state that was created since and
	// is still empty: apply.Check has verified that.
	journal, err := store.Begin(t.plan.ID, cmp.Or(t.plan.Lineage, store.Snapshot().Lineage, t.acts.Lineage))
	if err != nil {
		return nil, err
	}
	t.records().Begin()
	t.Events(events.Event{Level: events.Info, Message: "Applying", Body: events.ApplyStarted{Plan: t.plan.ID}})
	if files := t.client.artifacts; files != nil {
		if err := files.begin(journal, t.plan); err != nil {
			return nil, errors.Join(err, journal.Finish(state.StatusError))
		}
	}
	o := t.options
	o.Parallelism, o.InWorkers = applyLimits(t.Parallelism, t.StatePlace(t.manifest))
	o.Hosts, o.MaxFailedHosts = t.AtOnce, t.MaxFailed
	o.KeepGoing, o.Abort, o.Left = t.KeepGoing, t.Engine.options.Abort, t.left
	o.Events, o.Now, o.Secret, o.Reacher = t.applying, time.Now, t.Secrets.Learn, hosts.Reacher{Places: t.places}
	end := t.ui.Begin("Applying", toDo(t.plan))
	report, err := apply.Run(ctx, t.plan, t.manifest.Applying(time.Now()), store.Snapshot(), journal, t.client, o)
	end()
	t.release()
	if files := t.client.artifacts; files != nil && err == nil && report.Whole() {
		err = files.end(journal, t.manifest, store.Snapshot(), t.plan, time.Now())
	}
	report.Fail(without(err, report.Problems))
	report.Fail(without(journal.Finish(state.Status(report.Status)), report.Problems))
	t.conclude(report, store)
	return report, nil
}

// conclude reports how an apply ended, everywhere alike: all that follows takes the status and
// the problems from the report, which is complete before it is shown.
func (t *task) conclude(report *apply.Report, store *state.Store) {
	if d := hosts.NotDone(t.left); d != nil && t.place != nil { // a watch reports it by itself
		report.Problems = append(report.Problems, diag.From("", d)...)
	}
	report.Fail(t.report.write(report))
	if t.place != nil {
		t.WarnClear(t.place)
	}
	t.Diagnostics(report.Problems)
	var recorded *state.Snapshot
	if now := store.Snapshot(); report.Whole() {
		recorded = &now
	}
	t.ui.Report(t.plan, report, recorded)
	t.tellReport(report, recorded)
}

// toDo counts the resources that a plan may act on.
func toDo(p *plan.Plan) int {
	n := 0
	for _, step := range p.Resources {
		if step.Change != plan.Valid || step.MayChange {
			n++
		}
	}
	return n
}
