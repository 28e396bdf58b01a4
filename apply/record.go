package apply

import (
	"deployster/apply/entries"
	"deployster/plan"
	"deployster/plan/observe"
	"deployster/protocol"
	"deployster/state"
)

// found is an object as it was seen now. sensitive are JSON pointers into its config.
func (r *stepRunner) found(o observe.Observation, sensitive []string) entries.Found {
	return entries.Found{State: o.Answer.State, Memory: o.Answer.Memory, Hidden: o.Hidden, Sensitive: sensitive,
		Seen: r.options.Now().UTC()}
}

// record makes the reached state durable, shows it to the dependants, and checks the
// postconditions.
func (r *stepRunner) record(step *plan.Step, out *outcome, in protocol.StateInput, found entries.Found) {
	if step.Intent() == protocol.Absent {
		if err := r.journal.Removed(out.Addr); err != nil {
			out.failJournal(err)
		}
		r.facts.SetGone(out.Addr)
		return
	}
	r.keep(step, out, in, found)
	r.postconditions(step, out)
}

// keep records a resource that was seen to be VALID.
func (r *stepRunner) keep(step *plan.Step, out *outcome, in protocol.StateInput, found entries.Found) {
	if found.Memory != nil {
		r.facts.SetMemory(out.Addr, found.Memory)
	}
	entry, differs := r.entries.Valid(step, out.Addr, in, found)
	r.facts.SetReached(out.Addr, viewOf(step, in, found), found.Sensitive)
	if r.facts.Acted(out.Addr) || differs { // else the entry is unchanged
		if err := r.journal.Valid(out.Addr, entry); err != nil {
			out.failJournal(err)
		}
	}
}

// viewOf returns the reached state as the dependants see it.
func viewOf(step *plan.Step, in protocol.StateInput, found entries.Found) observe.View {
	return observe.View{Type: step.Type, Config: in.Config, State: found.State, Status: protocol.Valid, Aliases: step.Aliases,
		Hidden: found.Hidden, Schema: step.Init.StateSchema}
}

// recordFound records what a plan with -refresh-only found and showed. It queries only resources in doubt again, and runs no action.
func (r *stepRunner) recordFound(step *plan.Step, out *outcome) {
	status, found := protocol.Stale, entries.Found{State: step.Answer().Stale, Sensitive: step.Sensitive, Hidden: step.Answer().Hidden,
		Seen: r.plan.Created}
	switch {
	case step.Answer().State != nil:
		status, found.State, found.Memory = protocol.Valid, step.Answer().State, step.Answer().Memory
		found.Hidden = r.queries.Hidden(step, out.Addr, step.Config, found.State, step.Sensitive)
	case step.Publishes:
		status = protocol.Missing // the artifact is not published
	}
	if r.queries.Doubts(out.Addr) {
		now, ok := r.still(step, out, status)
		if !ok {
			return
		}
		if found = r.found(now, step.Sensitive); status != protocol.Valid {
			found.State = now.Answer.StaleState
		}
	}
	out.Report.Status = OK
	if status == protocol.Valid {
		r.keep(step, out, protocol.StateInput{Config: step.Config}, found)
		return
	}
	entry, known := r.prior.Resources[out.Addr]
	if !known || entry.Incomplete() {
		return // such a plan records only what was VALID once
	}
	entry.Dirty = false
	entry.LastSeen = &state.LastSeen{State: found.State, Sensitive: found.Hidden, At: found.Seen}
	if err := r.journal.Valid(out.Addr, entry); err != nil {
		out.failJournal(err)
	}
}
