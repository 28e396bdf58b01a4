package compare

import (
	"encoding/json"
	"slices"

	"deployster/plan"
	"deployster/protocol"
)

// Approved reports which actions may be run for a step.
type Approved struct {
	Actions   []protocol.Action
	Shutdown  *protocol.Action
	Confirmed bool // a person has approved exactly this
	Removal   bool // it is of a removal, which may destroy less than was shown
}

// Shown returns what a plan has shown of a step.
func Shown(step *plan.Step) Approved {
	return Approved{Actions: step.Answer().Actions, Shutdown: step.Answer().Shutdown, Removal: step.Intent() == protocol.Absent}
}

// Covers reports whether an answer needs exactly the approved actions, and no other shutdown_first.
func (a Approved) Covers(found protocol.Answer) bool {
	return len(a.Actions) > 0 && slices.EqualFunc(a.Actions, found.Actions, a.allows) && a.coversShutdown(found.ShutdownFirst)
}

// Rest reports whether the actions in an answer are the last of those that were approved, as the
// others are done. Its shutdown_first, if any, must have been approved too.
func (a Approved) Rest(answer protocol.Answer) bool {
	done := len(a.Actions) - len(answer.Actions)
	if done <= 0 {
		return false
	}
	a.Actions = a.Actions[done:]
	return a.Covers(answer)
}

// allows reports whether an action may be run as one that was shown. A removal that destroys less
// than was shown is one of them: others that it would have taken along may be removed before it.
func (a Approved) allows(shown, found protocol.Action) bool {
	found.Destructive = found.Destructive || a.Removal && shown.Destructive
	return sameAction(shown, found)
}

// EffectsOf returns the effects of an action as they were shown. They are its own if it was not
// shown, and may be run without that.
func (a Approved) EffectsOf(found protocol.Action) json.RawMessage {
	shown := a.Actions
	if a.Shutdown != nil {
		shown = slices.Concat(shown, []protocol.Action{*a.Shutdown})
	}
	if i := slices.IndexFunc(shown, func(one protocol.Action) bool { return a.allows(one, found) }); i >= 0 {
		return shown[i].Effects
	}
	return found.Effects
}

// coversShutdown reports whether a shutdown_first was approved. To run none needs
// no approval.
func (a Approved) coversShutdown(found *protocol.Action) bool {
	return found == nil || a.Shutdown != nil && sameAction(*found, *a.Shutdown)
}

// SameActions reports whether two lists would run the same. Descriptions may differ:
// images put the time of day in them. Effects are for the types to compare.
func SameActions(a, b []protocol.Action) bool {
	return slices.EqualFunc(a, b, sameAction)
}

func sameAction(a, b protocol.Action) bool {
	return SameButArguments(a, b) && slices.Equal(a.Args, b.Args)
}

// SameButArguments reports whether two actions differ in their arguments at the most.
func SameButArguments(a, b protocol.Action) bool {
	return a.Name == b.Name && a.Destructive == b.Destructive && a.Image == b.Image && a.Entrypoint == b.Entrypoint
}
