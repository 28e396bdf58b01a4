package actions

import (
	"encoding/json"
	"slices"
	"time"

	"deployster/internal/base/secret"
	"deployster/internal/runtime/artifact"
)

// Unsettled is a resource on which actions were started since it was last seen VALID. It
// stays unsettled until its image declares VALID, until the object no longer exists, or until
// a person reports how the actions ended.
type Unsettled struct {
	Plan    string    `json:"plan"`
	By      By        `json:"by"`
	Actions []Attempt `json:"actions"`       // in the order in which they were started
	Put     *Put      `json:"put,omitempty"` // of a publish
	// Held reports that its actions may still run on another machine, which has lost the
	// state: deployster does nothing about the resource unless its image declares VALID.
	Held bool `json:"held,omitempty"`
	// Was is what was unsettled before: what an earlier plan did, or the put before this one.
	// It is what is known when the program of this one was never started.
	Was *Unsettled `json:"was,omitempty"`
}

// Attempt is an action that was started.
type Attempt struct {
	Action  string    `json:"action"`
	Key     string    `json:"idempotency_key,omitempty"`
	Started time.Time `json:"started"`
	Exit    *int      `json:"exit,omitempty"` // nil = its end is unknown, or it has not ended

	// Said is how a person reports that the action ended, if its end was unknown; "" = no
	// person has stated it.
	Said Verdict `json:"said,omitempty"`

	// Silent reports that its type has a memory and that the action has not reported it:
	// what it made is unknown, however it ended.
	Silent bool `json:"silent,omitempty"`
}

// Put is the record of a put whose end is unknown or not confirmed. From it the next
// command knows what was published.
type Put struct {
	Config    json.RawMessage `json:"config"` // of the publish
	Sensitive []string        `json:"sensitive,omitempty"`
	Info      artifact.Info   `json:"info"`
	Answer    *artifact.Put   `json:"answer,omitempty"` // the answer of the image; nil = unknown
	// NotBegun reports that its program was never started, such as for lack of disk space.
	NotBegun bool `json:"not_begun,omitempty"`
}

// Verdict is what a person reports about an action.
type Verdict string

// The verdicts: Done means success, as exit code 0; Failed means failure, and there is no
// exit code.
const (
	Done   Verdict = "done"
	Failed Verdict = "failed"
)

// open reports whether it is unknown how the action ended.
func (a Attempt) open() bool { return a.Exit == nil && a.Said == "" }

// Begun returns what is known of the last put whose program may have been started.
func (u Unsettled) Begun() Unsettled {
	if u.Was != nil && u.Was.Put != nil && (u.Put == nil || u.Put.NotBegun) {
		return *u.Was
	}
	u.Was = nil
	return u
}

// Open returns the actions whose outcome is unknown.
func (u Unsettled) Open() []Attempt {
	return slices.DeleteFunc(slices.Clone(u.Actions), func(a Attempt) bool { return !a.open() })
}

// Unexplained returns the actions whose outcome or result is unknown.
func (u Unsettled) Unexplained() []Attempt {
	return slices.DeleteFunc(slices.Clone(u.Actions), func(a Attempt) bool { return !a.open() && !a.Silent && !u.wordless(a) })
}

// Names returns the names of the unexplained actions, without duplicates, as the image
// gets them.
func (u Unsettled) Names() (names []string) {
	for _, a := range u.Unexplained() {
		if !slices.Contains(names, a.Action) {
			names = append(names, a.Action)
		}
	}
	return names
}

// Failed reports whether an action is known to have failed.
func (u Unsettled) Failed() bool {
	return slices.ContainsFunc(u.Actions, func(a Attempt) bool { return a.Said == Failed || a.Exit != nil && *a.Exit != 0 })
}

// wordless reports whether an action is a successful put that did not report what it made.
func (u Unsettled) wordless(a Attempt) bool {
	return u.Put != nil && u.Put.Answer == nil && !u.Put.NotBegun && a.Exit != nil && *a.Exit == 0 && a.Said == ""
}

// Masked returns a copy with its sensitive values replaced, which may be shown.
func (u Unsettled) Masked() Unsettled {
	if u.Was != nil {
		was := u.Was.Masked()
		u.Was = &was
	}
	if u.Put != nil {
		put := *u.Put
		put.Config = secret.Mask(put.Config, put.Sensitive)
		u.Put = &put
	}
	return u
}
