package change

import (
	"encoding/json"
	"reflect"
	"slices"

	"deployster/internal/base/jsondoc"
	"deployster/internal/runtime/runner"
	"deployster/plan/inputs"
	"deployster/plan/observe"
	"deployster/plan/reason"
	"deployster/protocol"
	"deployster/state"
)

// Step is what the plan declares about one resource, and what is needed to do it.
type Step struct {
	Type        string            `json:"type"`                    // the image, as the manifest names it
	MovedFrom   string            `json:"moved_from,omitempty"`    // its former address, as in the state file
	MovedWhy    string            `json:"moved_why,omitempty"`     // "identity", "same config" (a guess), "" (the manifest)
	Certainty   Certainty         `json:"-"`                       // how far the answer of its image holds at its turn
	Publishes   bool              `json:"publishes,omitempty"`     // it comes from a publish block
	New         bool              `json:"new,omitempty"`           // adopt = false: it must not exist before it is created
	Reason      *reason.Reason    `json:"reason,omitempty"`        // why it is deferred, early, may change, is destroyed, forgotten or left
	Notes       []*reason.Reason  `json:"notes,omitempty"`         // what to know before approving
	OtherObject bool              `json:"another,omitempty"`       // the entry here is of another object, which stays
	Deposed     string            `json:"deposed,omitempty"`       // the address that it had before another took it
	BroughtBy   []string          `json:"brought_by,omitempty"`    // create: what this plan creates that brings it, or what is above it
	Replaces    string            `json:"replaces,omitempty"`      // the entry whose object is removed after this one is created
	Config      json.RawMessage   `json:"config"`                  // an unknown value is {"$unknown": "its cause"}
	Unknown     map[string]string `json:"unknown,omitempty"`       // JSON pointer into Config -> what makes it unknown
	Sensitive   []string          `json:"sensitive,omitempty"`     // JSON pointers into Config
	MayChangeAt []string          `json:"may_change_at,omitempty"` // JSON pointers into Config: expected to stay
	Ignored     []string          `json:"ignored,omitempty"`       // JSON pointers: ignore_changes keeps these values
	ReadOnly    bool              `json:"read_only,omitempty"`
	Exclusive   string            `json:"exclusive,omitempty"`  // the exclusive block that lists the object
	Aliases     map[string]string `json:"aliases,omitempty"`    // alias -> address
	Subscribes  []string          `json:"subscribes,omitempty"` // addresses of the resources whose actions it is notified of
	Init        protocol.Type     `json:"init"`
	Pull        runner.PullPolicy `json:"pull,omitempty"`
	Verify      *runner.Verify    `json:"verify,omitempty"` // the signature that its images must carry
	Settings    runner.Settings   `json:"settings"`
	RunsWith    []string          `json:"runs_with,omitempty"`     // what Settings allow beyond the defaults, for people to read
	Weaker      []string          `json:"weaker,omitempty"`        // what the cluster of its host does not enforce, for people to read
	SecretEnv   []string          `json:"sensitive_env,omitempty"` // names in Settings.Env
	Mounts      []runner.Mount    `json:"mounts,omitempty"`
	Timeouts    Timeouts          `json:"timeouts,omitzero"`
	Protect     bool              `json:"prevent_destroy,omitempty"`
	OnRemove    string            `json:"on_remove,omitempty"`
	Source      string            `json:"source,omitempty"` // file:line of its block

	Part Part `json:"-"` // what it has for its change only
}

// RecordedStep returns a step with what an entry holds of how to remove its object.
func RecordedStep(entry state.Entry) *Step {
	return &Step{Type: entry.Type, Config: entry.Config, Sensitive: entry.Sensitive.Config, SecretEnv: entry.Sensitive.Env,
		Aliases: entry.Aliases, Settings: entry.Settings, RunsWith: entry.Settings.Widened(), Mounts: entry.Mounts,
		Weaker:   Weaker(entry.Settings, entry.Mounts, protocol.Type{}),
		Timeouts: Timeouts{State: entry.StateTimeout, Action: entry.ActionTimeout}, Init: protocol.Type{Reference: entry.Type,
			Digest: entry.Digest}}
}

