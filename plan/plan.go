package plan

import (
	"encoding/json"
	"maps"
	"slices"
	"time"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/base/graph"
	"deployster/internal/base/rootless"
	"deployster/internal/runtime/remote/router"
	"deployster/plan/artifacts"
	"deployster/plan/begins"
	"deployster/plan/exclusive"
	"deployster/plan/order"
	"deployster/plan/reason"
	"deployster/plan/subject"
	"deployster/plan/verdict"
	"deployster/protocol"
	"deployster/state"
	"deployster/state/moves"
)

// Format is the version of the plan file that this tool writes and reads.
const Format = 3

// Plan is what one apply would do, and all that it needs to do it.
type Plan struct {
	Format     int               `json:"format"`
	Deployster string            `json:"deployster"`
	ID         string            `json:"id"` // hash of the rest of plan.json
	Created    time.Time         `json:"created"`
	Lineage    string            `json:"lineage,omitempty"` // of the state it was made from; empty = there was none
	Begins     *begins.State     `json:"begins,omitempty"`  // signed, without a lineage: the state that it may begin
	Serial     uint64            `json:"serial"`
	Workspace  string            `json:"workspace"`
	Images     map[string]string `json:"images"`           // reference -> digest
	Pulled     []string          `json:"pulled,omitempty"` // references in images that a registry has: they can be pulled again
	Layers     [][]string        `json:"layers"`
	Edges      []Edge            `json:"edges"`
	Resources  map[string]*Step  `json:"resources"`
	Outputs    map[string]Output `json:"outputs"`
	Summary    Summary           `json:"summary"`

	// Operations are those that a watch runs by a schedule once the plan is applied, by name.
	Operations map[string]Scheduled `json:"operations,omitempty"`

	// Barriers put the removals of a class of objects before what begins in that class.
	Barriers []order.Barrier `json:"barriers,omitempty"`

	// Exclusive is what was found about each exclusive block, sorted by name.
	Exclusive []Exclusive `json:"exclusive,omitempty"`

	// Others are the types of the resources that the plan leaves out and that apply queries
	// again after what it destroys, by address.
	Others map[string]protocol.Type `json:"others,omitempty"`

	// Selection is what the plan was limited to. LeftOut lists the addresses of the
	// manifest and of the state file that the plan leaves out for that reason, sorted.
	Selection Selection `json:"selection"`
	LeftOut   []string  `json:"left_out,omitempty"`

	// Unreached are those in LeftOut that nobody has left out: a host cannot be reached, or
	// they wait for what is on such a host. Each has the reason.
	Unreached map[string]*reason.Reason `json:"unreached,omitempty"`

	// Later is what waits for instances that become known only when this plan is applied, by address: the blocks, what depends
	// on them, and what is recorded of both.
	Later map[string]Later `json:"later,omitempty"`

	// Errored reports that the plan is incomplete because of errors: it can be shown,
	// but neither saved nor applied.
	Errored bool `json:"errored,omitempty"`

	// Transfers are what has come from other states, or gone there, since the last apply that agreed with it.
	Transfers []state.Transferred `json:"transfers,omitempty"`

	Moves []moves.Move `json:"moves,omitempty"` // address changes that apply makes in the state file first

	// Instances pins the for_each and count that were known only with the states
	// of resources, by the address of the block.
	Instances map[string]config.Instances `json:"instances,omitempty"`

	Artifacts map[string]artifacts.Pin `json:"artifacts,omitempty"` // their versions, by name
	Hosts     map[string]router.Pin    `json:"hosts,omitempty"`     // the machines that resources are on, by the names of hosts
	Rootless  []rootless.Loss          `json:"rootless,omitempty"`  // what its containers on this machine do not have, for want of root
	Checks    []config.CheckResult     `json:"checks,omitempty"`    // results of the check blocks, with the values known so far

	// Policies are what the policies found about the plan.
	Policies []verdict.Policy `json:"policies,omitempty"`

	// Remote pins what the manifests use of other states, by the names of remote_state blocks.
	Remote map[string]config.RemoteState `json:"remote,omitempty"`

	// Variables pins the values that the manifests were evaluated with.
	Variables          map[string]json.RawMessage `json:"variables,omitempty"`
	SensitiveVariables []string                   `json:"sensitive_variables,omitempty"` // names
	VariableOrigins    map[string]string          `json:"variable_origins,omitempty"`    // name -> where its value comes from

	// Entries pins the entry in the state file of each resource of the plan, also under
	// the address that it had: address -> fingerprint, "" = no entry.
	Entries map[string]string `json:"entries"`

	// Sources are the manifests, kept next to plan.json in the plan file.
	Sources config.Sources `json:"-"`
}

