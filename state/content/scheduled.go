package content

import (
	"encoding/json"
	"fmt"
	"maps"
	"time"

	"deployster/internal/base/jsondoc"
	"deployster/internal/base/secret"
)

// Scheduled is an operation that a watch runs by a schedule, as the last apply has left it.
type Scheduled struct {
	Resource  string          `json:"resource"` // its address
	Run       string          `json:"run"`      // the name of the operation
	Input     json.RawMessage `json:"input"`
	Sensitive []string        `json:"sensitive,omitempty"` // JSON pointers into Input: values that are never shown
	Schedule  string          `json:"schedule"`            // five fields of cron, in UTC
}

// Operation is a scheduled operation with its turns.
type Operation struct {
	Scheduled
	Since time.Time `json:"since"`         // when it was applied: its turns begin then
	Turn  time.Time `json:"turn,omitzero"` // the last one; it is recorded before it starts
}

// Same reports whether two declare the same.
func (s Scheduled) Same(o Scheduled) bool { return jsondoc.SameValue(s, o) }

// Last returns the time after which the next turn is due.
func (o Operation) Last() time.Time {
	if o.Turn.After(o.Since) {
		return o.Turn
	}
	return o.Since
}

// Secrets returns the sensitive values of the input.
func (s Scheduled) Secrets() []string { return secret.Values(s.Input, s.Sensitive) }

// Scheduling returns the operations of a state after an apply that declares these: those that it leaves as they were keep their turns.
func (s Snapshot) Scheduling(declared map[string]Scheduled, now time.Time) (map[string]Operation, error) {
	next := map[string]Operation{}
	for name, one := range declared {
		input, err := jsondoc.Canonical(one.Input)
		if err != nil {
			return nil, fmt.Errorf("operation %s: %w", name, err)
		}
		one.Input = input
		if was, known := s.Operations[name]; known && was.Same(one) {
			next[name] = was
			continue
		}
		next[name] = Operation{Scheduled: one, Since: now}
	}
	return next, nil
}

// maskOperations replaces the sensitive values of the inputs.
func (s *Snapshot) maskOperations() {
	for name, o := range s.Operations {
		o.Input = secret.Mask(o.Input, o.Sensitive)
		s.Operations[name] = o
	}
}

// Took notes that a turn of an operation begins.
func (s *Snapshot) Took(name string, turn time.Time) {
	if o, known := s.Operations[name]; known {
		o.Turn = turn
		s.Operations = maps.Clone(s.Operations)
		s.Operations[name] = o
	}
}
