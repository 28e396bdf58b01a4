package protocol

import (
	"encoding/json"

	"deployster/protocol/internal/jsonvalue"
)

// Remember sets the memory of this resource, such as the id that another program has
// chosen: anything that encodes as JSON, except null. Deployster keeps it with the state,
// shows it to nobody, and sends it again as c.Memory. What an action sets is recorded
// before the action's end is; what Read sets is recorded when the answer is VALID. Only
// types with About.Memory have a memory.
func (c *Call[C, S]) Remember(v any) error {
	said, err := jsonvalue.Encode(v)
	if err == nil {
		c.said = said
	}
	return err
}

// Forget clears the memory of this resource. It is for actions: one that fails before
// it has created anything calls it.
func (c *Call[C, S]) Forget() { c.said = json.RawMessage("null") }

// Recall decodes the recorded memory into v, and reports whether there is one.
func (c *Call[C, S]) Recall(v any) (bool, error) {
	if len(c.Memory) == 0 {
		return false, nil
	}
	return true, jsonvalue.Decode(c.Memory, v, false)
}

// memory returns the memory that an action prints, or nil for none. Without a call of
// Remember or Forget, a successful action keeps the memory as it was, or clears it if it
// deleted the object; after a failed action the memory is unknown, so none is printed.
func (c *Call[C, S]) memory(action string, failed bool) json.RawMessage {
	switch {
	case c.said != nil:
		return c.said
	case failed:
		return nil
	case action == deleteAction || len(c.Memory) == 0:
		return json.RawMessage("null")
	}
	return c.Memory
}

// remembered returns the memory for the answer to state; nil means none.
func (c *Call[C, S]) remembered() json.RawMessage {
	if string(c.said) == "null" {
		return nil
	}
	return c.said
}
