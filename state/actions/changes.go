package actions

import (
	"slices"

	"deployster/internal/runtime/artifact"
)

// Started returns what is known after a process has started an action for a plan.
func (u Unsettled) Started(plan string, by By, a Attempt) Unsettled {
	was, before := u.Begun(), u.Was
	if was.Put != nil && !was.Put.NotBegun || was.Put == nil && u.Plan != plan && len(was.Actions) > 0 {
		before = &was
	}
	if u.Plan != plan {
		// The image was queried for the state again since the actions of an earlier plan.
		u = Unsettled{Plan: plan}
	}
	u.Put, u.Was, u.By = nil, before, by
	u.Actions = slices.DeleteFunc(slices.Clone(u.Actions), func(b Attempt) bool { return b.Key == a.Key && b.Action == a.Action })
	u.Actions = append(u.Actions, a)
	return u
}

// Ended returns what is known after the last matching open action has ended. A nil exit
// reports that it was not started at all; an empty key matches any. spoke reports that the
// action reported its memory.
func (u Unsettled) Ended(action, key string, exit *int, spoke bool) Unsettled {
	u.Actions = slices.Clone(u.Actions)
	for i, a := range slices.Backward(u.Actions) {
		if a.Action != action || !a.open() || key != "" && a.Key != key {
			continue
		}
		u.Actions[i].Silent = a.Silent && !spoke
		if u.Actions[i].Exit = exit; exit == nil {
			u.Actions = slices.Delete(u.Actions, i, i+1)
		}
		break
	}
	if u.Put != nil && u.Put.NotBegun {
		u = u.Begun()
	}
	return u
}

// Settled returns what is known after another process found out how an open action ended,
// and whether the action was open. A nil exit reports that it was never begun.
func (u Unsettled) Settled(key string, exit *int, spoke bool) (next Unsettled, open bool) {
	u.Actions, u.Held = slices.Clone(u.Actions), false
	for i, a := range u.Actions {
		if a.Key == key && a.open() {
			u.Actions[i].Exit, u.Actions[i].Silent = exit, a.Silent && !spoke
			open = true
		}
	}
	if exit == nil {
		u.Actions = slices.DeleteFunc(u.Actions, func(a Attempt) bool { return a.Key == key && a.open() })
	}
	return u, open
}

// Judged returns what is known after a person has stated how the open actions ended. The
// state of the resource is still unknown.
func (u Unsettled) Judged(as Verdict) Unsettled {
	u.Actions, u.Held = slices.Clone(u.Actions), false
	for i, a := range u.Actions {
		if as == Failed {
			u.Actions[i].Silent = false // it made nothing
		}
		if !a.open() && !u.wordless(a) {
			continue
		}
		if u.Actions[i].Said = as; as == Done {
			u.Actions[i].Exit = new(int)
		}
	}
	return u
}

// Answered returns what is known after the answer of a put was found out that another
// command began.
func (u Unsettled) Answered(answer *artifact.Put) Unsettled {
	if u.Put != nil && answer != nil {
		put := *u.Put
		put.Answer, u.Put = answer, &put
	}
	return u
}

// Left returns what stays unsettled: if no action is left, what was unknown before; false
// = nothing.
func (u Unsettled) Left() (Unsettled, bool) {
	switch {
	case len(u.Actions) > 0:
	case u.Was != nil:
		return *u.Was, true
	default:
		return u, false
	}
	return u, true
}
