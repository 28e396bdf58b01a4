package protocol

import "encoding/json"

// InitAnswer is what a type of protocol 2 prints on stdout when it is asked
// what it is. Only StateAction is required.
type InitAnswer struct {
	Protocol     int                    `json:"protocol"` // 2
	Label        string                 `json:"label,omitempty"`
	ConfigSchema json.RawMessage        `json:"config_schema,omitempty"` // JSON Schema; none = any object
	StateSchema  json.RawMessage        `json:"state_schema,omitempty"`  // JSON Schema; none = any object
	Identity     []string               `json:"identity,omitempty"`      // JSON pointers to the values of the config that name the thing
	Kind         string                 `json:"kind,omitempty"`          // what sort of thing it is; none = the image's repository
	AutoEdges    []AutoEdge             `json:"auto_edges,omitempty"`    // what its resources come after, where the manifest has auto_edges
	Plugs        map[string]PlugRequest `json:"plugs,omitempty"`
	StateAction  Command                `json:"state_action"`           // how the state is asked for
	Absent       bool                   `json:"absent,omitempty"`       // it can remove what it made
	Dependencies bool                   `json:"dependencies,omitempty"` // it wants to see its dependencies
	Refresh      bool                   `json:"refresh,omitempty"`      // it wants StateInput.Refresh and StateInput.Changed
	WatchAction  *Command               `json:"watch_action,omitempty"` // how it is asked to tell of changes; none = it is polled
	// DiscoverAction is how it is asked what there is; none = it cannot tell.
	DiscoverAction *Command `json:"discover_action,omitempty"`

	Memory bool `json:"memory,omitempty"` // it wants StateInput.Memory and StateInput.Unsettled
	// Unknowns says that it can be asked with StateInput.Unknown.
	Unknowns bool     `json:"unknowns,omitempty"`
	Worker   *Command `json:"worker,omitempty"` // one process may serve many invocations
	Reuse    bool     `json:"reuse,omitempty"`  // invocations may share a container
	Cache    *bool    `json:"cache,omitempty"`  // false = ask again for each resource; nil = true
}

// StateAnswer is what a type of protocol 2 prints on stdout when it is asked
// for the state: Status and what belongs to it, or Error in its place.
type StateAnswer struct {
	Status        Status          `json:"status,omitempty"`
	State         json.RawMessage `json:"state,omitempty"`          // an object; of VALID only
	StaleState    json.RawMessage `json:"staleState,omitempty"`     // an object; of STALE: what is there instead, none = it does not exist
	Actions       []Action        `json:"actions,omitempty"`        // of STALE: what makes it right, in this order
	ShutdownFirst *Action         `json:"shutdown_first,omitempty"` // of STALE: is run before anything else is changed
	Reasons       []Reason        `json:"reasons,omitempty"`        // of STALE: what is not as it should be
	Forecast      json.RawMessage `json:"forecast,omitempty"`       // an object: the part of the state after the actions that is known already
	Unknown       []string        `json:"unknown,omitempty"`        // JSON pointers into the state: what is known only after the actions
	Memory        json.RawMessage `json:"memory,omitempty"`         // what is not to be forgotten: of VALID recorded, of STALE for its actions
	Error         *TypeError      `json:"error,omitempty"`          // in the place of all others
}

// ActionAnswer is what an action of a type with a memory prints on stdout, also
// when it fails. null = nothing of the thing is there any more.
type ActionAnswer struct {
	Memory json.RawMessage `json:"memory"`
}

// WorkerRequest is one line on the stdin of a worker: an invocation with the
// arguments and the stdin that a run of its own would get, or, with Cancel,
// the wish that the open invocation of that ID ends.
type WorkerRequest struct {
	ID     int64           `json:"id"`               // of the invocation; none that is open has the same
	Args   []string        `json:"args,omitempty"`   // such as ["state"]; none = init
	Stdin  json.RawMessage `json:"stdin,omitempty"`  // an object: InitInput, StateInput or ActionInput
	Cancel bool            `json:"cancel,omitempty"` // as SIGTERM asks a process
	Waits  bool            `json:"waits,omitempty"`  // whoever asks understands Waits in a reply
}

// WorkerReply is one line on the stdout of a worker: a piece of the stdout or
// of the stderr of an invocation, or, with Exit, its end. One that ends while it
// waits was never begun.
type WorkerReply struct {
	ID     int64  `json:"id"`               // of the request
	Stdout string `json:"stdout,omitempty"` // a piece of it
	Stderr string `json:"stderr,omitempty"` // a piece of it
	Exit   *int   `json:"exit,omitempty"`   // the exit code: it has ended, and is not spoken of again
	Waits  *bool  `json:"waits,omitempty"`  // whether it waits for others to end; without a word it has begun
}

// WatchEvent is one line on the stdout of a watch action. The first one says that
// the resource is watched from now on; each further one without Busy that it
// may have changed.
type WatchEvent struct {
	Detail string `json:"detail,omitempty"` // for people: what has happened
	Busy   *bool  `json:"busy,omitempty"`   // something goes on that will change it, or does no more
}
