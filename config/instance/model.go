package instance

import (
	"encoding/json"
	"regexp"
	"strings"
	"time"

	"deployster/config/addresses"
	"deployster/config/ignore"
	"deployster/internal/base/diag"
	"deployster/internal/runtime/runner"
)

// Pending is a block whose instances are known only with the states of other resources.
type Pending struct {
	Address string   // of the block: "node", "module.web", `module.a["x"].node`
	Needs   []string // the addresses of the resources whose states it needs, sorted
	Waits   bool     // it depends on another pending block, which must be expanded first
	// WaitsFor holds the addresses of those pending blocks, sorted.
	WaitsFor []string
	// Artifacts holds the names of the artifacts that its keys, and the expressions
	// of its instances, depend on, sorted.
	Artifacts []string
	// Facts holds the names of the hosts whose unknown facts these depend on, sorted.
	Facts []string
	Range diag.Range

	X *Expansion
}

// Attribute returns the name of the attribute that determines the instances.
func (p Pending) Attribute() string {
	switch p.X.Repetition {
	case Counted:
		return "count"
	case Optional:
		return "enabled"
	}
	return "for_each"
}

// Reference returns a resource's address in the form of messages and expressions:
// resource.web, and module.a.web unchanged.
func Reference(address string) string {
	if strings.HasPrefix(address, "module.") || strings.HasPrefix(address, addresses.PublishPrefix) ||
		strings.HasPrefix(address, addresses.ExclusivePrefix) {
		return address
	}
	return "resource." + address
}

// Origin is the reason why one resource depends on another.
type Origin string

// The origins, strongest first: an alias in `dependencies`, a reference in an expression, `subscribe`,
// `depends_on`, an automatic dependency of the type, and one on what brings the object. Two resources have one edge, with the
// strongest origin.
const (
	FromDependency Origin = "dependency"
	FromReference  Origin = "reference"
	FromSubscribe  Origin = "subscribe"
	FromDependsOn  Origin = "depends_on"
	FromType       Origin = "auto"
	FromProvides   Origin = "provides"
)

// OrderOnly reports whether the dependant reads nothing of the other resource.
func (o Origin) OrderOnly() bool { return o == FromDependsOn || o == FromType || o == FromProvides }

// Edge is a dependency of a resource on another.
type Edge struct {
	To     string // the address of the dependency
	Origin Origin
}

// Trigger is a resource whose changes cause the replacement of another resource.
type Trigger struct {
	To string // its address
	// Path leads to the one value that counts, such as "state", "ip"; none = every change counts.
	Path []string
}

// Timeouts holds a resource's own timeouts; 0 = not set.
type Timeouts struct {
	State  time.Duration
	Action time.Duration
}

// Retry is how often the actions of a resource are attempted. Attempts is at least 1.
type Retry struct {
	Attempts int
	Delay    time.Duration // the delay before the second attempt; it doubles with each further one
}

// Watch holds the settings of `deployster watch` for a resource.
type Watch struct {
	Poll     *time.Duration // the longest time between two polls; nil = not set, 0 = no polling
	TellOnly bool           // drift is reported, and not repaired
	Repair   bool           // drift is repaired, though the type declares that it is not by default
	Actions  []string       // the actions that may run unattended, sorted; nil = all
	At       diag.Range     // of Actions
}

// Semaphore limits how many resources act concurrently.
type Semaphore struct {
	Name  string
	Slots int
}

// OnRemove is what happens to a resource whose block is removed.
type OnRemove string

// The values of lifecycle.on_remove; OnRemoveDestroy is the default.
const (
	OnRemoveDestroy OnRemove = "destroy"
	OnRemoveForget  OnRemove = "forget"
)

