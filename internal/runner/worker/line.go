package worker

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
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

// decode reads a reply. Usual ones are read by hand: there are two for each
// invocation.
func decode(line []byte) (r protocol.WorkerReply, err error) {
	usual := true
	if jsondoc.Members(line, func(key string, value json.RawMessage) {
		usual = usual && member(&r, key, value)
	}) && usual {
		return r, nil
	}
	r = protocol.WorkerReply{}
	if err := jsondoc.Check(line); err != nil {
		return r, err
	}
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	err = d.Decode(&r)
	return r, err
}

// member takes one member of a reply, or says that it takes more to read it.
func member(r *protocol.WorkerReply, key string, value json.RawMessage) bool {
	switch key {
	case "id":
		id, err := strconv.ParseInt(string(value), 10, 64)
		r.ID = id
		return err == nil
	case "stdout":
		r.Stdout = jsondoc.Text(value)
		return value[0] == '"'
	case "stderr":
		r.Stderr = jsondoc.Text(value)
		return value[0] == '"'
	case "exit":
		code, err := strconv.Atoi(string(value))
		r.Exit = &code
		return err == nil
	}
	return false
}

// encode gives the line that asks for an invocation.
func encode(id int64, s runner.Spec) ([]byte, error) {
	stdin := bytes.TrimSpace(s.Stdin)
	if bytes.IndexByte(stdin, '\n') >= 0 || len(stdin) > 0 && jsondoc.Check(stdin) != nil {
		line, err := jsondoc.Encode(protocol.WorkerRequest{ID: id, Args: s.Args, Stdin: stdin})
		return append(line, '\n'), err
	}
	line := strconv.AppendInt(append(make([]byte, 0, len(stdin)+64), `{"id":`...), id, 10)
	for i, arg := range s.Args {
		if i == 0 {
			line = append(line, `,"args":[`...)
		} else {
			line = append(line, ',')
		}
		line = jsondoc.AppendText(line, arg)
	}
	if len(s.Args) > 0 {
		line = append(line, ']')
	}
	if len(stdin) > 0 {
		line = append(append(line, `,"stdin":`...), stdin...)
	}
	return append(line, '}', '\n'), nil
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
