package typeclient

import (
	"encoding/json"
	"fmt"

	"deployster/internal/base/jsondoc"
	"deployster/protocol"
)

// The messages on stdin, key by key and in this order. Each message ends in a newline,
// so that a shell's `read` reads it as one line.

// stateV1 is the message of protocol 1. It has no newer keys, so that an old image
// which checks its input strictly accepts it.
type stateV1 struct {
	Name         string                  `json:"name"`
	Type         string                  `json:"type"`
	Config       json.RawMessage         `json:"config"`
	Dependencies map[string]dependencyV1 `json:"dependencies"`
}

type dependencyV1 struct {
	Name         string                  `json:"name"`
	Type         string                  `json:"type"`
	Config       json.RawMessage         `json:"config"`
	Properties   json.RawMessage         `json:"properties,omitempty"` // always for actions; otherwise if they are known
	Dependencies map[string]dependencyV1 `json:"dependencies"`
}

type actionV1 struct {
	stateV1
	actionPart
}

type stateV2 struct {
	protocol.InitInput
	Config       json.RawMessage          `json:"config"`
	Intent       protocol.Intent          `json:"intent"`
	LastState    json.RawMessage          `json:"last_state,omitempty"`
	After        []string                 `json:"after,omitempty"` // not for actions
	Memory       json.RawMessage          `json:"memory,omitempty"`
	Unsettled    []string                 `json:"unsettled,omitempty"`
	Unknown      []string                 `json:"unknown,omitempty"`
	Refresh      bool                     `json:"refresh,omitempty"`
	Changed      []string                 `json:"changed,omitempty"`
	Guards       bool                     `json:"guards,omitempty"`
	Host         *protocol.Host           `json:"host,omitempty"`
	Dependencies *map[string]dependencyV2 `json:"dependencies,omitempty"`
}

type dependencyV2 struct {
	Name    string          `json:"name"`
	Type    string          `json:"type"`
	Config  json.RawMessage `json:"config"`
	State   json.RawMessage `json:"state,omitempty"`
	Status  protocol.Status `json:"status,omitempty"`
	Actions []string        `json:"actions"`
}

type actionV2 struct {
	stateV2
	actionPart
}

type actionPart struct {
	Action         string          `json:"action"`
	StaleState     json.RawMessage `json:"staleState"`
	IdempotencyKey string          `json:"idempotency_key"`
	ShownEffects   json.RawMessage `json:"shown_effects,omitempty"`
}

// initAll is the stdin of init. Only its answer shows that an image speaks protocol 1, and the
// first such images read a config here. It is empty, as init runs before configs are known.
type initAll struct {
	protocol.InitInput
	Features     []string `json:"features"` // always: an older deployster has no such key
	Config       struct{} `json:"config"`
	Dependencies struct{} `json:"dependencies"`
}

func encodeInit(in protocol.InitInput) ([]byte, error) {
	return encode(initAll{InitInput: in, Features: protocol.Features})
}

// encodeDiscover returns the stdin of discover.
func encodeDiscover(in protocol.InitInput, config json.RawMessage) ([]byte, error) {
	return encode(struct {
		protocol.InitInput
		Config       json.RawMessage `json:"config"`
		Dependencies struct{}        `json:"dependencies"`
	}{InitInput: in, Config: orEmpty(config)})
}

func encodeState(ty protocol.Type, in protocol.StateInput) ([]byte, error) {
	if ty.Protocol == 1 {
		return encode(newStateV1(in, false))
	}
	return encode(newStateV2(ty, in))
}

func encodeAction(ty protocol.Type, in protocol.ActionInput) ([]byte, error) {
	if ty.Protocol == 1 {
		return encode(actionV1{newStateV1(in.StateInput, true), partOf(in)})
	}
	return encode(newActionV2(ty, in))
}

// encode sets the input of a query: as it is recorded, and as the image gets it.
func (k *call) encode(ty protocol.Type, in protocol.StateInput) (err error) {
	if k.stdin, err = encodeState(ty, in); err != nil || !k.grant.Needed() {
		return err
	}
	if in, err = k.grant.Filled(in); err != nil {
		return err
	}
	k.given, err = encodeState(ty, in)
	return err
}

// encodeAction sets the input of an action, as encode does.
func (k *call) encodeAction(ty protocol.Type, in protocol.ActionInput) (err error) {
	if k.stdin, err = encodeAction(ty, in); err != nil || !k.grant.Needed() {
		return err
	}
	if in.StateInput, err = k.grant.Filled(in.StateInput); err != nil {
		return err
	}
	k.given, err = encodeAction(ty, in)
	return err
}

func newActionV2(ty protocol.Type, in protocol.ActionInput) actionV2 {
	in.After = nil
	return actionV2{newStateV2(ty, in.StateInput), partOf(in)}
}

func partOf(in protocol.ActionInput) actionPart {
	return actionPart{Action: in.Action, StaleState: orEmpty(in.StaleState), IdempotencyKey: in.IdempotencyKey,
		ShownEffects: in.ShownEffects}
}

func newStateV1(in protocol.StateInput, properties bool) stateV1 {
	return stateV1{Name: in.Name, Type: in.Type, Config: orEmpty(in.Config), Dependencies: dependenciesV1(in.Dependencies, properties)}
}

func dependenciesV1(deps map[string]protocol.Dependency, properties bool) map[string]dependencyV1 {
	tree := make(map[string]dependencyV1, len(deps))
	for alias, d := range deps {
		one := dependencyV1{Name: d.Name, Type: d.Type, Config: orEmpty(d.Config), Dependencies: dependenciesV1(d.Dependencies, properties)}
		// Protocol 1 calls the state of a dependency its properties.
		if one.Properties = d.Properties; len(one.Properties) == 0 {
			one.Properties = d.State
		}
		if properties {
			one.Properties = orEmpty(one.Properties)
		}
		tree[alias] = one
	}
	return tree
}

func newStateV2(ty protocol.Type, in protocol.StateInput) stateV2 {
	two := stateV2{InitInput: in.InitInput, Config: orEmpty(in.Config), Intent: in.Intent, LastState: in.LastState, After: in.After,
		Guards: ty.Guard != nil, Host: in.Host}
	if ty.Refresh {
		two.Refresh, two.Changed = in.Refresh, in.Changed
	}
	if ty.Memory {
		two.Memory, two.Unsettled = in.Memory, in.Unsettled
	}
	if ty.Unknowns {
		two.Unknown = in.Unknown
	}
	if !ty.Dependencies {
		return two
	}
	deps := make(map[string]dependencyV2, len(in.Dependencies))
	for alias, d := range in.Dependencies {
		actions := d.Actions
		if actions == nil {
			actions = []string{}
		}
		deps[alias] = dependencyV2{Name: d.Name, Type: d.Type, Config: orEmpty(d.Config), State: d.State, Status: d.Status,
			Actions: actions}
	}
	two.Dependencies = &deps
	return two
}

func orEmpty(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("{}")
	}
	return raw
}

func encode(v any) ([]byte, error) {
	b, err := jsondoc.Encode(v)
	if err != nil {
		return nil, fmt.Errorf("its input is not valid JSON: %w", err)
	}
	return append(b, '\n'), nil
}
