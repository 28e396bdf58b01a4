package observe

import (
	"encoding/json"
	"slices"
	"strings"

	"deployster/internal/base/jsondoc"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/plan/reason"
	"deployster/plan/refresh"
	"deployster/protocol"
	"deployster/state"
)

// Step is what a query needs of the step of a resource.
type Step struct {
	Target     typeclient.Target // its image; Target.Sensitive are JSON pointers into Config
	Type       *protocol.Type
	Config     json.RawMessage
	Unknown    map[string]string // JSON pointer into Config -> what makes it unknown
	Intent     protocol.Intent
	Aliases    map[string]string // alias -> address
	Subscribes []string          // addresses of the resources whose actions it is notified of
	Publishes  bool              // it comes from a publish block
}

// Scope is what is known around an object when its state is queried.
type Scope struct {
	Prior state.Snapshot
	View  func(addr string) View // the resources behind its aliases
	// Acts reports whether this run acts on a resource; nil = the image is not informed of any change
	// since the object was last VALID.
	Acts func(addr string) bool
}

// Request returns the input of a query. entry is the entry of the step's object, with the values
// that are not recorded as they are in the config; nil = the object has none. Fields that the
// type did not request are left out when the input is written.
func Request(s *Step, entry *state.Entry, scope Scope) (protocol.StateInput, error) {
	deps, err := Dependencies(*s.Type, s.Aliases, scope.View)
	in := protocol.StateInput{Config: s.Config, Intent: s.Intent, Dependencies: deps}
	if scope.Acts != nil {
		in.Applied = &protocol.Fingerprints{}
	}
	if entry != nil {
		addr := s.Target.Address
		in.LastState, in.Memory, in.Unsettled = entry.State, entry.Memory, scope.Prior.Unsettled[addr].Names()
		if scope.Acts != nil {
			in.LastConfig, in.Applied = entry.Config, &entry.Secrets
			notify(&in, s, entry, scope)
		}
	}
	SetUnknown(&in, s.Unknown)
	return in, err
}

// notify puts into an input that a subscribed resource was acted on, and what has changed in
// the config, if the type requests that.
func notify(in *protocol.StateInput, s *Step, entry *state.Entry, scope Scope) {
	if !s.Type.Refresh || in.Intent != protocol.Present {
		return
	}
	if !entry.Incomplete() { // it was VALID with the config of the entry
		in.Changed = changed(entry.Config, in.Config)
	}
	in.Refresh = len(refresh.Owed(s.Subscribes, *entry, scope.Prior, scope.Acts)) > 0
}

// MissesRefresh reports whether an object without an entry exists, by the answer about it, and a subscribed
// resource was or will be acted on: nobody has notified it, and it may run with what those were before.
func MissesRefresh(s *Step, answer protocol.Answer, scope Scope) bool {
	return s.Type.Refresh && s.Intent == protocol.Present && (answer.Status == protocol.Valid || answer.StaleState != nil) &&
		len(refresh.Owed(s.Subscribes, state.Entry{}, scope.Prior, scope.Acts)) > 0
}

// Notification is the note about an input with Refresh: which of the subscribed resources were acted on.
func Notification(s *Step, entry *state.Entry, scope Scope) *reason.Reason {
	return reason.New(reason.Notified, refresh.Owed(s.Subscribes, *entry, scope.Prior, scope.Acts)...)
}

// Rotation is the note about an object that may have other secrets than those of now; nil = there is none. Of an
// object that was VALID once and is to be updated, the changed inputs report it.
func Rotation(s *Step, o Observation, wasValid bool) *reason.Reason {
	names := strings.Join(o.Answer.Rotated, ", ")
	switch {
	case o.Change == Valid && s.Type.Refresh:
		return reason.New(reason.SecretKept, names)
	case o.Change == Valid:
		return reason.New(reason.SecretUntold, names)
	case o.Change == Update && !wasValid:
		return reason.New(reason.SecretRotated, names)
	}
	return nil
}

// changed lists the JSON pointers of the values in a config that differ from those in the
// config that was last VALID, are new, or are gone; sorted. It lists nothing where no
// config was VALID.
func changed(before, now json.RawMessage) []string {
	was, err := jsondoc.Value(before)
	is, wrong := jsondoc.Value(now)
	if len(before) == 0 || err != nil || wrong != nil {
		return nil
	}
	left, right := leaves(was), leaves(is)
	var out []string
	for pointer, value := range right {
		if had, there := left[pointer]; !there || had != value {
			out = append(out, pointer)
		}
	}
	for pointer := range left {
		if _, there := right[pointer]; !there {
			out = append(out, pointer)
		}
	}
	slices.Sort(out)
	return out
}

// leaves returns the JSON text of each leaf of a document, by its pointer.
func leaves(tree any) map[string]string {
	out := map[string]string{}
	jsondoc.Leaves(tree, func(path []string, leaf any) {
		text, _ := json.Marshal(leaf) // cannot fail: the leaf came from JSON
		out[jsondoc.JoinPointer(path)] = string(text)
	})
	return out
}
