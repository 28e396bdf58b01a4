package protocol

import "encoding/json"

// Remember says what must not be forgotten of this resource, such as the id that
// another program has chosen: anything that encodes as JSON, but null. Deployster keeps it
// with the state, shows it to nobody, and tells it again as c.Memory. In an
// action it is on record before the action's end is; in Read it is recorded
// when the answer is VALID. It is for types with About.Memory.
func (c *Call[C, S]) Remember(v any) error {
	said, err := encode(v)
	if err == nil {
		c.said = said
	}
	return err
}

// Forget says that nothing is there any more that must not be forgotten. It is for
// actions: one that fails before it has made anything says so with it.
func (c *Call[C, S]) Forget() { c.said = json.RawMessage("null") }

// Recall reads what was remembered into v, and reports whether there is anything.
func (c *Call[C, S]) Recall(v any) (bool, error) {
	if len(c.Memory) == 0 {
		return false, nil
	}
	return true, decode(c.Memory, v, false)
}

// memory is what an action says of its memory, nil for nothing: one that did well and
// did not speak of it leaves it as it was, or has removed the thing. What is there
// after one that failed nobody knows.
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

// remembered is what an answer to state says of the memory.
func (c *Call[C, S]) remembered() json.RawMessage {
	if string(c.said) == "null" {
		return nil
	}
	return c.said
}
