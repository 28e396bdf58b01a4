package protocol

import (
	"encoding/json"
	"fmt"
	"slices"
)

// The protocol versions that deployster speaks.
const (
	MinVersion = 1
	MaxVersion = 2
)

// Intent reports whether the user declares a resource or removes it.
type Intent string

// The intents.
const (
	Present Intent = "present"
	Absent  Intent = "absent"
)

// Status is an image's answer about its resource.
type Status string

// The statuses. Protocol 1 answers Missing for an object that does not exist, and both versions
// do so for the intent Absent; a Stale answer without a stale state means the same.
const (
	Valid   Status = "VALID"
	Stale   Status = "STALE"
	Missing Status = "MISSING"
)

// Versions is the range of protocol versions that deployster speaks.
type Versions struct {
	Min int `json:"min"`
	Max int `json:"max"`
}

// InitInput is the stdin of init, and the beginning of every later stdin.
type InitInput struct {
	Name      string   `json:"name"`               // the resource's address, such as web or module.a.web["x"]
	Type      string   `json:"type"`               // the image, as the manifest names it
	Version   string   `json:"version"`            // of deployster: 1.2.3
	Verbose   bool     `json:"verbose"`            // the user requested more output on stderr
	Workspace string   `json:"workspace"`          // the directory of the manifests, an absolute path of the host
	Protocol  Versions `json:"protocol"`           // that deployster speaks
	Features  []string `json:"features,omitempty"` // in init only: Features of this deployster
}

// Features are the names of what deployster has learned since its first release, such as
// keys of an answer. A type answers with such a key only if its name is among the features
// of init's input, so that it runs with older deploysters too.
var Features = []string{GuardFeature, "policy", NotifyFeature, SecretFeature, ActionsFeature, OperationsFeature}

// Abilities is a text for all versions and features that deployster knows: an answer to init may depend on it.
func Abilities() string { return fmt.Sprint(MinVersion, MaxVersion, Features) }

// Has reports whether deployster knows a feature.
func (in InitInput) Has(feature string) bool { return slices.Contains(in.Features, feature) }

// Host is the machine of a resource that is not on the machine of the command.
type Host struct {
	Name  string    `json:"name"` // as plans print it: web, web["a"]
	Facts HostFacts `json:"facts"`
}

// HostFacts describes a machine, as the machine itself reports.
type HostFacts struct {
	Hostname  string `json:"hostname"`
	OS        string `json:"os"` // the ID in /etc/os-release: debian
	OSVersion string `json:"os_version"`
	Arch      string `json:"arch"` // as in images: amd64, arm64
	Kernel    string `json:"kernel"`
	CPUs      int    `json:"cpus"`
	Memory    int64  `json:"memory"`  // bytes
	Machine   string `json:"machine"` // a random id of a data directory
}

// StateInput is the stdin of the state action. Which optional keys are sent depends
// on the protocol version and on the answer to init.
type StateInput struct {
	InitInput
	Config       json.RawMessage       `json:"config"`                 // an object that matches ConfigSchema
	Intent       Intent                `json:"intent,omitempty"`       // protocol 2
	LastState    json.RawMessage       `json:"last_state,omitempty"`   // protocol 2: an object, the state last recorded as VALID
	LastConfig   json.RawMessage       `json:"-"`                      // the config of last_state; not sent to images
	After        []string              `json:"after,omitempty"`        // protocol 2: the actions that this apply has just run
	Memory       json.RawMessage       `json:"memory,omitempty"`       // on request: the type's recorded memory
	Unsettled    []string              `json:"unsettled,omitempty"`    // on request: actions whose result is unknown
	Unknown      []string              `json:"unknown,omitempty"`      // JSON pointers into the config: null now, not known yet
	Refresh      bool                  `json:"refresh,omitempty"`      // a resource in its subscribe was acted on, or will be
	Changed      []string              `json:"changed,omitempty"`      // JSON pointers into the config: changed since last VALID
	Guards       bool                  `json:"guards,omitempty"`       // to a type with a Guard: an answer may have guarded actions
	Host         *Host                 `json:"host,omitempty"`         // protocol 2: its machine; nil = that of the command
	Dependencies map[string]Dependency `json:"dependencies,omitempty"` // protocol 1, or on request
	Applied      *Fingerprints         `json:"-"`                      // of secrets when its actions ended well; nil = not compared
}

// Fingerprints are those of the values of secret blocks, by their names. They are not sent to images.
type Fingerprints map[string]string

