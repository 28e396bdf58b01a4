package protocol

import "encoding/json"

// The protocol versions that this tool speaks.
const (
	MinVersion = 1
	MaxVersion = 2
)

// Intent is what the user wants of a resource.
type Intent string

// The intents.
const (
	Present Intent = "present"
	Absent  Intent = "absent"
)

// Status is an image's verdict on its resource.
type Status string

// The statuses. MISSING is said in protocol 1, and by both versions for
// IntentAbsent; a STALE answer without a stale state means the same.
const (
	Valid   Status = "VALID"
	Stale   Status = "STALE"
	Missing Status = "MISSING"
)

// Versions is the range of protocol versions that the tool speaks.
type Versions struct {
	Min int `json:"min"`
	Max int `json:"max"`
}

// InitInput is the stdin of init, and the beginning of every later stdin.
type InitInput struct {
	Name      string   `json:"name"`      // the resource's address: web, module.a.web["x"]
	Type      string   `json:"type"`      // the image, as the manifest names it
	Version   string   `json:"version"`   // of deployster: 1.2.3
	Verbose   bool     `json:"verbose"`   // the user wants to see more on stderr
	Workspace string   `json:"workspace"` // the directory of the manifests, an absolute path of the host
	Protocol  Versions `json:"protocol"`  // that deployster speaks
}

// Host is the machine that a resource is on, where it is not that of the command.
type Host struct {
	Name  string    `json:"name"` // as plans print it: web, web["a"]
	Facts HostFacts `json:"facts"`
}

// HostFacts are what a machine says of itself.
type HostFacts struct {
	Hostname  string `json:"hostname"`
	OS        string `json:"os"` // as /etc/os-release has it: debian
	OSVersion string `json:"os_version"`
	Arch      string `json:"arch"` // as images have it: amd64, arm64
	Kernel    string `json:"kernel"`
	CPUs      int    `json:"cpus"`
	Memory    int64  `json:"memory"`  // bytes
	Machine   string `json:"machine"` // random, made once for a data directory
}

// StateInput is the stdin of the state action. Which of the optional keys are
// sent depends on the protocol version and on what init declared.
type StateInput struct {
	InitInput
	Config       json.RawMessage       `json:"config"`                 // an object, as ConfigSchema has it
	Intent       Intent                `json:"intent,omitempty"`       // protocol 2
	LastState    json.RawMessage       `json:"last_state,omitempty"`   // protocol 2: an object, what was last recorded as VALID
	LastConfig   json.RawMessage       `json:"-"`                      // with which that was; images are not told
	After        []string              `json:"after,omitempty"`        // protocol 2: the actions that this apply has just run for it
	Memory       json.RawMessage       `json:"memory,omitempty"`       // what the type said last that it must not forget; asked for
	Unsettled    []string              `json:"unsettled,omitempty"`    // actions of which nobody knows what they made; asked for
	Unknown      []string              `json:"unknown,omitempty"`      // JSON pointers into the config: null for now, not known yet; asked for
	Refresh      bool                  `json:"refresh,omitempty"`      // what it subscribes was acted on, or will be; asked for
	Changed      []string              `json:"changed,omitempty"`      // JSON pointers into the config, from when it was last VALID; asked for
	Host         *Host                 `json:"host,omitempty"`         // protocol 2: where it is; nil = on the machine of the command
	Dependencies map[string]Dependency `json:"dependencies,omitempty"` // protocol 1, or asked for
}

// Dependency is another resource, as its dependant sees it. Protocol 1 sends
// Type, Config and Dependencies, in action input also Properties; protocol 2
// sends Name, Type, Config, State, Status and Actions.
type Dependency struct {
	Name         string                `json:"name,omitempty"`         // its address
	Type         string                `json:"type"`                   // its image, as the manifest names it
	Config       json.RawMessage       `json:"config"`                 // an object
	State        json.RawMessage       `json:"state,omitempty"`        // an object; none = it does not exist yet
	Status       Status                `json:"status,omitempty"`       // what is known of it now
	Actions      []string              `json:"actions,omitempty"`      // the names of those that are planned for it
	Properties   json.RawMessage       `json:"properties,omitempty"`   // its state, as protocol 1 calls it
	Dependencies map[string]Dependency `json:"dependencies,omitempty"` // by alias
}

// ActionInput is the stdin of an action.
type ActionInput struct {
	StateInput
	Action         string          `json:"action"`          // its name
	StaleState     json.RawMessage `json:"staleState"`      // an object: what was there when it was decided; {} = nothing
	IdempotencyKey string          `json:"idempotency_key"` // the same when this action of this plan is tried again
}

// Command says how to run an image, by docker's rules: nothing given is the
// image's Entrypoint and Cmd; Args replace Cmd; an Entrypoint drops Cmd.
type Command struct {
	Image      string   `json:"image,omitempty"` // default: the type's own
	Entrypoint string   `json:"entrypoint,omitempty"`
	Args       []string `json:"args,omitempty"`
}

// Action is one step that brings a resource nearer to what is wanted.
type Action struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"` // default: the name
	Destructive bool   `json:"destructive,omitempty"` // it destroys what is there, as when something is made anew
	Command
}

