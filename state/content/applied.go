package content

import (
	"maps"
	"slices"
	"time"

	"deployster/state/actions"
)

// Applied is a recorded run.
type Applied struct {
	Plan   string    `json:"plan"` // the id of the plan, which is applied once
	Run    string    `json:"run"`  // the id of this run
	At     time.Time `json:"at"`
	Status Status    `json:"status"`
	Watch  bool      `json:"watch,omitempty"`  // it was a repair by `deployster watch`
	Serial uint64    `json:"serial,omitempty"` // of the state with this run; none = it is not known
	Rounds []string  `json:"rounds,omitempty"` // the ids of the plans of its later rounds
	// By is who applied it, and with which command; none = it is not known.
	By actions.By `json:"by,omitzero"`
	// InFlight are the actions that were running when the process was killed.
	InFlight []InFlight `json:"in_flight,omitempty"`
	// Done are the resources that a killed run had recorded, with the Pin of each, "" =
	// removed. Moved reports that it had made the moves of its plan. A command that resumes
	// the plan does not repeat them.
	Done  map[string]string `json:"done,omitempty"`
	Moved bool              `json:"moved,omitempty"`
	// Begun are the resources on which a killed run had started an action, and Failed those
	// that had failed in it: from them a command that resumes the plan knows the begun and
	// the failed hosts.
	Begun  []string `json:"begun,omitempty"`
	Failed []string `json:"failed,omitempty"`
}

// Status is how a run ended.
type Status string

// The statuses. StatusIncomplete is of a run that has left something, in which nothing failed;
// StatusInterrupted is of a run that stopped by itself on a signal;
// StatusDied is of one whose process was killed, so that its plan can be resumed.
const (
	StatusOK          Status = "ok"
	StatusIncomplete  Status = "incomplete"
	StatusError       Status = "error"
	StatusInterrupted Status = "interrupted"
	StatusDied        Status = "died"
)

// MaxApplied is how many runs a state file keeps.
const MaxApplied = 100

// InFlight is an action that was started and whose end was not recorded.
type InFlight struct {
	Address string    `json:"address"`
	Action  string    `json:"action"`
	Key     string    `json:"idempotency_key,omitempty"`
	Started time.Time `json:"started"`
}

// WasApplied reports whether a plan was applied to this state already, completely or in
// part, and returns its last run.
func (s Snapshot) WasApplied(plan string) (Applied, bool) {
	for _, a := range slices.Backward(s.Applied) {
		if a.Plan == plan {
			return a, true
		}
	}
	return Applied{}, false
}

// Died returns the last run of a plan if its process was killed, including everything
// that this run and those that it resumed had recorded. false = the plan was not applied,
// or its run ended by itself.
func (s Snapshot) Died(plan string) (Applied, bool) {
	last, was := s.WasApplied(plan)
	if !was || last.Status != StatusDied {
		return Applied{}, false
	}
	last.Done, last.Begun, last.Failed = map[string]string{}, nil, nil
	for _, a := range s.Applied {
		if a.Plan == plan {
			maps.Copy(last.Done, a.Done)
			last.Moved = last.Moved || a.Moved
			last.Begun, last.Failed = append(last.Begun, a.Begun...), append(last.Failed, a.Failed...)
		}
	}
	return last, true
}
