package planpage

import (
	"deployster/internal/base/diag"
	"deployster/plan"
)

// kind is a change of a resource as the page shows it.
type kind struct {
	Class text
	Sign  text
	Word  text // of one resource
	many  text // of several: "3 to create"
	hint  text
	is    func(*plan.Step) bool
}

// changeIs returns a function that reports whether a step has a change, or is expected to have it.
func changeIs(c plan.Change) func(*plan.Step) bool {
	return func(s *plan.Step) bool { return s.Expected() == c || s.Expected() == "" && s.Shown() == c }
}

// kinds are all kinds, in the order in which the page shows them. The kind of a step is
// the first one that applies.
var kinds = []kind{
	{"read_failed", "!", "failed", "failed", "it could not be planned: the plan cannot be applied", changeIs(plan.ReadFailed)},
	{"create", "+", "create", "to create", "it does not exist yet", changeIs(plan.Create)},
	{"update", "~", "update", "to update", "it exists, and differs from what is declared", changeIs(plan.Update)},
	{"replace", "±", "replace", "to replace", "it is destroyed, then created", changeIs(plan.Replace)},
	{"destroy", "−", "destroy", "to destroy", "it is no longer declared, and its type destroys it", changeIs(plan.Destroy)},
	{"forget", "·", "forget", "to forget", "it is dropped from the state file, and not destroyed", changeIs(plan.Forget)},
	{"publish", "»", "publish", "to publish", "what it is made of is new, or has changed", changeIs(plan.Publish)},
	{"record", "↓", "record", "to record", "what was found goes into the state file", changeIs(plan.Record)},
	{"adopt", "↓", "adopt", "to adopt", "it exists already, and is recorded from now on", (*plan.Step).Adopts},
	{"deferred", "?", "deferred", "deferred", "its state is known once its dependencies exist", changeIs(plan.Deferred)},
	{"may_change", "?", "may change", "may change", "what it depends on changes: what is shown is an expectation",
		func(s *plan.Step) bool { return s.Change() == plan.Valid && s.Certainty == plan.MayChange }},
	{"left", "·", "leave", "to leave as recorded", "nothing is done to it", changeIs(plan.Left)},
	{"valid", "=", "unchanged", "unchanged", "it matches the configuration", changeIs(plan.Valid)},
}

func kindOf(s *plan.Step) kind {
	for _, k := range kinds {
		if k.is(s) {
			return k
		}
	}
	return kind{Sign: "?", Word: text(diag.Visible(string(s.Change())))}
}

// trait is a property of a resource besides its change.
type trait struct {
	Class text // for the filter
	Word  text
	Hint  text
	is    func(*plan.Step) bool
	quiet bool // it is shown at its resources, and has no chip: a kind with the same word has one
}

var traits = []trait{
	{"expected", "expected", "it is decided once its dependencies exist", func(s *plan.Step) bool { return s.Expected() != "" }, false},
	{"may-change", "may change", "a dependency changes: what is shown is an expectation",
		func(s *plan.Step) bool { return s.Certainty == plan.MayChange && s.Change() != plan.Valid }, true},
	{"early", "queried early", "its image was queried before what it waits for is done, and is queried again at its turn",
		func(s *plan.Step) bool { return s.Certainty == plan.Early }, false},
	{"drifted", "drifted", "changed outside of deployster since the last apply",
		func(s *plan.Step) bool { return s.Drifted() }, false},
	{"not-created", "not created by deployster", "deployster did not create what is destroyed: it existed before",
		(*plan.Step).DestroysAdopted, false},
	{"adopted", "adopted", "it exists already, and the state file does not know it",
		func(s *plan.Step) bool { return s.Adopted() && !s.Adopts() }, false},
	{"moved", "moved", "it has another address in the state file", func(s *plan.Step) bool { return s.MovedFrom != "" }, false},
	{"made-first", "made first", "it is made before the old one is destroyed", func(s *plan.Step) bool { return s.Replaces != "" }, false},
	{"deposed", "deposed", "it has lost its address to another object", func(s *plan.Step) bool { return s.Deposed != "" }, false},
	{"trusted", "not refreshed", "its recorded state was used", func(s *plan.Step) bool { return s.Unrefreshed() }, false},
	{"read-only", "read only", "its actions are never run", func(s *plan.Step) bool { return s.ReadOnly }, false},
	{"protected", "protected", "prevent_destroy: a plan that would destroy it is an error",
		func(s *plan.Step) bool { return s.Protect }, false},
}
