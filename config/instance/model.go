package instance

import (
	"encoding/json"
	"regexp"
	"strings"
	"time"

	"deployster/config/decl"
	"deployster/internal/base/diag"
	"deployster/internal/runner"
)

// Pending is a block whose instances are known only with the states of others.
type Pending struct {
	Address string   // of the block: "node", "module.web", `module.a["x"].node`
	Needs   []string // the addresses of the resources whose states are needed, sorted
	Waits   bool     // one of these depends on another pending block, which is first
	// WaitsFor are the addresses of those pending blocks, sorted.
	WaitsFor []string
	// Artifacts are the names of those that the keys are made of, and the expressions
	// of its instances, sorted.
	Artifacts []string
	// Facts are the names of the hosts whose facts these are made of and are not known
	// yet, sorted.
	Facts []string
	Range diag.Range

	X *Expansion
}

// Reference writes a resource's address as messages and expressions do:
// resource.web, and module.a.web as it is.
func Reference(address string) string {
	if strings.HasPrefix(address, "module.") || strings.HasPrefix(address, decl.PublishPrefix) {
		return address
	}
	return "resource." + address
}

// Origin says why one resource depends on another.
type Origin string

// The origins, strongest first: an alias in `dependencies`, a reference in an
// expression, `subscribe`, `depends_on`, and what the type says. Two resources have one edge, with the
// strongest origin.
const (
	FromDependency Origin = "dependency"
	FromReference  Origin = "reference"
	FromSubscribe  Origin = "subscribe"
	FromDependsOn  Origin = "depends_on"
	FromType       Origin = "auto"
)

// OrderOnly reports whether nothing of the other resource is read.
func (o Origin) OrderOnly() bool { return o == FromDependsOn || o == FromType }

// Edge says that a resource depends on another.
type Edge struct {
	To     string // the address of the resource that must be there first
	Origin Origin
}

// Trigger is a resource whose changes make that another one is replaced.
type Trigger struct {
	To string // its address
	// Path leads to the one value that counts, as "state", "ip"; none = every change does.
	Path []string
}

// Timeouts are a resource's own; 0 = not set.
type Timeouts struct {
	State  time.Duration
	Action time.Duration
}

// Retry says how often the actions of a resource are tried. Attempts is 1 or more.
type Retry struct {
	Attempts int
	Delay    time.Duration // before the second attempt; before each further one it is twice as long
}

// Watch says how `deployster watch` treats a resource.
type Watch struct {
	Poll     *time.Duration // the longest time between two looks; nil = nothing is said, 0 = none by time
	TellOnly bool           // what drifts is told, and not repaired
	Actions  []string       // those that may be run unattended, sorted; nil = all
}

// Semaphore bounds how many resources act at one time.
type Semaphore struct {
	Name  string
	Slots int
}

// OnRemove says what is to happen with a resource whose block is gone.
type OnRemove string

// The values of lifecycle.on_remove; OnRemoveDestroy is the default.
const (
	OnRemoveDestroy OnRemove = "destroy"
	OnRemoveForget  OnRemove = "forget"
)

// Resource is a declared resource, without its config: that is
// Manifest.Config's, since it depends on the states of others.
type Resource struct {
	Address        string // `module.a["x"].web[0]`: the name that its image sees
	TypeRef        string // the image reference as written, after resolving type.X
	Pull           runner.PullPolicy
	Verify         *runner.Verify // whose signature its images must carry; nil = nobody's
	Settings       runner.Settings
	Timeouts       Timeouts
	Retry          Retry
	Watch          Watch
	Semaphores     []string // that it holds while it acts, sorted
	ReadOnly       bool
	PreventDestroy bool
	New            bool // adopt = false: it must not exist before it is made
	CreateFirst    bool // create_before_destroy: when it is replaced, the new thing is made before the old one goes
	OnRemove       OnRemove
	Ignored        []string          // JSON pointers: ignore_changes; "" = all of the config
	Triggers       []Trigger         // replace_triggered_by
	Aliases        map[string]string // alias -> address
	Edges          []Edge            // sorted by To
	Subscribes     []string          // addresses of those whose actions it is told of, sorted
	Range          diag.Range        // the block's header
	Publish        *Publish          // nil for what is no publish
	Artifacts      []string          // names of those that its expressions are made of, sorted
	// Waits says that it depends on a block in Pending, so that its Edges are not
	// all there are.
	Waits bool
	// WaitsFor are the addresses of those blocks, sorted.
	WaitsFor []string
}

