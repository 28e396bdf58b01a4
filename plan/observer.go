package plan

import (
	"context"
	"slices"

	"deployster/config"
	"deployster/internal/base/graph"
	"deployster/plan/change"
	"deployster/plan/findings"
	"deployster/plan/inputs"
	"deployster/plan/observe"
	"deployster/plan/order"
	"deployster/plan/plugs"
	"deployster/plan/refresh"
	"deployster/plan/subject"
	"deployster/plan/things"
	"deployster/plan/types"
	"deployster/protocol"
	"deployster/state"
)

// observer makes steps of resources, and queries their states. Build and Drift have one each.
type observer struct {
	subject  *subject.Subject
	findings *findings.List
	types    *types.Types
	plugs    *plugs.Plugs
	hosts    things.Hosts
	prober   Prober
	options  Options
}

func newObserver(m *config.Manifest, prior state.Snapshot, p Prober, o Options) *observer {
	hosts, s := things.HostsOf(m, o.Hosts), subject.New(m, prior, o.Selection)
	s.Placed = hosts.PlaceAll(prior)
	f := findings.New(s)
	granted := plugs.New(slices.Concat(m.Plugs(), o.Plugs), o.Artifacts, o.Look)
	known := types.New(s, f, p, granted, o.Parallelism)
	return &observer{subject: s, findings: f, types: known, plugs: granted, hosts: hosts, prober: p, options: o}
}

func (x *observer) secret(s *Step) {
	if x.options.Secret != nil && len(s.Sensitive) > 0 {
		x.options.Secret(s.Secrets())
	}
}

func (x *observer) progress(e Event) {
	if x.options.Progress != nil {
		x.options.Progress(e)
	}
}

// newStep returns a step with what is known before the image is asked.
func (x *observer) newStep(r *config.Resource, resolved config.Resolved) *Step {
	ty := x.types.TypeOf(r.Address)
	return &Step{
		Type: r.TypeRef, Config: resolved.Value, Unknown: resolved.Unknown, Sensitive: observe.HiddenInConfig(x.prober, ty, resolved),
		Ignored: resolved.Ignored, Staying: resolved.MayChange, ReadOnly: r.ReadOnly, Aliases: r.Aliases, Subscribes: r.Subscribes, Init: ty,
		Pull: r.Pull, Verify: r.Verify, Settings: r.Settings, RunsWith: r.Settings.Widened(), Mounts: x.types.Mounts(r.Address),
		Timeouts: change.Timeouts{State: state.Duration(r.Timeouts.State), Action: state.Duration(r.Timeouts.Action)},
		Protect:  r.PreventDestroy, New: r.New && !r.ReadOnly && r.Publish == nil, OnRemove: string(r.OnRemove), Publishes: r.Publish != nil,
		Source:    r.Range.String(),
		SecretEnv: observe.HiddenInEnv(x.subject.Manifest, r.Settings.Env),
	}
}

// query returns a query of the state of a step's object, without an input. entry is what is
// recorded at its address.
func (x *observer) query(addr string, s *Step, entry state.Entry) observe.Query {
	secrets := &observe.Secrets{Schemas: x.prober, Known: config.Hider(x.subject.Manifest), Entry: entry}
	return observe.Query{Step: s.Observed(addr), Secrets: secrets}
}

// observe queries the state of an object. entry is the entry of the object, and not of another one
// at its address; nil = none.
func (x *observer) observe(ctx context.Context, q *observe.Query, entry *state.Entry, around observe.Scope) observe.Observation {
	x.progress(Asking{q.Target.Address})
	var err error
	if q.Input, err = observe.Request(&q.Step, entry, around); err != nil {
		return observe.Observation{Err: err}
	}
	acts := !x.subject.Selection.RefreshOnly // a plan that only records runs no action
	return observe.Notified(ctx, x.prober, q, acts, entry != nil, around)
}

// recorded returns the entry of a resource, with the values that are not recorded as they are
// in the step.
func (x *observer) recorded(addr string, s *Step) (state.Entry, bool) {
	entry, known := x.subject.Prior.Resources[addr]
	return observe.Completed(x.prober, s.Init, entry, s.Config), known
}

// changedInputs returns what a type was given that it was not given when its resource was
// last VALID. in is its input of now.
func (x *observer) changedInputs(addr string, s *Step, in protocol.StateInput) []inputs.Change {
	entry, _ := x.recorded(addr, s)
	now := s.Given()
	now.Given = inputs.Given(s.Init, in.Dependencies, x.hosts.Facts(s.Settings.Host))
	if entry.Given == nil { // an earlier version wrote it: what is recorded of the dependencies counts
		unrecorded := func(string) observe.View { return observe.View{} }
		deps, _ := observe.Dependencies(s.Init, entry.Aliases, observe.RecordedViews(x.subject.Prior, unrecorded))
		entry.Given = inputs.Given(s.Init, deps, x.hosts.Facts(s.Settings.Host))
	}
	list := inputs.Compare(now, entry)
	if from, _ := x.subject.MovedFrom(addr); from != "" && len(s.Init.Identity) == 0 && !s.Init.Memory {
		list = append(list, inputs.Change{What: inputs.Address, Names: []string{"was " + from}})
	}
	return list
}

// since returns how a resource became different from its entry. in is its input of now, and
// pending what it is to be notified of.
func (x *observer) since(addr string, s *Step, in protocol.StateInput, pending []inputs.Change) change.Since {
	list := append(x.changedInputs(addr, s, in), pending...)
	return change.Since{Inputs: list, Drifted: inputs.Drift(list)}
}

// visit calls do with each resource, in parallel, and with a resource only after those
// that come before it.
func (x *observer) visit(ctx context.Context, resources map[string]*config.Resource, before graph.Graph,
	do func(*config.Resource) (ok bool)) {
	room := order.Room{Resources: x.options.Parallelism, InWorkers: x.options.InWorkers, Hosts: x.options.HostsAtOnce}
	order.Visit(ctx, before, room, func(addr string) order.Where {
		return order.At(x.types.Type(addr), &resources[addr].Settings)
	}, func(addr string) bool { return do(resources[addr]) })
}

// asRecorded returns the scope of the query of an object with its recorded config: of its
// dependencies the recorded states are sent, and else what a finished step lets expect.
func (d *decided) asRecorded() observe.Scope {
	return observe.Scope{Prior: d.subject.Prior, View: observe.RecordedViews(d.subject.Prior, d.look)}
}

// owed returns what a resource is to be notified of.
func owed(b *builder, s *Step, entry state.Entry) []inputs.Change {
	return inputs.Refresh(refresh.Owed(s.Subscribes, entry, b.Prior, updates(b)), b.Prior, updates(b))
}