// Timeouts are the timeouts in the resource's block; 0 = not set.
type Timeouts struct {
	State  state.Duration `json:"state,omitempty"`
	Action state.Duration `json:"action,omitempty"`
}

// Invalid returns what is wrong with a step that was read from a file, or "".
func (s *Step) Invalid() string {
	if s.Reason.Invalid() || slices.ContainsFunc(s.Notes, func(note *reason.Reason) bool { return note == nil || note.Invalid() }) {
		return "a reason is not known"
	}
	for _, name := range s.SecretEnv {
		if _, ok := s.Settings.Env[name]; !ok {
			return "a sensitive environment variable is missing"
		}
	}
	return s.Part.Invalid()
}

// Change returns what the step does; "" = that was not decided yet.
func (s *Step) Change() observe.Change {
	if s.Part == nil {
		return ""
	}
	return s.Part.Change()
}

// Answer returns what the image answered, or an empty answer.
func (s *Step) Answer() *Answer {
	if s.Part != nil {
		if a := s.Part.answer(); a != nil {
			return a
		}
	}
	return new(Answer)
}

// Copy returns a copy of a step whose part can be changed.
func (s *Step) Copy() *Step {
	c := *s
	if s.Part != nil {
		part := reflect.New(reflect.TypeOf(s.Part).Elem())
		part.Elem().Set(reflect.ValueOf(s.Part).Elem())
		c.Part = part.Interface().(Part)
	}
	return &c
}

// Old returns how the existing object of a replaced resource is destroyed; nil = it is not
// replaced.
func (s *Step) Old() *Step { return partOf[Replace](s).Old }

// Expected returns the expected change of a deferred resource; "" = it is not known.
func (s *Step) Expected() observe.Change { return partOf[Deferred](s).Expected }

// Unrefreshed reports whether the recorded state was used, and the image was not queried.
func (s *Step) Unrefreshed() bool { return partOf[Valid](s).Unrefreshed }

// CurrentMounts returns the writable mounts of what is destroyed whose plugs lead elsewhere today.
func (s *Step) CurrentMounts() []runner.Mount { return partOf[Destroy](s).CurrentMounts }

// Adopted reports whether a resource exists, but the state file has no complete entry for it.
func (s *Step) Adopted() bool { return s.found().Adopted || partOf[Update](s).Adopted }

// Made reports whether an adopted resource was created by an interrupted apply.
func (s *Step) Made() bool { return s.found().Made }

// Edited returns the changes of a config that have no effect.
func (s *Step) Edited() []jsondoc.Edit { return s.found().Edited }

// found returns how a resource that matches its config differs from its entry.
func (s *Step) found() *Found {
	if p, ok := s.Part.(*Record); ok {
		return &p.Found
	}
	return &partOf[Valid](s).Found
}

// Drifted reports whether a resource was recorded as VALID and is not, though no input has changed.
func (s *Step) Drifted() bool { return partOf[Create](s).Drifted || partOf[Update](s).Drifted }

// Inputs returns what has changed of the inputs of a resource since it was last VALID.
func (s *Step) Inputs() []inputs.Change {
	switch p := s.Part.(type) {
	case *Valid:
		return p.Inputs
	case *Create:
		return p.Inputs
	case *Update:
		return p.Inputs
	case *Deferred:
		return p.Inputs
	}
	return nil
}

// NotCreated reports whether the actions destroy an object that deployster did not create.
func (s *Step) NotCreated() bool {
	return partOf[Destroy](s).NotCreated || partOf[Update](s).NotCreated || partOf[Deferred](s).NotCreated
}

// SetNotCreated notes whether the actions destroy an object that deployster did not create.
func (s *Step) SetNotCreated(notMade bool) {
	switch p := s.Part.(type) {
	case *Destroy:
		p.NotCreated = notMade
	case *Update:
		p.NotCreated = notMade
	case *Deferred:
		p.NotCreated = notMade
	}
}

// Was returns what is shown in addition to the config or the state that was found; nil = nothing.
func (s *Step) Was() *Was {
	switch p := s.Part.(type) {
	case *Publish:
		return p.Was
	case *Deferred:
		return p.Was
	case *Record:
		return p.Was
	}
	return nil
}
