package agent

import (
	"encoding/binary"
	"errors"
	"strings"
)

const (
	// Layout changes with the format of the messages. A client uses no agent with another Layout.
	Layout = 2

	// MaxRequest is how many bytes a command line may have; the kernel accepts 2 MiB
	// including the environment.
	MaxRequest = 2 << 20

	// Files is how many files are sent with the request of a query: stdin, stdout and stderr.
	Files = 3

	// ActionFiles is how many files are sent with the request of an action: its stdin, plain files for its
	// stdout and stderr, and the file of its Record.
	ActionFiles = Files + 1

	headSize  = 4
	replySize = 8
)

// Kind is the kind of a Reply.
type Kind byte

// The kinds of replies, with the meaning of their value.
const (
	Ready   Kind = 'R' // the agent has begun; its Layout
	Started Kind = 'S' // the program has begun; its process number in the container
	Failed  Kind = 'F' // it could not be started; the kernel's error number
	Ended   Kind = 'E' // it has ended; its wait status
)

// Reply is a message of an agent. It answers a request with Failed, or with Started and
// then Ended.
type Reply struct {
	Kind  Kind
	Value uint32
}

// ReplySize is the length of each reply.
const ReplySize = replySize

func (r Reply) encode() []byte {
	b := make([]byte, replySize)
	b[0] = byte(r.Kind)
	binary.LittleEndian.PutUint32(b[4:], r.Value)
	return b
}

// DecodeReply reads a reply of ReplySize bytes. A reply that no agent sends is an error:
// its sender is not trusted any more.
func DecodeReply(b []byte) (r Reply, err error) {
	if len(b) != replySize || b[1] != 0 || b[2] != 0 || b[3] != 0 {
		return r, errReply
	}
	r = Reply{Kind(b[0]), binary.LittleEndian.Uint32(b[4:])}
	switch r.Kind {
	case Ready, Started, Failed, Ended:
		return r, nil
	}
	return Reply{}, errReply
}

var errReply = errors.New("what it printed is not a reply")

// EncodeRequest encodes the request for a command line. The files are sent with its
// first byte. Its errors report why no program can have such a command line.
func EncodeRequest(argv []string) ([]byte, error) {
	size := headSize
	for _, a := range argv {
		if strings.IndexByte(a, 0) >= 0 {
			return nil, errors.New("an argument has a zero byte")
		}
		size += len(a) + 1
	}
	if len(argv) == 0 || size-headSize > MaxRequest {
		return nil, errors.New("the command line is empty or too long")
	}
	b := make([]byte, headSize, size)
	binary.LittleEndian.PutUint32(b, uint32(size-headSize))
	for _, a := range argv {
		b = append(append(b, a...), 0)
	}
	return b, nil
}

// decodeArgs decodes what EncodeRequest has put after the head.
func decodeArgs(b []byte) (argv []string, ok bool) {
	if len(b) == 0 || b[len(b)-1] != 0 {
		return nil, false
	}
	return strings.Split(string(b[:len(b)-1]), "\x00"), true
}
