package content

import (
	"cmp"
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
	// Until is when the run of the last turn has ended at the latest, if it is not in the journal. Zero: it has ended.
	Until time.Time `json:"until,omitzero"`
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

// Operations are scheduled operations, by name.
type Operations map[string]Operation

// After returns the operations after an apply that declares these: unchanged ones keep their turns.
func (all Operations) After(declared map[string]Scheduled, now time.Time) (Operations, error) {
	next := Operations{}
	for name, one := range declared {
		input, err := jsondoc.Canonical(one.Input)
		if err != nil {
			return nil, fmt.Errorf("operation %s: %w", name, err)
		}
		one.Input = input
		if was, known := all[name]; known && was.Same(one) {
			next[name] = was
			continue
		}
		next[name] = Operation{Scheduled: one, Since: now, Until: all.Until(one.Resource, one.Run)}
	}
	return next, nil
}

// masked returns them with the sensitive values of the inputs replaced.
func (all Operations) masked() Operations {
	all = maps.Clone(all)
	for name, o := range all {
		o.Input = secret.Mask(o.Input, o.Sensitive)
		all[name] = o
	}
	return all
}

// Busy reports whether a run of the same operation on the same resource may not have ended.
func (all Operations) Busy(name string, now time.Time) bool {
	return now.Before(all.Until(all[name].Resource, all[name].Run))
}

// Until returns when the last run of an operation on a resource has ended at the latest, whichever block it was for.
func (all Operations) Until(resource, run string) (until time.Time) {
	for _, o := range all {
		if o.Resource == resource && o.Run == run && o.Until.After(until) {
			until = o.Until
		}
	}
	return until
}

// Took returns them after a turn of one of them has begun, whose run has ended at until at the latest.
func (all Operations) Took(name string, turn, until time.Time) Operations {
	o, known := all[name]
	if !known {
		return all
	}
	all = maps.Clone(all)
	o.Turn, o.Until = turn, until
	all[name] = o
	return all
}

// renamed returns them with the new addresses of their resources.
func (all Operations) renamed(to map[string]string) Operations {
	all = maps.Clone(all)
	for name, o := range all {
		o.Resource = cmp.Or(to[o.Resource], o.Resource)
		all[name] = o
	}
	return all
}
