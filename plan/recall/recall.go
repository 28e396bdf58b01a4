package recall

import (
	"encoding/json"

	"deployster/protocol"
	"deployster/state"
)

// Tell puts into an input what the state file has of the thing at an address. Fields
// that the type did not ask for are left out when the input is written.
func Tell(in *protocol.StateInput, s state.Snapshot, addr string) {
	e := s.Resources[addr]
	in.LastState, in.Memory, in.Unsettled = e.State, e.Memory, s.Unsettled[addr].Names()
}

// Input returns the input of a state query about the thing at an address, with its entry.
func Input(s state.Snapshot, addr string, config json.RawMessage, intent protocol.Intent,
	deps map[string]protocol.Dependency) protocol.StateInput {
	in := protocol.StateInput{Config: config, Intent: intent, Dependencies: deps}
	Tell(&in, s, addr)
	return in
}
