package apply

import (
	"bytes"
	"encoding/json"
	"maps"
	"time"

	"deployster/config"
	"deployster/internal/base/secret"
	"deployster/plan"
	"deployster/plan/inputs"
	"deployster/plan/observe"
	"deployster/plan/refresh"
	"deployster/plan/things"
	"deployster/protocol"
	"deployster/state"
)

// record makes the reached state durable, shows it to the dependants, and checks the
// postconditions.
func (r *run) record(step *plan.Step, out *outcome, in protocol.StateInput, reached protocol.Answer, sensitive []string, seen time.Time) {
	if step.Intent() == protocol.Absent {
		if err := r.journal.Removed(out.addr); err != nil {
			out.failJournal(err)
		}
		r.facts.SetGone(out.addr)
		return
	}
	r.keep(step, out, in, reached, sensitive, seen)
	r.postconditions(step, out)
}

// keep records a resource that was seen to be VALID.
func (r *run) keep(step *plan.Step, out *outcome, in protocol.StateInput, reached protocol.Answer, sensitive []string, seen time.Time) {
	if reached.Memory != nil {
		r.facts.SetMemory(out.addr, reached.Memory)
	}
	entry := r.entry(step, out.addr, in, sensitive)
	entry.State, entry.ValidAt, entry.Seen = reached.State, seen.UTC(), r.prior.Resources[out.addr].Seen
	if !r.plan.Selection.RefreshOnly {
		entry.Seen = refresh.Seen(step.Subscribes, r.prior, r.facts.Acted)
	}
	entry.Given = inputs.Given(step.Init, in.Dependencies, r.facts.Host(step.Settings.Host))
	entry.Sensitive.State = r.hiddenIn(step, out.addr, in.Config, reached.State, sensitive)
	r.facts.SetReached(out.addr, observe.View{Type: step.Type, Config: in.Config, State: reached.State, Status: protocol.Valid,
		Aliases: step.Aliases, Hidden: entry.Sensitive.State, Schema: step.Init.StateSchema})
	prior, known := r.prior.Resources[out.addr]
	_, stopped := r.facts.AfterShutdown(out.addr)
	same := bytes.Equal(prior.Memory, entry.Memory) && maps.Equal(prior.Seen, entry.Seen) && maps.Equal(prior.Given, entry.Given) &&
		state.EntryHash(prior) == state.EntryHash(entry)
	if !known || out.acted || r.facts.IsGone(out.addr) || stopped || !same { // else the entry is unchanged
		if err := r.journal.Valid(out.addr, entry); err != nil {
			out.failJournal(err)
		}
	}
}

// entry returns an entry without a state: all that is needed to destroy a step's thing.
func (r *run) entry(step *plan.Step, addr string, in protocol.StateInput, sensitive []string) state.Entry {
	adopted := !r.facts.Created(addr) && !step.Publishes
	if was := recorded(r, step, addr); was != nil {
		in.Memory, adopted = was.Memory, adopted && was.Adopted
	}
	r.facts.TellMemory(&in, addr)
	return state.Entry{Memory: in.Memory, Adopted: adopted,
		Type: step.Type, Digest: step.Init.Digest, Config: observe.Recordable(r.exec, step.Init, in.Config),
		Dependencies: r.needs[addr], Aliases: step.Aliases, Settings: step.Settings, Mounts: step.Mounts,
		ReadOnly: step.ReadOnly, PreventDestroy: step.Protect, OnRemove: step.OnRemove,
		Identity: step.Init.Identity, Kind: step.Init.Kind, Defaults: things.Defaults(r.exec, step.Init, in.Config),
		StateTimeout: step.Timeouts.State, ActionTimeout: step.Timeouts.Action,
		Sensitive: state.Sensitive{Config: sensitive, Env: step.SecretEnv}}
}

// incomplete returns the entry that is recorded when the first action of a resource starts:
// if the action fails, or the process is killed, the thing that may exist then is not lost.
// nil = the resource has an entry already, or is to be removed.
func (r *run) incomplete(step *plan.Step, addr string, in protocol.StateInput, sensitive []string) *state.Entry {
	_, known := r.prior.Resources[addr]
	if known && !step.Another && !r.facts.IsGone(addr) || step.Intent() == protocol.Absent {
		return nil
	}
	entry := r.entry(step, addr, in, sensitive)
	return &entry
}

// hiddenIn returns the pointers into a state to values that must not be shown.
func (r *run) hiddenIn(step *plan.Step, addr string, made, reached json.RawMessage, sensitive []string) []string {
	secrets := append(secret.Values(made, sensitive), observe.SecretsOf(r.prior.Resources[addr])...)
	return observe.HiddenInState(r.exec, step.Init, reached, secrets, sensitive, config.Hider(r.manifest))
}

// recordFound records what a plan with -refresh-only found and showed. It asks only resources in doubt again, and runs no action.
func (r *run) recordFound(step *plan.Step, out *outcome) {
	found, hidden, at := protocol.Answer{Status: protocol.Stale, StaleState: step.Answer().Stale}, step.Answer().Hidden, r.plan.Created
	switch {
	case step.Answer().State != nil:
		found = protocol.Answer{Status: protocol.Valid, State: step.Answer().State, Memory: step.Answer().Memory}
	case step.Publishes:
		found.Status = protocol.Missing // the artifact is not published
	}
	if d := (doubts{r}); d.of(out.addr) {
		var ok bool
		if found, ok = d.still(step, out, found.Status); !ok {
			return
		}
		hidden, at = r.hiddenIn(step, out.addr, step.Config, found.StaleState, step.Sensitive), r.options.Now().UTC()
	}
	out.report.Status = OK
	if found.Status == protocol.Valid {
		r.keep(step, out, protocol.StateInput{Config: step.Config}, found, step.Sensitive, at)
		return
	}
	entry, known := r.prior.Resources[out.addr]
	if !known || entry.Incomplete() {
		return // such a plan records only what was VALID once
	}
	entry.Dirty = false
	entry.LastSeen = &state.LastSeen{State: found.StaleState, Sensitive: hidden, At: at}
	if err := r.journal.Valid(out.addr, entry); err != nil {
		out.failJournal(err)
	}
}