// Dependency is a resource as its dependant receives it. Protocol 1 sends Type,
// Config and Dependencies, and in the input of actions also Properties; protocol 2
// sends Name, Type, Config, State, Status and Actions.
type Dependency struct {
	Name         string                `json:"name,omitempty"`         // its address
	Type         string                `json:"type"`                   // its image, as the manifest names it
	Config       json.RawMessage       `json:"config"`                 // an object
	State        json.RawMessage       `json:"state,omitempty"`        // an object; none = it does not exist yet
	Status       Status                `json:"status,omitempty"`       // its status as far as it is known now
	Actions      []string              `json:"actions,omitempty"`      // the names of the actions planned for it
	Properties   json.RawMessage       `json:"properties,omitempty"`   // its state, under protocol 1's name
	Dependencies map[string]Dependency `json:"dependencies,omitempty"` // by alias
}

// ActionInput is the stdin of an action.
type ActionInput struct {
	StateInput
	Action         string          `json:"action"`                  // its name
	StaleState     json.RawMessage `json:"staleState"`              // an object: the real state when the action was planned; {} = nothing
	IdempotencyKey string          `json:"idempotency_key"`         // the same for each attempt at this action of this plan
	ShownEffects   json.RawMessage `json:"shown_effects,omitempty"` // Action.Effects as the plan has shown this action
	Guard          *GuardInput     `json:"guard,omitempty"`         // only for the commands of a Guard
}

// Command is how to run an image, by docker's rules: an empty Command runs the
// image's Entrypoint and Cmd; Args replace Cmd; an Entrypoint drops Cmd.
type Command struct {
	Image      string   `json:"image,omitempty"` // default: the type's own
	Entrypoint string   `json:"entrypoint,omitempty"`
	Args       []string `json:"args,omitempty"`
}

// Action is one action that brings a resource nearer to its config.
type Action struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"` // default: the name
	Destructive bool   `json:"destructive,omitempty"` // it destroys the real object, for example to create it again
	Command
	// Effects is what the action does in addition, in a form of the type's own. Deployster does not compare
	// it, but passes it to the action as it was shown, so that the type can refuse to do more.
	Effects json.RawMessage `json:"effects,omitempty"`
	// Guarded reports that the action may cut the machine off, so that nobody reaches it any more: where
	// the host has undo_unless_reached, it is undone unless the host can be reached again. See Type.Guard.
	Guarded bool `json:"guarded,omitempty"`
}

// Destructive returns the name of the first destructive action, "" if there is none.
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

// PlugRequest is a file or directory of the host that a type needs.
type PlugRequest struct {
	ContainerPath string `json:"container_path"` // absolute: where it is mounted
	Optional      bool   `json:"optional"`       // the type also works without it
	Writable      bool   `json:"writable"`       // otherwise it is mounted read-only
	// AnyMode marks protocol 1's required_plugs, which have no mode and accept the
	// mode that the plug allows.
	AnyMode bool `json:"any_mode,omitempty"`
}

// Type is an image's answer to init, in one form for both protocol versions.
type Type struct {
	Reference string `json:"reference"` // the image, as the manifest names it; sent as "type"
	Digest    string `json:"digest"`    // of the image that answered

	Protocol          int                    `json:"protocol"`
	Label             string                 `json:"label,omitempty"`
	ConfigSchema      json.RawMessage        `json:"config_schema,omitempty"`
	StateSchema       json.RawMessage        `json:"state_schema,omitempty"`
	Identity          []string               `json:"identity,omitempty"` // JSON pointers into the config: the identity
	Kind              string                 `json:"kind,omitempty"`     // the kind of object, as the image declares
	AutoEdges         []AutoEdge             `json:"auto_edges,omitempty"`
	Plugs             map[string]PlugRequest `json:"plugs,omitempty"`
	PlugsIn           []string               `json:"plugs_in,omitempty"`           // JSON pointers into the config: paths below PlugsDir
	RequiredResources map[string]string      `json:"required_resources,omitempty"` // protocol 1: alias -> type
	OptionalResources map[string]string      `json:"optional_resources,omitempty"` // the same, for optional ones
	OnlyThese         bool                   `json:"only_these,omitempty"`         // protocol 1: no other aliases are allowed
	StateAction       Command                `json:"state_action"`
	Absent            bool                   `json:"absent,omitempty"`          // accepts the intent absent
	Dependencies      bool                   `json:"dependencies,omitempty"`    // needs its dependencies in the input
	Refresh           bool                   `json:"refresh,omitempty"`         // needs refresh and changed in the input
	WatchAction       *Command               `json:"watch_action,omitempty"`    // reports changes; nil = it is polled
	DiscoverAction    *Command               `json:"discover_action,omitempty"` // lists what exists; nil = it cannot
	ValidateAction    *Command               `json:"validate_action,omitempty"` // judges a config by itself; nil = only its schema does
	Memory            bool                   `json:"memory,omitempty"`          // needs memory and unsettled in the input
	Unknowns          bool                   `json:"unknowns,omitempty"`        // accepts config values that are not known yet
	Independent       bool                   `json:"independent,omitempty"`     // its resources change only with their own config
	ByPerson          bool                   `json:"by_person,omitempty"`       // a watch repairs only resources that declare it
	Worker            *Command               `json:"worker,omitempty"`
	Batch             *Batch                 `json:"batch,omitempty"`  // actions that the worker carries out together
	Guard             *Guard                 `json:"guard,omitempty"`  // saves and undoes its guarded actions
	Notify            *Command               `json:"notify,omitempty"` // sends a notification: then it has no other command
	Reuse             bool                   `json:"reuse,omitempty"`
	ReuseActions      bool                   `json:"reuse_actions,omitempty"`
	NoCache           bool                   `json:"no_cache,omitempty"`   // init runs again each time
	Actions           []string               `json:"actions,omitempty"`    // the names of all its actions; nil = not declared
	Operations        map[string]Operation   `json:"operations,omitempty"` // what it does on request, by name
	Policy            *Command               `json:"policy,omitempty"`     // judges plans; nil = it is the type of resources
	Secret            *Command               `json:"secret,omitempty"`     // prints a secret: then it has no other command
	Needs             []string               `json:"needs,omitempty"`      // what its type block must give it: NeedsWholeMachine
}

