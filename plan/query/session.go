package query

import (
	"context"
	"encoding/json"
	"slices"

	"deployster/config"
	"deployster/internal/base/graph"
	"deployster/internal/runtime/runner"
	"deployster/plan/change"
	"deployster/plan/findings"
	"deployster/plan/inputs"
	"deployster/plan/objects"
	"deployster/plan/observe"
	"deployster/plan/order"
	"deployster/plan/plugs"
	"deployster/plan/reason"
	"deployster/plan/subject"
	"deployster/plan/types"
	"deployster/protocol"
	"deployster/state"
)

// Session makes steps of resources, and queries their states. A plan and a report of drift
// have one each.
type Session struct {
	Subject  *subject.Subject
	Findings *findings.List
	Types    *types.Types
	Plugs    *plugs.Plugs
	Hosts    objects.Hosts
	Prober   Prober
	Options  Options
	Workdir  string // where mounts with a relative source begin
}

// New returns a session for a manifest and a state.
func New(m *config.Manifest, prior state.Snapshot, p Prober, o Options) *Session {
	hosts, s := objects.HostsOf(m, o.Hosts), subject.New(m, prior, o.Selection)
	s.Placed, s.Waiting = hosts.PlaceAll(prior), o.Artifacts.Waiting
	f := findings.New(s)
	granted := plugs.New(slices.Concat(m.Plugs(), o.Plugs), o.Artifacts, o.PlugPaths)
	known := types.New(s, f, p, granted, o.Parallelism)
	return &Session{Subject: s, Findings: f, Types: known, Plugs: granted, Hosts: hosts, Prober: p, Options: o,
		Workdir: runner.RealDir(o.Workspace)}
}

// Apart returns the same session with findings of its own.
func (x *Session) Apart() *Session {
	one := *x
	one.Findings = findings.New(x.Subject)
	return &one
}

// Secret makes the sensitive values in the config of a step known.
func (x *Session) Secret(s *change.Step) {
	if x.Options.Secret != nil && len(s.Sensitive) > 0 {
		x.Options.Secret(s.Secrets())
	}
}

// Progress reports an event.
func (x *Session) Progress(e Event) {
	if x.Options.Progress != nil {
		x.Options.Progress(e)
	}
}

// NewStep returns a step with what is known before the image is queried. It reports the plugs that
// the config names and that the resource may not have.
func (x *Session) NewStep(ctx context.Context, r *config.Resource, resolved config.Resolved) *change.Step {
	ty := x.Types.TypeOf(r.Address)
	named, diags := x.Plugs.Named(ctx, r, ty, resolved.Value)
	x.Findings.Report(r, "", diags)
	step := &change.Step{
		Type: r.TypeRef, Config: resolved.Value, Unknown: resolved.Unknown, Sensitive: observe.HiddenInConfig(x.Prober, ty, resolved),
		Ignored: resolved.Ignored, MayChangeAt: resolved.MayChange, ReadOnly: r.ReadOnly, Aliases: r.Aliases, Subscribes: r.Subscribes,
		Init: ty,
		Pull: r.Pull, Verify: r.Verify, Settings: r.Settings, RunsWith: r.Settings.Widened(),
		Mounts:   slices.Concat(x.Types.Mounts(r.Address), named),
		Timeouts: change.Timeouts{State: state.Duration(r.Timeouts.State), Action: state.Duration(r.Timeouts.Action)},
		Protect:  r.PreventDestroy, New: r.New && !r.ReadOnly && r.Publish == nil, OnRemove: string(r.OnRemove),
		Publishes: r.Publish != nil,
		Source:    r.Range.String(),
		SecretEnv: observe.HiddenInEnv(x.Subject.Manifest, r.Settings.Env),
	}
	step.Weaker = change.Weaker(step.Settings, step.Mounts, ty)
	if step.Undescribed() { // which values of its config are secret is not known
		step.Config, step.Unknown, step.MayChangeAt, step.Sensitive = json.RawMessage("{}"), nil, nil, nil
		step.Notes = append(step.Notes, reason.New(reason.Undescribed, r.TypeRef))
	}
	return step
}

