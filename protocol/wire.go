package protocol

import (
	"encoding/json"
	"io"
	"slices"

	"deployster/protocol/internal/jsonvalue"
)

// InitAnswer is what a type of protocol 2 prints on stdout in answer to init. Only
// StateAction is required.
type InitAnswer struct {
	Protocol     int                    `json:"protocol"` // 2
	Label        string                 `json:"label,omitempty"`
	ConfigSchema json.RawMessage        `json:"config_schema,omitempty"` // JSON Schema; none = any object
	StateSchema  json.RawMessage        `json:"state_schema,omitempty"`  // JSON Schema; none = any object
	Identity     []string               `json:"identity,omitempty"`      // JSON pointers to the config values of the identity
	Kind         string                 `json:"kind,omitempty"`          // the kind of object; none = the image's repository
	AutoEdges    []AutoEdge             `json:"auto_edges,omitempty"`    // automatic dependencies, for manifests with auto_edges
	Plugs        map[string]PlugRequest `json:"plugs,omitempty"`
	PlugsIn      []string               `json:"plugs_in,omitempty"`     // JSON pointers to config values that may name a plug
	StateAction  Command                `json:"state_action"`           // the command that reads the state
	Absent       bool                   `json:"absent,omitempty"`       // it can remove the object
	Dependencies bool                   `json:"dependencies,omitempty"` // it needs its dependencies in the input
	Refresh      bool                   `json:"refresh,omitempty"`      // it needs StateInput.Refresh and StateInput.Changed
	WatchAction  *Command               `json:"watch_action,omitempty"` // the command that reports changes; none = it is polled
	// DiscoverAction is the command that lists what exists; none = it cannot list.
	DiscoverAction *Command `json:"discover_action,omitempty"`
	// ValidateAction is the command that judges a config by itself; none = only ConfigSchema does.
	ValidateAction *Command `json:"validate_action,omitempty"`

	Memory bool `json:"memory,omitempty"` // it needs StateInput.Memory and StateInput.Unsettled
	// Unknowns reports that it accepts StateInput.Unknown.
	Unknowns bool `json:"unknowns,omitempty"`
	// Independent reports that its resources change only with their own config.
	Independent bool `json:"independent,omitempty"`
	// Needs is what the type block must give it, such as whole-machine.
	Needs []string `json:"needs,omitempty"`
	// Repair is the default of watch { repair } for its resources; nil = true.
	Repair *bool    `json:"repair,omitempty"`
	Worker *Command `json:"worker,omitempty"` // the command of a process that may serve many invocations
	Batch  *Batch   `json:"batch,omitempty"`  // actions that its worker carries out together; none = each alone
	// Guard is how its guarded actions are undone; a type sends it only if it got GuardFeature.
	Guard *Guard `json:"guard,omitempty"`
	// Actions are the names of all its actions; a type sends them only if it got ActionsFeature.
	Actions []string `json:"actions,omitempty"`
	// Operations are what it does on request; a type sends them only if it got OperationsFeature.
	Operations map[string]Operation `json:"operations,omitempty"`

	Reuse bool `json:"reuse,omitempty"` // queries may share a container
	// ReuseActions reports that its actions may share the container too. It needs Reuse.
	ReuseActions bool  `json:"reuse_actions,omitempty"`
	Cache        *bool `json:"cache,omitempty"` // false = query again for each resource; nil = true
}

// StateAnswer is what a type of protocol 2 prints on stdout in answer to state:
// Status and the members that belong to it, or Error alone.
type StateAnswer struct {
	Status        Status          `json:"status,omitempty"`
	State         json.RawMessage `json:"state,omitempty"`               // an object; only with VALID
	StaleState    json.RawMessage `json:"staleState,omitempty"`          // an object; with STALE: the real state, none = nothing
	Actions       []Action        `json:"actions,omitempty"`             // with STALE: the actions that correct it, in this order
	ShutdownFirst *Action         `json:"shutdown_first,omitempty"`      // with STALE: runs before any other change
	Reasons       []Reason        `json:"reasons,omitempty"`             // with STALE: the differences from the config
	Forecast      json.RawMessage `json:"forecast,omitempty"`            // an object: the known part of the state after the actions
	MayDiffer     bool            `json:"forecast_may_differ,omitempty"` // the state after the actions may differ from Forecast
	Unknown       []string        `json:"unknown,omitempty"`             // JSON pointers into the state: known only after the actions
	Memory        json.RawMessage `json:"memory,omitempty"`              // the memory: recorded with VALID, for the actions with STALE
	Provides      []Provided      `json:"provides,omitempty"`            // objects of other kinds that it brings, at most MaxProvides
	Error         *TypeError      `json:"error,omitempty"`               // in place of all other members
}

// ActionAnswer is what an action of a type with a memory prints on stdout, also when
// it fails. null = nothing of the object exists any more.
type ActionAnswer struct {
	Memory json.RawMessage `json:"memory"`
}

// Batch lists the actions that a worker carries out together for many resources.
type Batch struct {
	Actions []string `json:"actions"`       // their names
	Max     int      `json:"max,omitempty"` // how many resources at the most; 0 = DefaultBatch
}

// DefaultBatch is the default of Batch.Max.
const DefaultBatch = 100

// Takes reports whether actions of a name may come in a batch.
func (b *Batch) Takes(action string) bool { return b != nil && slices.Contains(b.Actions, action) }

// WorkerRequest is one line on the stdin of a worker. It starts an invocation with
// the arguments and the stdin that a process of its own would get or, with Cancel,
// signals the open invocation of that ID to end. With Batch it starts many invocations of one action,
// and has no other key.
type WorkerRequest struct {
	ID     int64           `json:"id,omitempty"`     // of the invocation; unique among the open ones
	Batch  []WorkerRequest `json:"batch,omitempty"`  // invocations with ID, Args and Stdin
	Args   []string        `json:"args,omitempty"`   // such as ["state"]; none = init
	Stdin  json.RawMessage `json:"stdin,omitempty"`  // an object: InitInput, StateInput or ActionInput
	Cancel bool            `json:"cancel,omitempty"` // ends the invocation, as SIGTERM ends a process
	Waits  bool            `json:"waits,omitempty"`  // the sender understands Waits in a reply
}

// WorkerReply is one line on the stdout of a worker: a part of the stdout or of the
// stderr of an invocation or, with Exit, its end. An invocation that ends while it
// waits has not begun.
type WorkerReply struct {
	ID     int64  `json:"id"`               // of the invocation
	Stdout string `json:"stdout,omitempty"` // a piece of it
	Stderr string `json:"stderr,omitempty"` // a piece of it
	Exit   *int   `json:"exit,omitempty"`   // the exit code: the invocation has ended, and this is its last reply
	Waits  *bool  `json:"waits,omitempty"`  // it waits for other invocations to end; begun unless a reply reports true
	Begun  bool   `json:"begun,omitempty"`  // it begins an invocation of a batch: nothing was done for that before
}

// WatchEvent is one line on the stdout of a watch action. The first line reports that
// the resource is watched from now on; each further line without Busy reports that it
// may have changed.
type WatchEvent struct {
	Detail string `json:"detail,omitempty"` // for people: what happened
	Busy   *bool  `json:"busy,omitempty"`   // true: something is changing the resource; false: that has ended
}

func writeAnswer(to io.Writer, answer any) error {
	b, err := jsonvalue.Encode(answer)
	if err != nil {
		return err
	}
	_, err = to.Write(append(b, '\n'))
	return err
}