// Plug is a file or directory of this host that a type may ask for.
type Plug struct {
	Name string
	Path string // absolute
	Base string // the directory at which the path as it is written begins; "" = it is written as an absolute one
	// Home is the path where it is written as one below the home directory: "~" or "~/x". Path
	// is below that of this machine, and on a host it is below that of the user there; "" = it
	// is written otherwise.
	Home     string
	ReadOnly bool
	// Artifact is whose files it shows instead, and Path leads to some of them, from
	// their root; "" = it shows what is on this host.
	Artifact string
	// The allow-lists, anchored at the start. A match in either grants; both
	// empty = everyone.
	ResourceNames []*regexp.Regexp
	ResourceTypes []*regexp.Regexp
	Range         diag.Range
}

// States is what is known of the resources' states, by address. A resource that
// is not in it is wholly unknown.
type States map[string]ResourceState

// ResourceState is what is known of one resource's state.
type ResourceState struct {
	// Known is a JSON object; nil = nothing is known yet.
	Known json.RawMessage
	// Complete says that Known is the whole state: an attribute missing from it
	// is an error. Otherwise it is unknown.
	Complete bool
	// Expected says that Known, though not Complete, is what the state is expected
	// to be at the end: who refers to it as a whole gets it.
	Expected bool
	// Unknown and MayChange list JSON pointers into it: what is known only after
	// the actions, and what is expected to stay as it is.
	Unknown, MayChange []string
	// Sensitive lists the JSON pointers of the values in Known that must never
	// be printed; "" = all of it. What is made of them is sensitive too.
	Sensitive []string
	// Schema is the JSON Schema that the type's states match, if it has one: it
	// gives types to what is not known.
	Schema json.RawMessage
	// Last is what ignore_changes takes values from; nil = nothing is recorded.
	Last *decl.LastConfig
}

// Expects reports whether one of the states is one that is only expected.
func (s States) Expects() bool {
	for _, known := range s {
		if known.Expected {
			return true
		}
	}
	return false
}

// WithoutExpected is the states where of those that are only expected nothing is
// said of the whole.
func (s States) WithoutExpected() States {
	out := make(States, len(s))
	for addr, known := range s {
		known.Expected = false
		out[addr] = known
	}
	return out
}

// Resolved is an evaluated value, made of plain JSON.
type Resolved struct {
	// Value is canonical JSON: keys sorted, compact, no HTML escapes, numbers
	// with all their digits. An unknown value in it stands as
	// {"$unknown": "resource.conf.state.ip"}. Sensitive values are in it as
	// they are: see Sensitive.
	Value json.RawMessage
	// Unknown maps the JSON pointer of each unknown value to the references
	// that make it unknown: the first three, and how many more there are.
	Unknown map[string]string
	// Sensitive lists the JSON pointers of the values that must never be
	// printed, sorted; "" = all of it.
	Sensitive []string
	// MayChange lists the JSON pointers of the values that are made of what is
	// only expected to stay as it is, sorted.
	MayChange []string
	// Ignored lists the JSON pointers of what the manifest says otherwise, and
	// ignore_changes keeps as it was, sorted; "" = all of it.
	Ignored []string
}

// Output is an evaluated output.
type Output struct {
	Name string
	// Sensitive: it says so, or is made of something sensitive in a state.
	Sensitive bool
	// Open are the references that keep its preconditions from being decided.
	Open []string
	Resolved
}
