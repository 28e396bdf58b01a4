package planpage

import (
	"deployster/internal/base/diag"
	"deployster/plan"
)

// kind is how the page speaks of a change.
type kind struct {
	change plan.Change
	Class  text
	Sign   text
	Word   text // of one resource
	many   text // of several: "3 to create"
	hint   text
}

// kinds are all changes, in the order in which a person wants to see them.
var kinds = []kind{
	{plan.ReadFailed, "read_failed", "!", "not read", "could not be read", "asking its image failed: the plan cannot be applied"},
	{plan.Create, "create", "+", "create", "to create", "it does not exist yet"},
	{plan.Update, "update", "~", "update", "to update", "it exists, and differs from what is declared"},
	{plan.Replace, "replace", "±", "replace", "to replace", "it is destroyed and made again"},
	{plan.Destroy, "destroy", "−", "destroy", "to destroy", "it is no longer wanted, and its type removes it"},
	{plan.Forget, "forget", "·", "forget", "to forget", "it is dropped from the state file, and left as it is"},
	{plan.Record, "record", "↓", "record", "to record", "what was found goes into the state file"},
	{plan.Deferred, "deferred", "?", "deferred", "deferred", "it cannot be asked before what it depends on is there"},
	{plan.Left, "left", "·", "leave", "left as they are", "nothing is done to it"},
	{plan.Valid, "valid", "=", "unchanged", "unchanged", "it is as declared"},
}

func kindOf(c plan.Change) kind {
	for _, k := range kinds {
		if k.change == c {
			return k
		}
	}
	return kind{change: c, Sign: "?", Word: text(diag.Visible(string(c)))}
}

// trait is something that a resource is besides its change.
type trait struct {
	Class text // for the filter
	Word  text
	Hint  text
	is    func(*plan.Step) bool
}

var traits = []trait{
	{"may-change", "may change", "a dependency changes: what is shown is an expectation", func(s *plan.Step) bool { return s.MayChange }},
	{"drifted", "drifted", "it was right at the last apply, and was changed since by something else",
		func(s *plan.Step) bool { return s.Drifted }},
	{"adopted", "adopted", "it exists already, and the state file does not know it", func(s *plan.Step) bool { return s.Adopted }},
	{"moved", "moved", "it has another address in the state file", func(s *plan.Step) bool { return s.MovedFrom != "" }},
	{"trusted", "not asked", "its recorded state was used", func(s *plan.Step) bool { return s.Unrefreshed }},
	{"read-only", "read only", "its actions are never run", func(s *plan.Step) bool { return s.ReadOnly }},
	{"protected", "protected", "prevent_destroy: a plan that would destroy it is an error", func(s *plan.Step) bool { return s.Protect }},
}

// quiet reports whether nothing happens to a resource.
func quiet(s *plan.Step) bool { return s.Change == plan.Valid && !s.MayChange && s.MovedFrom == "" }
