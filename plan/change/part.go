package change

import (
	"encoding/json"

	"deployster/internal/base/jsondoc"
	"deployster/internal/runtime/runner"
	"deployster/plan/inputs"
	"deployster/plan/observe"
	"deployster/protocol"
)

// Part is what a step has for its change only. There is one type for each change.
type Part interface {
	Change() observe.Change

	// answer is what the image of the resource answered; nil = it was not queried.
	answer() *Answer

	// Invalid returns what is wrong with a part that was read from a file, or "".
	Invalid() string
}

// Valid is of a resource that matches its config.
type Valid struct {
	Answer
	Found
	Unrefreshed bool            `json:"trusted,omitempty"`        // its recorded state was used, and its image was not queried
	Inputs      []inputs.Change `json:"inputs_changed,omitempty"` // may change: of what it will be notified
}

// Create is of a resource that does not exist.
type Create struct {
	Answer
	Since
}

// Update is of a resource that exists and differs from its config.
type Update struct {
	Answer
	Since
	Adopted    bool `json:"adopted,omitempty"`     // the state file has no entry for it
	NotCreated bool `json:"not_created,omitempty"` // its actions destroy an object that deployster did not create
}

// Replace is of a resource whose object is destroyed, and created again.
type Replace struct {
	Old *Step `json:"-"` // how the existing object is destroyed
}

// Destroy is of an object that is no longer declared, or that is replaced.
type Destroy struct {
	Answer
	NotCreated    bool           `json:"not_created,omitempty"`  // deployster did not create it
	CurrentMounts []runner.Mount `json:"mounts_today,omitempty"` // the writable Mounts whose plugs lead elsewhere today
}

// Forget is of an entry that is dropped from the state file.
type Forget struct{}

// Publish is of an artifact that is published.
type Publish struct {
	Answer
	Was *Was `json:"was,omitempty"` // the recorded config
}

// Deferred is of a resource whose change is known only during apply. An image that
// accepts unknown values has answered what it expects.
type Deferred struct {
	Answer
	Expected   observe.Change  `json:"expected,omitempty"`       // create, update or replace, where that is known
	Inputs     []inputs.Change `json:"inputs_changed,omitempty"` // of what it will be notified
	NotCreated bool            `json:"not_created,omitempty"`    // its actions destroy an object that deployster did not create
	Was        *Was            `json:"was,omitempty"`            // the recorded config
}

// ReadFailed is of a resource about which nothing was decided, because of an error.
type ReadFailed struct{}

// Record is of a resource that was found, and is written to the state file.
type Record struct {
	Answer
	Found
	Was *Was `json:"was,omitempty"` // the recorded or last found state
}

// Left is of a resource, or an entry, that is left for a later plan.
type Left struct{ Answer }

// Answer is what the image of a resource answered.
type Answer struct {
	State      json.RawMessage   `json:"state,omitempty"` // valid: the present state
	Stale      json.RawMessage   `json:"stale_state,omitempty"`
	Forecast   json.RawMessage   `json:"forecast,omitempty"`
	UnknownNew []string          `json:"unknown_state,omitempty"`   // JSON pointers into the state: known only after the actions
	Hidden     []string          `json:"sensitive_state,omitempty"` // JSON pointers into State, Stale, Forecast
	Memory     json.RawMessage   `json:"memory,omitempty"`          // valid: the memory; never shown
	Actions    []protocol.Action `json:"actions,omitempty"`
	Shutdown   *protocol.Action  `json:"shutdown_first,omitempty"`
	Reasons    []protocol.Reason `json:"reasons,omitempty"`

	// Provides is what the resource brings, until the edges that follow from that are in the plan.
	Provides []protocol.Provided `json:"-"`
}

// Since is how a resource became different from its entry.
type Since struct {
	Inputs  []inputs.Change `json:"inputs_changed,omitempty"` // since it was last VALID
	Drifted bool            `json:"drifted,omitempty"`        // it was recorded as VALID, and is not, though no input has changed
}

// Found is how a resource that matches its config differs from its entry.
type Found struct {
	Adopted bool           `json:"adopted,omitempty"`        // the state file has no complete entry for it
	Made    bool           `json:"made,omitempty"`           // adopted: an apply that was interrupted created it
	Edited  []jsondoc.Edit `json:"config_changed,omitempty"` // changes of its config without effect
}

// Was is the recorded or last found state of a resource, or its recorded config.
type Was struct {
	State     json.RawMessage `json:"state"`
	Sensitive []string        `json:"sensitive,omitempty"` // JSON pointers into State
}

// Change returns the change that a part is of.
func (*Valid) Change() observe.Change      { return observe.Valid }
func (*Create) Change() observe.Change     { return observe.Create }
func (*Update) Change() observe.Change     { return observe.Update }
func (*Replace) Change() observe.Change    { return observe.Replace }
func (*Destroy) Change() observe.Change    { return observe.Destroy }
func (*Forget) Change() observe.Change     { return observe.Forget }
func (*Publish) Change() observe.Change    { return observe.Publish }
func (*Deferred) Change() observe.Change   { return observe.Deferred }
func (*ReadFailed) Change() observe.Change { return observe.ReadFailed }
func (*Record) Change() observe.Change     { return observe.Record }
func (*Left) Change() observe.Change       { return observe.Left }

func (a *Answer) answer() *Answer   { return a }
func (*Replace) answer() *Answer    { return nil }
func (*Forget) answer() *Answer     { return nil }
func (*ReadFailed) answer() *Answer { return nil }

// Invalid returns what is wrong with a part that was read from a file, or "". What an image
// answered was checked when it was read.
func (*Answer) Invalid() string { return "" }

// Invalid accepts every forgotten entry.
func (*Forget) Invalid() string { return "" }

// Invalid requires the end of what is replaced.
func (p *Replace) Invalid() string {
	if p.Old == nil || p.Old.Change() != observe.Destroy {
		return "what is replaced has no end"
	}
	return p.Old.Invalid()
}

// Invalid requires an expected change that can be expected.
func (p *Deferred) Invalid() string {
	switch p.Expected {
	case "", observe.Create, observe.Update, observe.Replace, observe.Publish:
		return ""
	}
	return "what is expected of a resource is not a change"
}

// Invalid refuses the part: such a plan is not saved.
func (*ReadFailed) Invalid() string { return "the change of a resource is not known" }

// New returns the empty part of a change; nil = there is no such change.
func New(c observe.Change) Part {
	switch c {
	case observe.Valid:
		return &Valid{}
	case observe.Create:
		return &Create{}
	case observe.Update:
		return &Update{}
	case observe.Replace:
		return &Replace{}
	case observe.Destroy:
		return &Destroy{}
	case observe.Forget:
		return &Forget{}
	case observe.Publish:
		return &Publish{}
	case observe.Deferred:
		return &Deferred{}
	case observe.ReadFailed:
		return &ReadFailed{}
	case observe.Record:
		return &Record{}
	case observe.Left:
		return &Left{}
	}
	return nil
}

// partWith returns the part of a change with an answer.
func partWith(c observe.Change, a Answer) Part {
	p := New(c)
	if to := p.answer(); to != nil {
		*to = a
	}
	return p
}

// partOf returns the part of a step, if it is of this type; else an empty one, to read from.
func partOf[P any](s *Step) *P {
	if p, ok := any(s.Part).(*P); ok {
		return p
	}
	return new(P)
}
