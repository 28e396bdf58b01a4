package plan

import (
	"encoding/json"
	"maps"
	"slices"
	"time"

	"deployster/config"
	"deployster/internal/base/graph"
	"deployster/internal/base/jsondoc"
	"deployster/internal/places"
	"deployster/internal/runner"
	"deployster/internal/runner/typeclient"
	"deployster/plan/artifacts"
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
	ID         string            `json:"id"` // of what stands in plan.json
	Created    time.Time         `json:"created"`
	Lineage    string            `json:"lineage,omitempty"` // of the state it was made from; empty when there was none
	Serial     uint64            `json:"serial"`
	Workspace  string            `json:"workspace"`
	Images     map[string]string `json:"images"`           // reference -> digest
	Pulled     []string          `json:"pulled,omitempty"` // of these references: they can be had again from their registries
	Layers     [][]string        `json:"layers"`
	Edges      []Edge            `json:"edges"`
	Resources  map[string]*Step  `json:"resources"`
	Outputs    map[string]Output `json:"outputs"`
	Summary    Summary           `json:"summary"`

	// Barriers put what is destroyed of a kind before what begins of it.
	Barriers []order.Barrier `json:"barriers,omitempty"`

	// Others are the types of resources that the plan leaves out, and that are asked
	// after what it destroys.
	Others map[string]protocol.Type `json:"others,omitempty"`

	// Selection is what the plan was limited to, LeftOut the addresses that it
	// leaves out for that, sorted: of the manifest and of the state file.
	Selection Selection `json:"selection,omitzero"`
	LeftOut   []string  `json:"left_out,omitempty"`

	// Errored says that the plan is not whole, because of errors: it is there to
	// be looked at only.
	Errored bool `json:"errored,omitempty"`

	Moves []moves.Move `json:"moves,omitempty"` // what the state file is to change before anything else is done

	// Instances pins the for_each and count that were known only with the states
	// of resources, by the address of the block.
	Instances map[string]config.Instances `json:"instances,omitempty"`

	Artifacts map[string]artifacts.Pin `json:"artifacts,omitempty"` // their versions, by name
	Hosts     map[string]places.Pin    `json:"hosts,omitempty"`     // the machines that resources are on, by the names of hosts
	Checks    []config.CheckResult     `json:"checks,omitempty"`    // what the check blocks say of what is known already

	// Variables pins the values that the manifests were evaluated with.
	Variables          map[string]json.RawMessage `json:"variables,omitempty"`
	SensitiveVariables []string                   `json:"sensitive_variables,omitempty"` // names
	VariableOrigins    map[string]string          `json:"variable_origins,omitempty"`    // where those come from that are set, for people

	// Entries pins what the state file said of each resource here and of what
	// it depends on: address -> fingerprint, "" for none.
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
	MovedFrom   string            `json:"moved_from,omitempty"`      // its address in the state file
	MovedWhy    string            `json:"moved_why,omitempty"`       // "identity", "same config" (a guess), or "" for what the manifest says
	MayChange   bool              `json:"may_change,omitempty"`      // a dependency will change: the answer is an expectation
	Adopted     bool              `json:"adopted,omitempty"`         // it exists, but the state file does not know it
	Edited      []jsondoc.Edit    `json:"config_changed,omitempty"`  // valid: in what its config differs from the recorded one, to no effect
	Publishes   bool              `json:"publishes,omitempty"`       // it is of a publish block
	New         bool              `json:"new,omitempty"`             // adopt = false: it must not exist before it is made
	Drifted     bool              `json:"drifted,omitempty"`         // it was recorded as VALID with this very config
	Unrefreshed bool              `json:"trusted,omitempty"`         // its recorded state was used, and its image not asked
	Reason      string            `json:"reason,omitempty"`          // why it is deferred, may change, is destroyed, forgotten or left
	Notes       []string          `json:"notes,omitempty"`           // what else a person should know before saying yes, in sentences
	Another     bool              `json:"another,omitempty"`         // what is recorded at its address is another thing, and stays
	Deposed     string            `json:"deposed,omitempty"`         // the address that it had until another thing took it
	Replaces    string            `json:"replaces,omitempty"`        // create: the key of the thing that goes when this one is made
	Old         *Step             `json:"old,omitempty"`             // replace: how the thing that is there is destroyed
	Was         *Was              `json:"was,omitempty"`             // record: the recorded state; deferred, publish: the recorded config
	Config      json.RawMessage   `json:"config"`                    // an unknown value stands as {"$unknown": "what makes it so"}
	Unknown     map[string]string `json:"unknown,omitempty"`         // JSON pointer into Config -> what makes it unknown
	Sensitive   []string          `json:"sensitive,omitempty"`       // JSON pointers into Config
	Staying     []string          `json:"may_change_at,omitempty"`   // JSON pointers into Config: made of what is expected to stay
	Ignored     []string          `json:"ignored,omitempty"`         // JSON pointers: what ignore_changes keeps as it was recorded
	Hidden      []string          `json:"sensitive_state,omitempty"` // JSON pointers into State or Stale, whichever there is
	State       json.RawMessage   `json:"state,omitempty"`           // valid: what is there
	Stale       json.RawMessage   `json:"stale_state,omitempty"`
	Forecast    json.RawMessage   `json:"forecast,omitempty"`
	Memory      json.RawMessage   `json:"memory,omitempty"`        // valid: what its image said that it must not forget; never shown
	UnknownNew  []string          `json:"unknown_state,omitempty"` // JSON pointers into the state: known only after the actions
	Actions     []protocol.Action `json:"actions,omitempty"`
	Shutdown    *protocol.Action  `json:"shutdown_first,omitempty"`
	Reasons     []protocol.Reason `json:"reasons,omitempty"`
	ReadOnly    bool              `json:"read_only,omitempty"`
	Aliases     map[string]string `json:"aliases,omitempty"`    // alias -> address
	Subscribes  []string          `json:"subscribes,omitempty"` // addresses of those whose actions it is told of
	Init        protocol.Type     `json:"init"`
	Pull        runner.PullPolicy `json:"pull,omitempty"`
	Verify      *runner.Verify    `json:"verify,omitempty"` // whose signature its images must carry
	Settings    runner.Settings   `json:"settings"`
	RunsWith    []string          `json:"runs_with,omitempty"`     // what Settings give beyond the defaults, for people to read
	SecretEnv   []string          `json:"sensitive_env,omitempty"` // names in Settings.Env
	Mounts      []runner.Mount    `json:"mounts,omitempty"`
	Today       []runner.Mount    `json:"mounts_today,omitempty"` // destroy: where those of Mounts would lead that are written otherwise today
	Timeouts    Timeouts          `json:"timeouts,omitzero"`
	Protect     bool              `json:"prevent_destroy,omitempty"`
	OnRemove    string            `json:"on_remove,omitempty"`
	Source      string            `json:"source,omitempty"` // file:line of its block
}

