package actions

import (
	"encoding/json"
	"slices"
	"time"

	"deployster/internal/artifact"
	"deployster/internal/base/secret"
)

// Unsettled is a resource on which actions were started since it was last seen
// as it should be. It stays so until its image says VALID, until it is gone, or
// until a person says how it is.
type Unsettled struct {
	Plan    string    `json:"plan"`
	By      By        `json:"by"`
	Actions []Attempt `json:"actions"`       // in the order in which they were started
	Put     *Put      `json:"put,omitempty"` // of a publish
	// Held says that its actions may still run on another machine, which has lost
	// the state: nothing is done about it, unless its image says VALID.
	Held bool `json:"held,omitempty"`
	// Was is, of a publish, the put before this one whose end was not recorded either. It
	// is what is known when the program of this one was never started.
	Was *Unsettled `json:"was,omitempty"`
}

// Attempt is an action that was started.
type Attempt struct {
	Action  string    `json:"action"`
	Key     string    `json:"idempotency_key,omitempty"`
	Started time.Time `json:"started"`
	Exit    *int      `json:"exit,omitempty"` // nil = nobody knows how it ended, or whether

	// Said is how a person says that it ended, where nobody else could know; ""
	// = nobody has said anything.
	Said Verdict `json:"said,omitempty"`

	// Silent says that its type has a memory and that it has said nothing of it:
	// what it made is not known, however it ended.
	Silent bool `json:"silent,omitempty"`
}

// Put is what is recorded of a put whose end is not known, or not seen to: with it the
// next command knows what was published.
type Put struct {
	Config    json.RawMessage `json:"config"` // of the publish
	Sensitive []string        `json:"sensitive,omitempty"`
	Info      artifact.Info   `json:"info"`
	Answer    *artifact.Put   `json:"answer,omitempty"` // what the image said; nil = nothing is known
	// NotBegun says that its program was never started, such as for want of disk space.
	NotBegun bool `json:"not_begun,omitempty"`
}

// Verdict is what a person says of an action.
type Verdict string

// The verdicts: it ended well, as with exit code 0; it did not, and there is no
// exit code.
const (
	Done   Verdict = "done"
	Failed Verdict = "failed"
)

// open reports whether nobody knows how it ended.
func (a Attempt) open() bool { return a.Exit == nil && a.Said == "" }

// Begun is what is known of the last put whose program may have been started.
func (u Unsettled) Begun() Unsettled {
	if u.Was != nil && (u.Put == nil || u.Put.NotBegun) {
		return *u.Was
	}
	u.Was = nil
	return u
}

// Open are the actions of which nobody knows how they ended.
func (u Unsettled) Open() []Attempt {
	return slices.DeleteFunc(slices.Clone(u.Actions), func(a Attempt) bool { return !a.open() })
}

// Unexplained are the actions of which nobody knows how they ended or what they made.
func (u Unsettled) Unexplained() []Attempt {
	return slices.DeleteFunc(slices.Clone(u.Actions), func(a Attempt) bool { return !a.open() && !a.Silent && !u.wordless(a) })
}

// Names are the names of the actions of which nobody knows what they made, as the
// image is told.
func (u Unsettled) Names() (names []string) {
	for _, a := range u.Unexplained() {
		if !slices.Contains(names, a.Action) {
			names = append(names, a.Action)
		}
	}
	return names
}

// wordless reports whether an action is a put that ended well and did not say what it made.
func (u Unsettled) wordless(a Attempt) bool {
	return u.Put != nil && u.Put.Answer == nil && !u.Put.NotBegun && a.Exit != nil && *a.Exit == 0 && a.Said == ""
}

// Masked gives a copy that may be shown.
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
