package change

import (
	"errors"
	"slices"
	"time"

	"deployster/internal/base/secret"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/plan/observe"
	"deployster/plan/reason"
	"deployster/protocol"
	"deployster/state/moves"
)

// Target returns what a client needs to run the step's image for an address.
func (s *Step) Target(addr string) typeclient.Target {
	name, _ := moves.RecordedAt(addr)
	return typeclient.Target{
		Address: addr, Name: name, Reference: s.Type, Digest: s.Init.Digest, Settings: s.Settings, Mounts: s.Mounts, Pull: s.Pull,
		Verify: s.Verify, StateTimeout: time.Duration(s.Timeouts.State), ActionTimeout: time.Duration(s.Timeouts.Action),
		Sensitive: s.Sensitive,
	}
}

// Secrets returns the sensitive values in the config.
func (s *Step) Secrets() []string { return secret.Values(s.Config, s.Sensitive) }

// Answered returns the status that the image answered when the plan was made; "" =
// it was not queried, or the change does not show it.
func (s *Step) Answered() protocol.Status {
	switch s.Change() {
	case observe.Valid:
		return protocol.Valid
	case observe.Create, observe.Publish:
		return protocol.Missing
	case observe.Update, observe.Destroy:
		return protocol.Stale
	}
	return ""
}

// Intent returns what the image is queried for: that the object is absent, or present.
func (s *Step) Intent() protocol.Intent {
	if s.Change() == observe.Destroy {
		return protocol.Absent
	}
	return protocol.Present
}

// Absent returns a step that requires the absence of the object.
func (s *Step) Absent() *Step {
	absent := *s
	absent.Part = &Destroy{}
	return &absent
}

// Gone reports whether an undeclared object is forgotten because its image answered that
// it does not exist. For other objects that are forgotten no image is queried for the state.
func (s *Step) Gone() bool { return s.Change() == observe.Forget && s.Init.Absent }

// Flexible reports whether apply may find other actions than the plan shows,
// because the plan itself reported that it could not know, or will query it again.
func (s *Step) Flexible() bool {
	return s.Change() == observe.Deferred || s.Change() == observe.Replace || s.Certainty.Open()
}

// Undescribed reports whether no machine could run the init of the step's type when the plan was made. Apply runs it.
func (s *Step) Undescribed() bool {
	return s.Init.Reference != "" && s.Init.Digest == "" && !s.Publishes
}

// Settled reports whether a resource matches its config, whatever the plan does to others.
func (s *Step) Settled() bool { return s.Change() == observe.Valid && !s.Certainty.Open() }

// Quiet reports whether there is nothing to show of a step: its resource and its
// address stay unchanged.
func (s *Step) Quiet() bool {
	return s.Change() == observe.Valid && s.Certainty != MayChange && !s.Adopted() && s.MovedFrom == "" && len(s.Edited())+len(s.Notes) == 0
}

// Adopts reports whether apply only records a resource: it exists and matches its config,
// and the state file has no complete entry of it.
func (s *Step) Adopts() bool {
	return s.Change() == observe.Valid && s.Adopted() && s.Certainty != MayChange
}

// DestroysAdopted reports whether apply destroys what deployster did not create, also to
// create it again.
func (s *Step) DestroysAdopted() bool {
	return s.NotCreated() || s.Old() != nil && s.Old().NotCreated()
}

// Kind returns the kind of change that somebody has to approve: a change with an action
// that destroys the existing object is a replacement.
func (s *Step) Kind() observe.Change {
	switch s.Part.(type) {
	case *Create, *Update, *Deferred:
		if a := s.Answer(); protocol.Destructive(a.Shutdown, a.Actions) != "" {
			return observe.Replace
		}
	}
	return s.Change()
}

// Shown returns the change as it is shown to people and counted.
func (s *Step) Shown() observe.Change {
	if s.Change() == observe.Update {
		return s.Kind()
	}
	return s.Change()
}

// OrLeft returns the error of the query of an object that is to be removed. If its image may not have
// the whole machine any more, it returns the step, which leaves the object, instead.
func (s *Step) OrLeft(why *reason.Reason, err error) (*Step, error) {
	refused, ok := errors.AsType[*runner.MachineError](err)
	if !ok {
		return nil, err
	}
	s.Part, s.Reason = &Left{}, why.With(reason.New(reason.KeptConfined, refused.Why))
	return s, nil
}

// Remarks returns the notes without those on automatic edges: these are an order, as of depends_on.
func (s *Step) Remarks() []*reason.Reason {
	return slices.DeleteFunc(slices.Clone(s.Notes), func(n *reason.Reason) bool {
		return n.Code == reason.AutoEdge || n.Code == reason.ProvidedEdge
	})
}
