package typeclient

import (
	"encoding/json"
	"errors"
	"fmt"

	"deployster/internal/base/jsondoc"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/answers"
	"deployster/protocol"
)

// MaxMemory is the size limit of a resource's memory, in bytes.
const MaxMemory = answers.MaxMemory

// maxActionAnswer is the size limit of an action's answer: a memory, and the object
// around it.
const maxActionAnswer = MaxMemory + 64

// Said returns the memory in the answer of an action. A memory of null means that
// nothing exists any more. silent reports that the type has a memory but the action
// printed no valid answer: then it is unknown what the action made.
func Said(ty protocol.Type, r runner.Result) (memory json.RawMessage, silent bool) {
	if !ty.Memory {
		return nil, false
	}
	memory, err := ReadSaid(r.Stdout)
	return memory, err != nil
}

// ReadSaid parses the answer that an action of a type with a memory has printed on stdout.
func ReadSaid(stdout []byte) (json.RawMessage, error) {
	if len(stdout) == 0 {
		return nil, errors.New("it printed nothing on stdout, and must print {\"memory\": ...}")
	}
	if len(stdout) > maxActionAnswer {
		return nil, fmt.Errorf("it printed more than %d bytes", maxActionAnswer)
	}
	f, err := answers.ReadFields(stdout)
	if err != nil {
		return nil, err
	}
	memory := f.Value("memory")
	if memory == nil {
		f.Problem("\"memory\" is missing")
	}
	if len(memory) > MaxMemory {
		f.Problem("\"memory\" has %d bytes, and may have at most %d", len(memory), MaxMemory)
	}
	f.Done()
	if *f.First != nil {
		return nil, *f.First
	}
	return memory, nil
}

// saidError returns the error of an action that ended with exit code zero but did not
// report its memory.
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
		"What action %s of image %s printed on stdout is invalid: %s. Its type has a memory, so its result is unknown. The fault is in "+
			"the image: its answers are described in docs/protocol.md.", oneLine(k.step), oneLine(k.target.Reference), pe.Message)
}

// Forgotten returns a message without the memory in it, for records and for people. It
// returns nil for a message that is not an object, as it may be a part of one.
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