// Resource is a declared resource without its config. Manifest.Config evaluates the
// config, because it depends on the states of other resources.
type Resource struct {
	Address        string // `module.a["x"].web[0]`: the name that its image gets
	TypeRef        string // the image reference as written, after resolving type.X
	Pull           runner.PullPolicy
	Verify         *runner.Verify // the signature that its images must have; nil = none
	Settings       runner.Settings
	Timeouts       Timeouts
	Retry          Retry
	Watch          Watch
	Semaphores     []string // the semaphores that it holds while it acts, sorted
	ReadOnly       bool
	PreventDestroy bool
	New            bool // adopt = false: the object must not exist before it is created
	CreateFirst    bool // create_before_destroy: a replacement creates the new object before it destroys the old one
	OnRemove       OnRemove
	Ignored        []string          // JSON pointers: ignore_changes; "" = all of the config
	Triggers       []Trigger         // replace_triggered_by
	Aliases        map[string]string // alias -> address
	Edges          []Edge            // sorted by To
	Subscribes     []string          // addresses of the resources in subscribe, sorted
	Range          diag.Range        // the block's header
	Publish        *Publish          // nil unless it is a publish
	Artifacts      []string          // names of the artifacts that its expressions depend on, sorted
	// Waits: it depends on a block in Pending, so its Edges are incomplete.
	Waits bool
	// WaitsFor holds the addresses of those blocks, sorted.
	WaitsFor []string
}

// Plug is a file or directory of this host that a type may request.
type Plug struct {
	Name string
	Path string // absolute
	Base string // the directory in which a relative path begins; "" = the manifest has an absolute path
	// Home is the path as in the manifest if it is below the home directory: "~" or "~/x".
	// Path is then below the home directory on this machine; on a host it is below that of the
	// host's user. "" = the path is not below ~.
	Home     string
	ReadOnly bool
	// Artifact is the artifact whose files it shows instead. Path is then a path
	// below their root; "" = it shows files of this host.
	Artifact string
	// Content is the content of a file in memory that it shows instead; "" = it has none.
	Content string
	// The allow-lists, anchored at the start. A match in either permits use; both
	// empty = every resource may use it.
	ResourceNames []*regexp.Regexp
	ResourceTypes []*regexp.Regexp
	Range         diag.Range
}

// States holds what is known of the resources' states, by address. The state of a
// resource without an entry is wholly unknown.
type States map[string]ResourceState

// ResourceState is what is known of one resource's state.
type ResourceState struct {
	// Known is a JSON object; nil = nothing is known yet.
	Known json.RawMessage
	// Complete reports that Known is the whole state: an attribute missing from it
	// is an error. Otherwise it is unknown.
	Complete bool
	// Expected reports that Known, though not Complete, is what the state is expected to
	// be at the end: a reference to the whole state returns it.
	Expected bool
	// Unknown and MayChange list JSON pointers into Known: the values that are known
	// only after the actions, and those that are expected to stay.
	Unknown, MayChange []string
	// Sensitive lists the JSON pointers of the values in Known that must never be
	// printed; "" = all of it. Values computed from them are sensitive too.
	Sensitive []string
	// Schema is the JSON Schema that the type's states match, if it has one: it gives
	// unknown values their types.
	Schema json.RawMessage
	// Last is the recorded config for ignore_changes; nil = nothing is recorded.
	Last *ignore.LastConfig
}

// Expects reports whether one of the states has Expected set.
func (s States) Expects() bool {
	for _, known := range s {
		if known.Expected {
			return true
		}
	}
	return false
}

// WithoutExpected returns the states with Expected cleared: references to a whole
// incomplete state are then unknown.
func (s States) WithoutExpected() States {
	out := make(States, len(s))
	for addr, known := range s {
		known.Expected = false
		out[addr] = known
	}
	return out
}

// Resolved is an evaluated value in plain JSON.
type Resolved struct {
	// Value is canonical JSON: keys sorted, compact, no HTML escapes, numbers with
	// all their digits. An unknown value in it is {"$unknown":
	// "resource.conf.state.ip"}. Sensitive values are in clear text: see Sensitive.
	Value json.RawMessage
	// Unknown maps the JSON pointer of each unknown value to the references
	// that make it unknown: the first three, and how many more there are.
	Unknown map[string]string
	// Sensitive lists the JSON pointers of the values that must never be
	// printed, sorted; "" = all of it.
	Sensitive []string
	// MayChange lists the JSON pointers of the values computed from values that are
	// only expected to stay, sorted.
	MayChange []string
	// Ignored lists the JSON pointers of the values that the manifest changes, and
	// for which ignore_changes keeps the recorded value, sorted; "" = all of it.
	Ignored []string
}

// Output is an evaluated output.
type Output struct {
	Name string
	// Sensitive: it is declared so, or is computed from a sensitive value of a state.
	Sensitive bool
	Export    bool // other projects may read it
	// Open holds the references whose values its undecided preconditions need.
	Open []string
	Resolved
}
