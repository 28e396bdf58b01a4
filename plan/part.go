package plan

import (
	"encoding/json"

	"deployster/internal/base/jsondoc"
	"deployster/internal/runtime/runner"
	"deployster/plan/inputs"
	"deployster/protocol"
)

// Part is what a step has for its change only. There is one type for each change.
type Part interface {
	Change() Change

	// answer is what the image of the resource answered; nil = it was not asked.
	answer() *Answer

	// Invalid returns what is wrong with a part that was read from a file, or "".
	Invalid() string
}

// ValidPart is of a resource that matches its config.
type ValidPart struct {
	Answer
	Found
	Unrefreshed bool            `json:"trusted,omitempty"`        // its recorded state was used, and its image was not asked
	Inputs      []inputs.Change `json:"inputs_changed,omitempty"` // may change: of what it will be notified
}

// CreatePart is of a resource that does not exist.
type CreatePart struct {
	Answer
	Since
}

// UpdatePart is of a resource that exists and differs from its config.
type UpdatePart struct {
	Answer
	Since
	Adopted bool `json:"adopted,omitempty"`     // the state file has no entry for it
	NotMade bool `json:"not_created,omitempty"` // its actions destroy an object that deployster did not create
}

// ReplacePart is of a resource whose object is destroyed, and created again.
type ReplacePart struct {
	Old *Step `json:"-"` // how the existing object is destroyed
}

// DestroyPart is of an object that is no longer declared, or that is replaced.
type DestroyPart struct {
	Answer
	NotMade bool           `json:"not_created,omitempty"`  // deployster did not create it
	Today   []runner.Mount `json:"mounts_today,omitempty"` // the writable Mounts whose plugs lead elsewhere today
}

// ForgetPart is of an entry that is dropped from the state file.
type ForgetPart struct{}

// PublishPart is of an artifact that is published.
type PublishPart struct {
	Answer
	Was *Was `json:"was,omitempty"` // the recorded config
}

// DeferredPart is of a resource whose change is known only during apply. An image that
// accepts unknown values has answered what it expects.
type DeferredPart struct {
	Answer
	Expected Change          `json:"expected,omitempty"`       // create, update or replace, where that is known
	Inputs   []inputs.Change `json:"inputs_changed,omitempty"` // of what it will be notified
	NotMade  bool            `json:"not_created,omitempty"`    // its actions destroy an object that deployster did not create
	Was      *Was            `json:"was,omitempty"`            // the recorded config
}

// ReadFailedPart is of a resource about which nothing was decided, because of an error.
type ReadFailedPart struct{}

// RecordPart is of a resource that was found, and is written to the state file.
type RecordPart struct {
	Answer
	Found
	Was *Was `json:"was,omitempty"` // the recorded or last found state
}

// LeftPart is of a resource, or an entry, that is left for a later plan.
type LeftPart struct{ Answer }

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
}

// Since is how a resource became different from its entry.
type Since struct {
	Inputs  []inputs.Change `json:"inputs_changed,omitempty"` // since it was last VALID
	Drifted bool            `json:"drifted,omitempty"`        // it was recorded as VALID, and is not, though no input has changed
}

// Found is how a resource that matches its config differs from its entry.
type Found struct {
	Adopted bool           `json:"adopted,omitempty"`        // the state file has no complete entry for it
	Made    bool           `json:"made,omitempty"`           // adopted: an apply that was cut short created it
	Edited  []jsondoc.Edit `json:"config_changed,omitempty"` // changes of its config without effect
}

// Was is the recorded or last found state of a resource, or its recorded config.
type Was struct {
	State     json.RawMessage `json:"state"`
	Sensitive []string        `json:"sensitive,omitempty"` // JSON pointers into State
}

// Change returns the change that a part is of.
func (*ValidPart) Change() Change      { return Valid }
func (*CreatePart) Change() Change     { return Create }
func (*UpdatePart) Change() Change     { return Update }
func (*ReplacePart) Change() Change    { return Replace }
func (*DestroyPart) Change() Change    { return Destroy }
func (*ForgetPart) Change() Change     { return Forget }
func (*PublishPart) Change() Change    { return Publish }
func (*DeferredPart) Change() Change   { return Deferred }
func (*ReadFailedPart) Change() Change { return ReadFailed }
func (*RecordPart) Change() Change     { return Record }
func (*LeftPart) Change() Change       { return Left }

func (a *Answer) answer() *Answer       { return a }
func (*ReplacePart) answer() *Answer    { return nil }
func (*ForgetPart) answer() *Answer     { return nil }
func (*ReadFailedPart) answer() *Answer { return nil }

// Invalid returns what is wrong with a part that was read from a file, or "". What an image
// answered was checked when it was read.
func (*Answer) Invalid() string { return "" }

// Invalid accepts every forgotten entry.
func (*ForgetPart) Invalid() string { return "" }

// Invalid requires the end of what is replaced.
func (p *ReplacePart) Invalid() string {
	if p.Old == nil || p.Old.Change() != Destroy {
		return "what is replaced has no end"
	}
	return ""
}

// Invalid requires an expected change that can be expected.
func (p *DeferredPart) Invalid() string {
	switch p.Expected {
	case "", Create, Update, Replace, Publish:
		return ""
	}
	return "what is expected of a resource is not a change"
}

// Invalid refuses the part: such a plan is not saved.
func (*ReadFailedPart) Invalid() string { return "the change of a resource is not known" }

// NewPart returns the empty part of a change; nil = there is no such change.
func NewPart(c Change) Part {
	switch c {
	case Valid:
		return &ValidPart{}
	case Create:
		return &CreatePart{}
	case Update:
		return &UpdatePart{}
	case Replace:
		return &ReplacePart{}
	case Destroy:
		return &DestroyPart{}
	case Forget:
		return &ForgetPart{}
	case Publish:
		return &PublishPart{}
	case Deferred:
		return &DeferredPart{}
	case ReadFailed:
		return &ReadFailedPart{}
	case Record:
		return &RecordPart{}
	case Left:
		return &LeftPart{}
	}
	return nil
}

// partWith returns the part of a change with an answer.
func partWith(c Change, a Answer) Part {
	p := NewPart(c)
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