// Was is how a resource was recorded, or found last: its state or its config.
type Was struct {
	State     json.RawMessage `json:"state"`
	Sensitive []string        `json:"sensitive,omitempty"` // JSON pointers into State
}

// Timeouts are the resource's own; 0 = not set.
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
	// LeftOut says that it keeps what the state file holds, because it is made of
	// something that the plan leaves out. Without anything there it has no value.
	LeftOut bool `json:"left_out,omitempty"`
}

// HasChanges reports whether there is anything to do to the world, to adopt, or to
// change of addresses and outputs. Recording anew what is VALID does not count.
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

// Before gives, for every resource, those that must be done before it.
func (p *Plan) Before() graph.Graph { return p.order().Before() }

// Nodes is what an apply does, and what must be done before it.
func (p *Plan) Nodes() graph.Graph { return p.order().Nodes() }

func (p *Plan) order() order.Plan {
	return order.Plan{Resources: slices.Sorted(maps.Keys(p.Resources)), Replaced: p.replaced, Edges: p.Edges, Barriers: p.Barriers}
}

// Needs gives, for every resource, what it depends on: Before without what only
// has to make room for it. Each list is sorted.
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

// replaced reports whether a resource is destroyed and made again.
func (p *Plan) replaced(addr string) bool {
	s := p.Resources[addr]
	return s != nil && s.Change == Replace
}

// DependantsFirst lists the addresses so that what depends on a resource comes
// before it. That is not Order turned around: a removal waits for the removal
// of its dependants, so its edges lead the other way already.
func (p *Plan) DependantsFirst() []string {
	frontier, list := graph.NewFrontier(p.order().DependantsFirst()), []string(nil)
	for layer := frontier.TakeAll(); len(layer) > 0; layer = frontier.TakeAll() {
		for _, addr := range layer {
			frontier.Done(addr)
		}
		list = append(list, layer...)
	}
	return list
}

// Target is what running the step's image takes.
func (s *Step) Target(addr string) typeclient.Target {
	name, _ := moves.RecordedAt(addr)
	return typeclient.Target{
		Address: addr, Name: name, Reference: s.Type, Digest: s.Init.Digest, Settings: s.Settings, Mounts: s.Mounts, Pull: s.Pull,
		Verify: s.Verify, StateTimeout: time.Duration(s.Timeouts.State), ActionTimeout: time.Duration(s.Timeouts.Action),
	}
}

// Answered is what the image said when the plan was made, "" when it was not
// asked.
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

// Intent is what the step wants of its resource.
func (s *Step) Intent() protocol.Intent {
	if s.Change == Destroy {
		return protocol.Absent
	}
	return protocol.Present
}

// Gone reports whether a thing that nothing declares is forgotten because its image said
// that it is not there. The image of another one that is forgotten is not asked.
func (s *Step) Gone() bool { return s.Change == Forget && s.Init.Absent }

// Flexible reports whether apply may find other actions than the plan shows,
// because the plan itself said that it could not know.
func (s *Step) Flexible() bool {
	return s.Change == Deferred || s.Change == Replace || s.MayChange
}
