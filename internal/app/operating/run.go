package operating

import (
	"context"
	"encoding/json"

	"deployster/apply"
	"deployster/internal/app"
	"deployster/internal/app/command"
	"deployster/internal/app/machine"
	"deployster/internal/app/stage"
	"deployster/internal/base/diag"
	"deployster/internal/ui/events"
	"deployster/plan"
	"deployster/state"
)

// Options declare which operation to run, and who approves it.
type Options struct {
	Pattern string // the addresses of resources: see matching
	Name    string
	Values  []Value
	Auto    bool   // approved without a question
	Ask     bool   // a person can be prompted
	Report  string // the file for the report; "" = none
	Hosts   stage.HostOptions

	Parallelism int // how many resources are worked on concurrently; 0 = the default
}

// Run runs an operation on resources. The report is nil if nothing was run.
func Run(ctx context.Context, e *app.Engine, o Options) (report *apply.Report, err error) {
	file := app.NewReporter(e.Command(), o.Report)
	if err := file.Begin(); err != nil {
		return nil, err
	}
	defer func() { err = file.End(err) }()
	run := operating{Options: o, command: e.Command()}
	if report, err = run.all(ctx, e); report != nil {
		report.Fail(file.Write(report))
		run.command.Work.Diagnostics(report.Problems)
		run.command.Reported(report, nil)
		run.conclude(report)
	}
	return report, err
}

// operating is one run of an operation on resources.
type operating struct {
	Options
	command command.Command
	tasks   []task
	report  *apply.Report
}

// all runs the operation: without the lock of the state if it changes nothing.
func (r *operating) all(ctx context.Context, e *app.Engine) (*apply.Report, error) {
	loaded, err := stage.LoadEmpty(r.command, plan.Selection{RefreshOnly: true})
	if err != nil {
		return nil, err
	}
	opened, err := stage.Read(ctx, r.command, loaded)
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	if _, err := matching(opened.Prior, r.Pattern); err != nil {
		return nil, err // before containerd is needed
	}
	m, err := e.Machine(ctx)
	if err != nil {
		return nil, err
	}
	connected, err := stage.Compare(ctx, r.command, opened, m)
	if err != nil {
		return nil, err
	}
	defer connected.Close()
	b, err := r.prepare(ctx, connected, false)
	if err != nil {
		return nil, err
	}
	if err := r.approve(ctx); err != nil {
		return nil, err
	}
	if r.changing() {
		return r.locked(ctx, loaded, m)
	}
	release, err := r.claim(opened.Place, opened.Prior)
	if err != nil {
		return nil, err
	}
	defer release()
	return r.carryOut(ctx, b, nil), nil
}

// changing reports whether a task may change its object.
func (r *operating) changing() bool {
	for _, t := range r.tasks {
		if t.operation.Changing() {
			return true
		}
	}
	return false
}

// prepare finds the tasks. sought reports that the ends of what runs were searched for.
func (r *operating) prepare(ctx context.Context, n stage.Connected, sought bool) (bench, error) {
	addresses, err := matching(n.Prior, r.Pattern)
	if err != nil {
		return bench{}, err
	}
	b, err := newBench(ctx, r.command, n, addresses)
	if err != nil {
		return b, err
	}
	var diags diag.Diagnostics
	r.tasks = nil
	for _, addr := range addresses {
		t, err := b.task(ctx, addr, r.Name, func(schema json.RawMessage) (json.RawMessage, error) { return inputOf(schema, r.Values) })
		if err == nil {
			err = b.free(ctx, n, t, sought)
		}
		if err != nil {
			diags = append(diags, diag.From("Cannot run the operation", err)...)
			continue
		}
		r.tasks = append(r.tasks, t)
	}
	return b, diags.Err()
}

// locked runs the tasks with the lock of the state, and records them. What was approved is what is run: the tasks are
// found again, and must be the same.
func (r *operating) locked(ctx context.Context, loaded stage.Loaded, m *machine.Machine) (*apply.Report, error) {
	shown := r.tasks
	opened, err := stage.Lock(ctx, r.command, loaded, "operation run")
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	connected, err := stage.Act(ctx, r.command, opened, m, "operation run", r.Hosts)
	if err != nil {
		return nil, err
	}
	defer connected.Close()
	b, err := r.prepare(ctx, connected, true)
	if err != nil {
		return nil, err
	}
	if !sameTasks(shown, r.tasks) {
		return nil, diag.Errorf("The state has changed", "Another command has changed it since this operation was shown. Nothing was "+
			"run. Run "+
			"it again.")
	}
	release, err := r.claim(connected.Place, connected.Prior)
	if err != nil {
		return nil, err
	}
	defer release()
	id := state.NewID()
	journal, err := connected.Begin(id)
	if err != nil {
		return nil, err
	}
	r.command.Records().Begin()
	r.command.Records().Applies(id, nil, nil)
	r.command.Work.Events(events.Event{Level: events.Info, Message: "Running an operation", Body: events.ApplyStarted{Plan: id}})
	report := r.carryOut(ctx, b, &record{journal, id, connected.Recorded().Lineage})
	report.Fail(journal.Finish(state.Status(report.Status)))
	return report, nil
}

// sameTasks reports whether two lists run the same, with the same rights, on the same objects.
func sameTasks(a, b []task) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].addr != b[i].addr || a[i].step.Init.Digest != b[i].step.Init.Digest ||
			state.EntryHash(a[i].entry) != state.EntryHash(b[i].entry) {
			return false
		}
	}
	return true
}