// Of returns the image that runs the command of a type, whose own image is given.
func (c Command) Of(image string) string {
	if c.Image != "" {
		return c.Image
	}
	return image
}

// PlugsDir is where a plug that a config names is mounted, by its name: see Type.PlugsIn.
const PlugsDir = "/plugs/"

// NeedsWholeMachine in Type.Needs: the image works on the machine itself.
const NeedsWholeMachine = "whole-machine"

// AutoEdge declares automatic dependencies of the resources of a type, for manifests with auto_edges:
// each depends on the resource of Kind whose identity is the value that By finds in its config.
type AutoEdge struct {
	Kind    string `json:"kind"`              // the kind of the dependencies
	By      string `json:"by"`                // JSON pointer into the config, to a text or a list of texts
	Parents bool   `json:"parents,omitempty"` // the text is a path: its nearest parent counts if it has no match
}

// Reason is one reason why an image answers STALE.
type Reason struct {
	Path    string          `json:"path,omitempty"`    // JSON pointer into the config; "" = none of its values
	Have    json.RawMessage `json:"have,omitempty"`    // the real value; none = it has none, or the image does not report it
	Want    json.RawMessage `json:"want,omitempty"`    // the value in the config
	Message string          `json:"message,omitempty"` // a sentence for the user
}

// Answer is an answer to state, in one form for both protocol versions. Missing with
// Actions stands for an object to create: protocol 1's MISSING, or protocol 2's STALE
// without a stale state. Missing without Actions answers the intent Absent.
type Answer struct {
	Status        Status          `json:"status"`
	State         json.RawMessage `json:"state,omitempty"`       // with Valid: the real state
	StaleState    json.RawMessage `json:"stale_state,omitempty"` // with Stale: the real state
	Actions       []Action        `json:"actions,omitempty"`
	ShutdownFirst *Action         `json:"shutdown_first,omitempty"`
	Reasons       []Reason        `json:"reasons,omitempty"`
	Forecast      json.RawMessage `json:"forecast,omitempty"`   // the part of the state after the actions that is already known
	MayDiffer     bool            `json:"may_differ,omitempty"` // the state after the actions may differ from Forecast
	Unknown       []string        `json:"unknown,omitempty"`    // JSON pointers into the state: known only after the actions
	Memory        json.RawMessage `json:"memory,omitempty"`     // the type's memory; none = unchanged
	Provides      []Provided      `json:"provides,omitempty"`   // objects of other kinds that it brings
	Rotated       []string        `json:"-"`                    // secret.NAME of values that are not those of StateInput.Applied
	Applied       Fingerprints    `json:"-"`                    // of the values that were sent, after actions
}

// ErrorClass is the class of a failure that an image reports in place of a status.
type ErrorClass string

// The classes.
const (
	ConfigError    ErrorClass = "config"    // the user must change the config
	TransientError ErrorClass = "transient" // deployster tries again
	DeniedError    ErrorClass = "denied"    // a permission or a credential is missing
	BugError       ErrorClass = "bug"       // the type is at fault
	UnsettledError ErrorClass = "unsettled" // the result of an action is unknown, and a person must decide
)

// TypeError is a failure that an image reports in place of a status.
type TypeError struct {
	Class   ErrorClass `json:"class"`
	Message string     `json:"message"`
	Path    string     `json:"path,omitempty"` // JSON pointer into the config
}

func (e *TypeError) Error() string { return string(e.Class) + " error: " + e.Message }
