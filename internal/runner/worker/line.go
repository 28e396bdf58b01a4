package worker

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"deployster/internal/base/diag"
	"deployster/internal/base/jsondoc"
	"deployster/internal/runner"
	"deployster/protocol"
)

// maxReply is the longest line that a worker may say, in bytes. Longer outputs
// come in pieces.
const maxReply = 32 << 20

func readLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		if len(line)+len(part) > maxReply {
			return nil, fmt.Errorf("it said a line of more than %d bytes", maxReply)
		}
		if line == nil && err == nil {
			return part, nil
		}
		line = append(line, part...)
		switch {
		case err == nil:
			return line, nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && len(bytes.TrimSpace(line)) > 0:
			return nil, io.EOF // it was cut off
		default:
			return nil, err
		}
	}
}

// decode reads a reply.
func decode(line []byte) (r protocol.WorkerReply, err error) {
	if err := jsondoc.Check(line); err != nil {
		return r, err
	}
	err = jsondoc.DecodeStrict(line, &r)
	return r, err
}

// encode returns the line that asks for an invocation.
func encode(id int64, s runner.Spec) ([]byte, error) {
	line, err := jsondoc.Encode(protocol.WorkerRequest{ID: id, Args: s.Args, Stdin: bytes.TrimSpace(s.Stdin), Waits: true})
	return append(line, '\n'), err
}

// cut is the beginning of a line, safe to show.
func cut(line []byte) string {
	const most = 200
	line = bytes.TrimSpace(line)
	if len(line) > most {
		return strings.ToValidUTF8(diag.Visible(string(line[:most])), "") + "..."
	}
	return diag.Visible(string(line))
}
