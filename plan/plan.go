package plan

import (
	"encoding/json"
	"maps"
	"slices"
	"time"

	"deployster/config"
	"deployster/internal/base/graph"
	"deployster/internal/base/jsondoc"
	"deployster/internal/runtime/remote/router"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/plan/artifacts"
	"deployster/plan/begins"
	"deployster/plan/inputs"
	"deployster/plan/order"
	"deployster/plan/subject"
	"deployster/protocol"
	"deployster/state"
	"deployster/state/moves"
)

// Format is the version of the plan file that this tool writes and reads.
const Format = 2

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

	// Barriers put the removals of a class of things before what begins in that class.
	Barriers []order.Barrier `json:"barriers,omitempty"`

	// Others are the types of the resources that the plan leaves out and that apply asks
	// again after what it destroys, by address.
	Others map[string]protocol.Type `json:"others,omitempty"`

	// Selection is what the plan was limited to. LeftOut lists the addresses of the
	// manifest and of the state file that the plan leaves out for that reason, sorted.
	Selection Selection `json:"selection,omitzero"`
	LeftOut   []string  `json:"left_out,omitempty"`

	// Unreached are those in LeftOut that nobody has left out: a host cannot be reached, or
	// they wait for what is on such a host. Each has the reason.
	Unreached map[string]string `json:"unreached,omitempty"`

	// Errored says that the plan is incomplete because of errors: it can be shown,
	// but neither saved nor applied.
	Errored bool `json:"errored,omitempty"`

	Moves []moves.Move `json:"moves,omitempty"` // address changes that apply makes in the state file first

	// Instances pins the for_each and count that were known only with the states
	// of resources, by the address of the block.
	Instances map[string]config.Instances `json:"instances,omitempty"`

	Artifacts map[string]artifacts.Pin `json:"artifacts,omitempty"` // their versions, by name
	Hosts     map[string]router.Pin    `json:"hosts,omitempty"`     // the machines that resources are on, by the names of hosts
	Checks    []config.CheckResult     `json:"checks,omitempty"`    // results of the check blocks, with the values known so far

	// Variables pins the values that the manifests were evaluated with.
	Variables          map[string]json.RawMessage `json:"variables,omitempty"`
	SensitiveVariables []string                   `json:"sensitive_variables,omitempty"` // names
	VariableOrigins    map[string]string          `json:"variable_origins,omitempty"`    // name -> where its value comes from

	// Entries pins the entry in the state file of each resource of the plan, also under
	// the address that it had: address -> fingerprint, "" = no entry.
	Entries map[string]string `json:"entries"`

	// Sources are the manifests, kept beside plan.json in the plan file.
	Sources config.Sources `json:"-"`
}

// Selection limits a plan, or what it asks and does.
type Selection = subject.Selection

// Edge says that To waits for From.
type Edge = order.Edge

// Step is what the plan says of one resource, and what is needed to do it.
type Step struct {
	Type        string            `json:"type"` // the image, as the manifest names it
	Change      Change            `json:"change"`
	Expected    Change            `json:"expected,omitempty"`        // deferred: create, update or replace, where that is known
	MovedFrom   string            `json:"moved_from,omitempty"`      // its former address, as in the state file
	MovedWhy    string            `json:"moved_why,omitempty"`       // "identity", "same config" (a guess), "" (the manifest)
	MayChange   bool              `json:"may_change,omitempty"`      // a dependency will change: the answer is an expectation
	Early       bool              `json:"early,omitempty"`           // create, update: its image was queried before what it waits for was done
	Again       bool              `json:"queried_again,omitempty"`   // no change of what it waits for: queried after that
	Adopted     bool              `json:"adopted,omitempty"`         // it exists, but the state file has no complete entry for it
	Edited      []jsondoc.Edit    `json:"config_changed,omitempty"`  // valid: changes of its config without effect
	Made        bool              `json:"made,omitempty"`            // adopted: an apply that was cut short created it
	Publishes   bool              `json:"publishes,omitempty"`       // it comes from a publish block
	New         bool              `json:"new,omitempty"`             // adopt = false: it must not exist before it is created
	Drifted     bool              `json:"drifted,omitempty"`         // it was recorded as VALID, and is not, though no input has changed
	Inputs      []inputs.Change   `json:"inputs_changed,omitempty"`  // since it was last VALID; of one that is to be created or updated
	NotMade     bool              `json:"not_created,omitempty"`     // deployster did not create what is destroyed
	Unrefreshed bool              `json:"trusted,omitempty"`         // its recorded state was used, and its image was not asked
	Reason      string            `json:"reason,omitempty"`          // why it is deferred, early, may change, is destroyed, forgotten or left
	Notes       []string          `json:"notes,omitempty"`           // what to know before approving, in sentences
	Another     bool              `json:"another,omitempty"`         // the entry here is of another thing, which stays
	Deposed     string            `json:"deposed,omitempty"`         // the address that it had before another took it
	Replaces    string            `json:"replaces,omitempty"`        // create: the entry whose thing is removed later
	Old         *Step             `json:"old,omitempty"`             // replace: how the existing thing is destroyed
	Was         *Was              `json:"was,omitempty"`             // record: the recorded state; deferred, publish: the recorded config
	Config      json.RawMessage   `json:"config"`                    // an unknown value is {"$unknown": "its cause"}
	Unknown     map[string]string `json:"unknown,omitempty"`         // JSON pointer into Config -> what makes it unknown
	Sensitive   []string          `json:"sensitive,omitempty"`       // JSON pointers into Config
	Staying     []string          `json:"may_change_at,omitempty"`   // JSON pointers into Config: expected to stay
	Ignored     []string          `json:"ignored,omitempty"`         // JSON pointers: ignore_changes keeps these values
	Hidden      []string          `json:"sensitive_state,omitempty"` // JSON pointers into State, Stale, Forecast
	State       json.RawMessage   `json:"state,omitempty"`           // valid: the present state
	Stale       json.RawMessage   `json:"stale_state,omitempty"`
	Forecast    json.RawMessage   `json:"forecast,omitempty"`
	Memory      json.RawMessage   `json:"memory,omitempty"`        // valid: the memory in the answer of its image; never shown
	UnknownNew  []string          `json:"unknown_state,omitempty"` // JSON pointers into the state: known only after the actions
	Actions     []protocol.Action `json:"actions,omitempty"`
	Shutdown    *protocol.Action  `json:"shutdown_first,omitempty"`
	Reasons     []protocol.Reason `json:"reasons,omitempty"`
	ReadOnly    bool              `json:"read_only,omitempty"`
	Aliases     map[string]string `json:"aliases,omitempty"`    // alias -> address
	Subscribes  []string          `json:"subscribes,omitempty"` // addresses of the resources whose actions it is told of
	Init        protocol.Type     `json:"init"`
	Pull        runner.PullPolicy `json:"pull,omitempty"`
	Verify      *runner.Verify    `json:"verify,omitempty"` // the signature that its images must carry
	Settings    runner.Settings   `json:"settings"`
	RunsWith    []string          `json:"runs_with,omitempty"`     // what Settings allow beyond the defaults, for people to read
	SecretEnv   []string          `json:"sensitive_env,omitempty"` // names in Settings.Env
	Mounts      []runner.Mount    `json:"mounts,omitempty"`
	Today       []runner.Mount    `json:"mounts_today,omitempty"` // destroy: the writable Mounts whose plugs lead elsewhere today
	Timeouts    Timeouts          `json:"timeouts,omitzero"`
	Protect     bool              `json:"prevent_destroy,omitempty"`
	OnRemove    string            `json:"on_remove,omitempty"`
	Source      string            `json:"source,omitempty"` // file:line of its block
}

