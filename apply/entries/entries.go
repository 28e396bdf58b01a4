package entries

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"deployster/apply/query"
	"deployster/internal/runtime/artifact"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/plan"
	"deployster/plan/artifacts"
	"deployster/plan/inputs"
	"deployster/plan/objects"
	"deployster/plan/observe"
	"deployster/plan/refresh"
	"deployster/protocol"
	"deployster/state"
	"deployster/state/moves"
)

// Entries makes the entries of an apply. It is safe for concurrent use.
type Entries struct {
	known *query.Queries
	needs map[string][]string // the dependencies of each resource
	named []string            // resources that versions of artifacts have to pass
	news  map[string][]string // by subscribed resource: subscribers whose entries lack the subscription
}

// New returns the entries of an apply with what its queries know.
func New(known *query.Queries) *Entries {
	return &Entries{known: known, needs: known.Plan.Needs(), named: artifacts.PassedBy(known.Manifest.Artifacts()),
		news: refresh.UnrecordedSubscribers(known.Manifest, known.Prior)}
}

// Subscribers are the resources whose entries get their subscription to a resource with its next action.
func (e *Entries) Subscribers(addr string) []string { return e.news[addr] }

// Of returns an entry without a state: all that is needed to destroy a step's object.
func (e *Entries) Of(step *plan.Step, addr string, in protocol.StateInput, sensitive []string) state.Entry {
	facts, client := e.known.Facts, e.known.Client
	adopted := !facts.Created(addr) && !step.Publishes && !e.known.Brought(step)
	if was := e.known.Recorded(step, addr); was != nil {
		in.Memory, adopted = was.Memory, adopted && was.Adopted
	}
	facts.TellMemory(&in, addr)
	return state.Entry{Memory: in.Memory, Adopted: adopted,
		Type: step.Type, Digest: step.Init.Digest, Config: observe.Recordable(client, step.Init, in.Config),
		Dependencies: e.needs[addr], Aliases: step.Aliases, Settings: step.Settings, Mounts: step.Mounts,
		ReadOnly: step.ReadOnly, PreventDestroy: step.Protect, OnRemove: step.OnRemove,
		Identity: step.Init.Identity, Kind: step.Init.Kind, Defaults: objects.Defaults(client, step.Init, in.Config),
		StateTimeout: step.Timeouts.State, ActionTimeout: step.Timeouts.Action,
		Sensitive: state.Sensitive{Config: sensitive, Env: step.SecretEnv}}
}

// Incomplete returns the entry that is recorded when the first action of a resource starts:
// if the action fails, or the process is killed, the object that may exist then is not lost.
// nil = the resource has an entry already, or is to be removed. What an exclusive set destroys gets one too, so that
// another apply finds what this one began.
func (e *Entries) Incomplete(step *plan.Step, addr string, in protocol.StateInput, sensitive []string) *state.Entry {
	_, known := e.known.Prior.Resources[addr]
	if known && !step.OtherObject && !e.known.Facts.IsGone(addr) || step.Intent() == protocol.Absent && step.Exclusive == "" {
		return nil
	}
	entry := e.Of(step, addr, in, sensitive)
	entry.Passed = e.known.Prior.Resources[addr].Passed // also if another object takes the place of the recorded one
	return &entry
}

// Found is an object that was seen to be VALID.
type Found struct {
	State     json.RawMessage
	Memory    json.RawMessage // of its answer; nil = none
	Hidden    []string        // JSON pointers into State
	Sensitive []string        // JSON pointers into the config of the input
	Seen      time.Time
}

// Valid returns the entry of an object that was seen to be VALID, and whether it differs from the recorded one.
func (e *Entries) Valid(step *plan.Step, addr string, in protocol.StateInput, found Found) (entry state.Entry, differs bool) {
	prior, known := e.known.Prior.Resources[addr]
	facts := e.known.Facts
	entry = e.Of(step, addr, in, found.Sensitive)
	entry.State, entry.ValidAt, entry.Seen = found.State, found.Seen.UTC(), prior.Seen
	if !e.known.Plan.Selection.RefreshOnly {
		entry.Seen = refresh.Seen(step.Subscribes, e.known.Prior, facts.Acted)
	}
	entry.Given = inputs.Given(step.Init, in.Dependencies, facts.Host(step.Settings.Host))
	entry.Passed = e.passed(step, addr, prior.Passed)
	entry.Sensitive.State = found.Hidden
	if entry.Secrets = facts.Applied(addr); !facts.Acted(addr) && known && !step.OtherObject {
		entry.Secrets = prior.Secrets // VALID alone does not show which values the object has
	}
	_, stopped := facts.AfterShutdown(addr)
	same := bytes.Equal(prior.Memory, entry.Memory) && maps.Equal(prior.Seen, entry.Seen) && maps.Equal(prior.Given, entry.Given) &&
		slices.EqualFunc(prior.Passed, entry.Passed, state.Passed.Is) && state.EntryHash(prior) == state.EntryHash(entry)
	return entry, !known || facts.IsGone(addr) || stopped || !same
}

// Lost returns the entry of an object that was seen to be VALID, and did not stay so: no version has passed with it.
func (e *Entries) Lost(step *plan.Step, addr string, in protocol.StateInput, found Found) state.Entry {
	entry, _ := e.Valid(step, addr, in, found)
	entry.Passed = e.known.Prior.Resources[addr].Passed
	return entry
}

// passed returns the versions of artifacts that have passed a resource, with those that it was VALID with now. was are those before.
func (e *Entries) passed(step *plan.Step, addr string, was []state.Passed) []state.Passed {
	named := slices.ContainsFunc(e.named, func(by string) bool { return moves.Covers(by, addr) })
	if !named || step.Unrefreshed() || len(step.Ignored) > 0 || e.known.Plan.Selection.RefreshOnly {
		return was // in the last three cases the config that was VALID need not have the versions of the plan
	}
	return artifacts.Passes(was, e.known.Plan.Artifacts, e.known.Manifest.Resource(addr), step.Mounts)
}

// Bytes is the most bytes that an action may return to be recorded.
func Bytes(step *plan.Step, in protocol.StateInput) (most int64) {
	if step.Init.Memory {
		most += typeclient.MaxMemory
	}
	if step.Publishes {
		most += artifact.MaxPutAnswer + int64(len(in.Config))
	}
	return most
}