// RecordedStep returns a step with what an entry holds of how to remove its object, and with
// the signature that its image must carry today.
func (x *Session) RecordedStep(entry state.Entry) *change.Step {
	step := change.RecordedStep(entry)
	if x.Options.Signed != nil {
		step.Verify = x.Options.Signed(entry.Type)
	}
	return step
}

// Query returns a query of the state of a step's object, without an input. entry is what is
// recorded at its address.
func (x *Session) Query(addr string, s *change.Step, entry state.Entry) observe.Query {
	secrets := &observe.Secrets{Schemas: x.Prober, Known: config.Hider(x.Subject.Manifest), Entry: observe.SecretsOf(entry)}
	return observe.Query{Step: s.Observed(addr), Secrets: secrets}
}

// Observe queries the state of an object. entry is the entry of the object, and not of another one
// at its address; nil = none.
func (x *Session) Observe(ctx context.Context, q *observe.Query, entry *state.Entry, scope observe.Scope) observe.Observation {
	x.Progress(Querying{q.Target.Address})
	var err error
	if q.Input, err = observe.Request(&q.Step, entry, scope); err != nil {
		return observe.Observation{Err: err}
	}
	acts := !x.Subject.Selection.RefreshOnly // a plan that only records runs no action
	return observe.ObserveNotified(ctx, x.Prober, q, acts, entry != nil, scope)
}

// Recorded returns the entry of a resource, with the values that are not recorded as they are
// in the step.
func (x *Session) Recorded(addr string, s *change.Step) (state.Entry, bool) {
	entry, known := x.Subject.Prior.Resources[addr]
	return observe.Completed(x.Prober, s.Init, entry, s.Config), known
}

// ChangedInputs returns what a type was given that it was not given when its resource was
// last VALID. in is its input of now.
func (x *Session) ChangedInputs(addr string, s *change.Step, in protocol.StateInput) []inputs.Change {
	entry, _ := x.Recorded(addr, s)
	now := s.Given()
	now.Given = inputs.Given(s.Init, in.Dependencies, x.Hosts.Facts(s.Settings.Host))
	if entry.Given == nil { // an earlier version wrote it: what is recorded of the dependencies counts
		unrecorded := func(string) observe.View { return observe.View{} }
		deps, _ := observe.Dependencies(s.Init, entry.Aliases, observe.RecordedViews(x.Subject.Prior, unrecorded))
		entry.Given = inputs.Given(s.Init, deps, x.Hosts.Facts(s.Settings.Host))
	}
	list := inputs.Compare(now, entry)
	if from, _ := x.Subject.MovedFrom(addr); from != "" && len(s.Init.Identity) == 0 && !s.Init.Memory {
		list = append(list, inputs.Change{What: inputs.Address, Names: []string{"was " + from}})
	}
	return list
}

// Since returns how a resource became different from its entry. in is its input of now, and
// pending what it is to be notified of.
func (x *Session) Since(addr string, s *change.Step, in protocol.StateInput, pending []inputs.Change) change.Since {
	list := append(x.ChangedInputs(addr, s, in), pending...)
	return change.Since{Inputs: list, Drifted: inputs.Drift(list)}
}

// Visit calls do with each resource, in parallel, and with a resource only after those
// that come before it.
func (x *Session) Visit(ctx context.Context, resources map[string]*config.Resource, before graph.Graph,
	do func(*config.Resource) (ok bool)) {
	room := order.Capacity{Resources: x.Options.Parallelism, InWorkers: x.Options.InWorkers, InPods: order.InPods,
		Hosts: x.Options.HostsAtOnce}
	order.Visit(ctx, before, room, func(addr string) order.Location {
		return order.At(x.Types.Type(addr), &resources[addr].Settings)
	}, func(addr string) bool { return do(resources[addr]) })
}