// Was is the recorded or last found state of a resource, or its recorded config.
type Was struct {
	State     json.RawMessage `json:"state"`
	Sensitive []string        `json:"sensitive,omitempty"` // JSON pointers into State
}

// Timeouts are the timeouts in the resource's block; 0 = not set.
type Timeouts struct {
	State  state.Duration `json:"state,omitempty"`
	Action state.Duration `json:"action,omitempty"`
}

// Output is a value of the manifest as the plan expects it.
type Output struct {
	Value     json.RawMessage   `json:"value"`
	Unknown   map[string]string `json:"unknown,omitempty"`
	Sensitive bool              `json:"sensitive,omitempty"`
	Changed   bool              `json:"changed,omitempty"` // differs from what the state file holds
	Removed   bool              `json:"removed,omitempty"` // the state file holds it, and no manifest declares it
	// LeftOut says that the output keeps its recorded value, because it uses something
	// that the plan leaves out. Where no value is recorded it is null.
	LeftOut bool `json:"left_out,omitempty"`
}

// Partial reports whether resources may be left out.
func (p *Plan) Partial() bool { return p.Selection.Partial() || len(p.Unreached) > 0 }

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
	return false
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
	return s != nil && s.Change == Replace
}

// DependantsFirst lists the addresses so that what depends on a resource comes
// before it. That is not Order reversed: a removal waits for the removal of its
// dependants, so its edges point the other way already.
func (p *Plan) DependantsFirst() []string {
	return p.order().DependantsFirst().Sorted()
}

// Target returns what a client needs to run the step's image for an address.
func (s *Step) Target(addr string) typeclient.Target {
	name, _ := moves.RecordedAt(addr)
	return typeclient.Target{
		Address: addr, Name: name, Reference: s.Type, Digest: s.Init.Digest, Settings: s.Settings, Mounts: s.Mounts, Pull: s.Pull,
		Verify: s.Verify, StateTimeout: time.Duration(s.Timeouts.State), ActionTimeout: time.Duration(s.Timeouts.Action),
		Sensitive: s.Sensitive,
	}
}

// Answered returns the status that the image answered when the plan was made; "" =
// it was not asked, or the change does not tell it.
func (s *Step) Answered() protocol.Status {
	switch s.Change {
	case Valid:
		return protocol.Valid
	case Create, Publish:
		return protocol.Missing
	case Update, Destroy:
		return protocol.Stale
	}
	return ""
}

// Intent returns what the image is asked for: that the thing is absent, or present.
func (s *Step) Intent() protocol.Intent {
	if s.Change == Destroy {
		return protocol.Absent
	}
	return protocol.Present
}

// Gone reports whether an undeclared thing is forgotten because its image answered that
// it does not exist. For other things that are forgotten no image is asked for the state.
func (s *Step) Gone() bool { return s.Change == Forget && s.Init.Absent }

// Flexible reports whether apply may find other actions than the plan shows,
// because the plan itself said that it could not know, or will query it again.
func (s *Step) Flexible() bool {
	return s.Change == Deferred || s.Change == Replace || s.MayChange || s.Again
}

// Settled reports whether a resource matches its config, whatever the plan does to others.
func (s *Step) Settled() bool { return s.Change == Valid && !s.MayChange && !s.Again }