// Selection limits a plan, or what it queries and does.
type Selection = subject.Selection

// Exclusive is what a plan found about one exclusive block.
type Exclusive = exclusive.Set

// ExclusiveItem is an object of a set.
type ExclusiveItem = exclusive.Item

// Edge reports that To waits for From.
type Edge = order.Edge

// Output is a value of the manifest as the plan expects it.
type Output struct {
	Value     json.RawMessage   `json:"value"`
	Unknown   map[string]string `json:"unknown,omitempty"`
	Sensitive bool              `json:"sensitive,omitempty"`
	Changed   bool              `json:"changed,omitempty"` // differs from what the state file holds
	Removed   bool              `json:"removed,omitempty"` // the state file holds it, and no manifest declares it
	// LeftOut reports that the output keeps its recorded value, because it uses something
	// that the plan leaves out. Where no value is recorded it is null.
	LeftOut bool `json:"left_out,omitempty"`
	Export  bool `json:"export,omitempty"` // other projects may read it
}

// Partial reports whether resources may be left out.
func (p *Plan) Partial() bool { return p.Selection.Partial() || len(p.Unreached)+len(p.Later) > 0 }

// HasChanges reports whether apply would change, adopt or record a resource, or change
// an address or an output. To record again a resource that is VALID does not count.
func (p *Plan) HasChanges() bool {
	s := p.Summary
	if s.Create+s.Update+s.Replace+s.Destroy+s.Forget+s.Publish+s.Deferred+s.Record+s.MayChange+s.Adopt+len(p.Moves) > 0 {
		return true
	}
	for _, o := range p.Outputs {
		if o.Changed {
			return true
		}
	}
	_, changed := p.Schedules()
	return changed
}

// WithoutRoot returns the line about what the containers of changes do not have, for want of root; "" = nothing.
func (p *Plan) WithoutRoot() string {
	if len(p.Rootless) == 0 || !p.HasChanges() {
		return ""
	}
	return "rootless: " + diag.Visible(rootless.Words(p.Rootless)) + ".\n\n"
}

// Order lists the addresses layer by layer.
func (p *Plan) Order() []string {
	return slices.Concat(p.Layers...)
}

// Before returns, for every resource, the resources that must be done before it.
func (p *Plan) Before() graph.Graph { return p.order().Before() }

// Nodes returns the nodes of an apply, each with the nodes that must be done before it.
func (p *Plan) Nodes() graph.Graph { return p.order().Nodes() }

func (p *Plan) order() order.Plan {
	return order.Plan{Resources: slices.Sorted(maps.Keys(p.Resources)), Replaced: p.replaced, Edges: p.Edges, Barriers: p.Barriers}
}

// InvalidOrder returns what is wrong with the order of a plan that was read from a file, or "".
func (p *Plan) InvalidOrder() string {
	return p.order().Invalid(p.Layers, func(addr string) bool { _, other := p.Others[addr]; return other })
}

// Needs returns, for every resource, what it depends on: its edges without those that
// only make a removal wait for the dependants. Each list is sorted.
func (p *Plan) Needs() map[string][]string {
	needs := make(map[string][]string, len(p.Resources))
	for _, e := range p.Edges {
		if e.Origin != order.Removal {
			needs[e.To] = append(needs[e.To], e.From)
		}
	}
	for addr, list := range needs {
		slices.Sort(list)
		needs[addr] = slices.Compact(list)
	}
	return needs
}

// replaced reports whether a resource is destroyed and created again.
func (p *Plan) replaced(addr string) bool {
	s := p.Resources[addr]
	return s != nil && s.Change() == Replace
}

// DependantsFirst lists the addresses so that what depends on a resource comes
// before it. That is not Order reversed: a removal waits for the removal of its
// dependants, so its edges point the other way already.
func (p *Plan) DependantsFirst() []string {
	return p.order().DependantsFirst().Sorted()
}
