package typeclient

import (
	"encoding/json"
	"errors"
	"fmt"

	"deployster/internal/base/jsondoc"
	"deployster/internal/runner"
	"deployster/protocol"
)

// MaxMemory is how long the memory of a resource may be, in bytes.
const MaxMemory = 4 << 20

// maxActionAnswer is how long the answer of an action may be: a memory, and the
// object around it.
const maxActionAnswer = MaxMemory + 64

// memory returns the memory in an answer; nil when there is none.
func (f *fields) memory() json.RawMessage {
	m := f.value("memory")
	switch {
	case string(m) == "null":
		f.problem("%q is null, and must be a value; what has no memory leaves it out", f.at("memory"))
	case len(m) > MaxMemory:
		f.problem("%q has %d bytes, and may have at most %d", f.at("memory"), len(m), MaxMemory)
	}
	return m
}

// Said returns the memory that an action has said, null when it said that there is
// nothing any more. silent reports that its type has a memory and that it said
// nothing of it: then nobody knows what it made.
func Said(ty protocol.Type, r runner.Result) (memory json.RawMessage, silent bool) {
	if !ty.Memory {
		return nil, false
	}
	memory, err := ReadSaid(r.Stdout)
	return memory, err != nil
}

// ReadSaid reads what an action of a type with a memory has printed on stdout.
func ReadSaid(stdout []byte) (json.RawMessage, error) {
	if len(stdout) == 0 {
		return nil, errors.New("it printed nothing on stdout, and must print {\"memory\": ...}")
	}
	if len(stdout) > maxActionAnswer {
		return nil, fmt.Errorf("it printed more than %d bytes", maxActionAnswer)
	}
	f, err := readFields(stdout)
	if err != nil {
		return nil, err
	}
	memory := f.value("memory")
	if memory == nil {
		f.problem("\"memory\" is missing")
	}
	if len(memory) > MaxMemory {
		f.problem("\"memory\" has %d bytes, and may have at most %d", len(memory), MaxMemory)
	}
	f.done()
	if *f.first != nil {
		return nil, *f.first
	}
	return memory, nil
}

// saidError is the error of an action that ended with exit code zero and said
// nothing of its memory.
func saidError(k call, r runner.Result) error {
	if !k.remembers || k.kind != runner.Action {
		return nil
	}
	_, err := ReadSaid(r.Stdout)
	if err == nil {
		return nil
	}
	pe := &ProtocolError{Message: oneLine(err.Error())}
	return fail(k, pe, "The image broke the protocol",
		"What action %s of image %s printed on stdout is invalid: %s. Its type has a memory, so what the action made is not known now. "+
			"The fault is in the image: its answers are described in docs/protocol.md.", oneLine(k.step), oneLine(k.target.Reference), pe.Message)
}

// Forgotten returns a message without the memory in it, for records and for people.
// What is no object may be a part of one, and is left out too.
func Forgotten(message []byte) []byte {
	members, err := jsondoc.Object(message)
	if err != nil {
		return nil
	}
	if _, there := members["memory"]; !there {
		return message
	}
	members["memory"] = json.RawMessage(`"(not shown)"`)
	cut, err := jsondoc.Encode(members)
	if err != nil {
		return nil
	}
	return append(cut, '\n')
}
