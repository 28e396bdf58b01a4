package typeclient

import (
	"encoding/json"
	"slices"
	"strings"

	"deployster/internal/base/jsondoc"
	"deployster/internal/base/secret"
	"deployster/internal/runtime/runner/typeschema"
	"deployster/protocol"
)

// places finds the sensitive places in the messages of one call.
type places struct {
	schemas typeschema.Reader
	states  json.RawMessage // the schema of the states
	config  []string        // pointers into the config
	none    bool            // no message of the call has a sensitive place
}

func newPlaces(schemas typeschema.Reader, states json.RawMessage, config []string) places {
	return places{schemas, states, config, len(config) == 0 && !typeschema.MayMark(states)}
}

// of returns the pointers into a state: to what its schema marks writeOnly, and to what the
// config has at a sensitive place.
func (p places) of(state json.RawMessage) []string {
	return append(p.schemas.WriteOnly(p.states, state), secret.Below(state, p.config)...)
}

// states are the keys of the messages that have a state, or a part of one.
func states() []string {
	return []string{"state", "staleState", "forecast", "last_state", "properties", "staleProperties"}
}

// secretsIn returns the sensitive values in an answer to the state step: those in the states,
// and those in the reasons, which may be in no state.
func (p places) secretsIn(answer []byte) (secrets []string) {
	if p.none {
		return nil
	}
	members, err := jsondoc.Object(answer)
	if err != nil {
		return nil
	}
	for _, name := range states() {
		secrets = append(secrets, secret.Values(members[name], p.of(members[name]))...)
	}
	everywhere := p.everywhere(members)
	for _, one := range reasonsOf(members) {
		for _, value := range []json.RawMessage{one.Have, one.Want} {
			secrets = append(secrets, secret.Values(value, p.inReason(one.Path, value, everywhere))...)
		}
	}
	return secrets
}

// everywhere returns the sensitive places of all states in a message, and of the config.
func (p places) everywhere(members map[string]json.RawMessage) []string {
	all := slices.Clone(p.config)
	for _, name := range states() {
		all = append(all, p.of(members[name])...)
	}
	return all
}

func reasonsOf(members map[string]json.RawMessage) (list []protocol.Reason) {
	_ = json.Unmarshal(members["reasons"], &list) // reasons that are not valid are refused
	return list
}

// inReason returns the sensitive places in a value of a reason: those that its path has in the message, and
// what the schema of the states marks there, also if no state of the message has it.
func (p places) inReason(path string, value json.RawMessage, everywhere []string) []string {
	doc, at := secret.Lone(path, value)
	return append(into(everywhere, path), into(p.schemas.WriteOnly(p.states, doc), at)...)
}

// into returns the pointers into the part at a path, if the pointers lead into it or to what
// it is a part of.
func into(pointers []string, path string) (inside []string) {
	for _, one := range pointers {
		switch {
		case one == path || strings.HasPrefix(path, one+"/"):
			return []string{""}
		case strings.HasPrefix(one, path+"/"):
			inside = append(inside, one[len(path):])
		}
	}
	return inside
}

// masked returns a message with its sensitive places masked, for records.
func (p places) masked(message []byte) []byte {
	if p.none {
		return message
	}
	members, err := jsondoc.Object(message)
	if err != nil {
		return message
	}
	everywhere := p.everywhere(members)
	for _, name := range states() {
		if part, there := members[name]; there {
			members[name] = secret.Mask(part, p.of(part))
		}
	}
	if config, there := members["config"]; there {
		members["config"] = secret.Mask(config, p.config)
	}
	if reasons := reasonsOf(members); len(reasons) > 0 {
		for i, one := range reasons {
			reasons[i].Have = secret.Mask(one.Have, p.inReason(one.Path, one.Have, everywhere))
			reasons[i].Want = secret.Mask(one.Want, p.inReason(one.Path, one.Want, everywhere))
			reasons[i].Path = secret.Cut(one.Path, everywhere)
		}
		if members["reasons"], err = json.Marshal(reasons); err != nil {
			return nil
		}
	}
	shown, err := jsondoc.Encode(members)
	if err != nil {
		return nil
	}
	return append(shown, '\n')
}
