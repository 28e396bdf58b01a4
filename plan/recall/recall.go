package recall

import (
	"encoding/json"

	"deployster/protocol"
	"deployster/state"
)

// Tell puts into an input what the state file knows of the thing at an address. What
// the type did not ask for is left out when the input is written.
func Tell(in *protocol.StateInput, s state.Snapshot, addr string) {
	e := s.Resources[addr]
	in.LastState, in.Memory, in.Unsettled = e.State, e.Memory, s.Unsettled[addr].Names()
}

// Input is what is asked about the thing at an address, as it is recorded.
func Input(s state.Snapshot, addr string, config json.RawMessage, intent protocol.Intent,
	deps map[string]protocol.Dependency) protocol.StateInput {
	in := protocol.StateInput{Config: config, Intent: intent, Dependencies: deps}
	Tell(&in, s, addr)
	return in
}