// Destructive returns the name of the first action that destroys what is there, ""
// where none does.
func Destructive(first *Action, actions []Action) string {
	if first != nil && first.Destructive {
		return first.Name
	}
	for _, a := range actions {
		if a.Destructive {
			return a.Name
		}
	}
	return ""
}

// PlugRequest is a file or directory of the host that a type asks for.
type PlugRequest struct {
	ContainerPath string `json:"container_path"` // absolute: where it is mounted
	Optional      bool   `json:"optional"`       // the type does without it too
	Writable      bool   `json:"writable"`       // else it is mounted read-only
	// AnyMode marks protocol 1's required_plugs, which name no mode and take
	// what the plug allows.
	AnyMode bool `json:"any_mode,omitempty"`
}

// Type is what an image says of itself in init, both versions made one.
type Type struct {
	Reference string `json:"reference"` // as the manifest names it; sent as "type"
	Digest    string `json:"digest"`    // of the image that answered

	Protocol          int                    `json:"protocol"`
	Label             string                 `json:"label,omitempty"`
	ConfigSchema      json.RawMessage        `json:"config_schema,omitempty"`
	StateSchema       json.RawMessage        `json:"state_schema,omitempty"`
	Identity          []string               `json:"identity,omitempty"` // JSON pointers into the config, to the values that name the thing
	Kind              string                 `json:"kind,omitempty"`     // what sort of thing it is, as the image says
	AutoEdges         []AutoEdge             `json:"auto_edges,omitempty"`
	Plugs             map[string]PlugRequest `json:"plugs,omitempty"`
	RequiredResources map[string]string      `json:"required_resources,omitempty"` // protocol 1: alias -> type
	OptionalResources map[string]string      `json:"optional_resources,omitempty"` // the same, for those that may be missing
	OnlyThese         bool                   `json:"only_these,omitempty"`         // protocol 1: no other aliases than these are allowed
	StateAction       Command                `json:"state_action"`
	Absent            bool                   `json:"absent,omitempty"`          // can be asked for IntentAbsent
	Dependencies      bool                   `json:"dependencies,omitempty"`    // wants to see its dependencies
	Refresh           bool                   `json:"refresh,omitempty"`         // wants to be told of what it subscribes
	WatchAction       *Command               `json:"watch_action,omitempty"`    // how it is asked to tell of changes; nil = it is polled
	DiscoverAction    *Command               `json:"discover_action,omitempty"` // how it is asked what there is; nil = it cannot tell
	Memory            bool                   `json:"memory,omitempty"`          // wants to be told what it has said that it must not forget
	Unknowns          bool                   `json:"unknowns,omitempty"`        // can be asked with values that are not known yet
	Worker            *Command               `json:"worker,omitempty"`
	Reuse             bool                   `json:"reuse,omitempty"`
	NoCache           bool                   `json:"no_cache,omitempty"` // init must be asked again every time
}

// AutoEdge says after which resources those of a type come, where the manifest wants
// that: after the one of a kind whose identity is the value in their config.
type AutoEdge struct {
	Kind    string `json:"kind"`              // of what they come after
	By      string `json:"by"`                // JSON pointer into the config, to a text or a list of texts
	Parents bool   `json:"parents,omitempty"` // the text is a path: else after the nearest above it
}

// Reason is why an image finds its resource stale.
type Reason struct {
	Path    string          `json:"path,omitempty"`    // JSON pointer into the config; "" = none of its values
	Have    json.RawMessage `json:"have,omitempty"`    // what is there; none = nothing, or it is not told
	Want    json.RawMessage `json:"want,omitempty"`    // what the config wants in its place
	Message string          `json:"message,omitempty"` // a sentence for the user
}

// Answer is a state answer, both versions made one. Missing with Actions is
// what protocol 1 says for a thing to create, and what STALE without a stale
// state means in protocol 2; Missing without Actions answers IntentAbsent.
type Answer struct {
	Status        Status          `json:"status"`
	State         json.RawMessage `json:"state,omitempty"`       // Valid: what is there
	StaleState    json.RawMessage `json:"stale_state,omitempty"` // Stale: what is there instead
	Actions       []Action        `json:"actions,omitempty"`
	ShutdownFirst *Action         `json:"shutdown_first,omitempty"`
	Reasons       []Reason        `json:"reasons,omitempty"`
	Forecast      json.RawMessage `json:"forecast,omitempty"` // the part of the state after the actions that is known already
	Unknown       []string        `json:"unknown,omitempty"`  // JSON pointers into the state: what is known only after the actions
	Memory        json.RawMessage `json:"memory,omitempty"`   // what is not to be forgotten; none = what it was
}

// ErrorClass says what kind of failure an image reports in place of a status.
type ErrorClass string

// The classes.
const (
	ConfigError    ErrorClass = "config"    // the user must change the config
	TransientError ErrorClass = "transient" // deployster tries again
	DeniedError    ErrorClass = "denied"    // a permission or a credential is missing
	BugError       ErrorClass = "bug"       // the type is at fault
	UnsettledError ErrorClass = "unsettled" // what an action made is not known, and a person must say so
)

// TypeError is a failure that an image reports in place of a status.
type TypeError struct {
	Class   ErrorClass `json:"class"`
	Message string     `json:"message"`
	Path    string     `json:"path,omitempty"` // JSON pointer into the config
}

func (e *TypeError) Error() string { return string(e.Class) + " error: " + e.Message }
