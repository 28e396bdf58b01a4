package protocol

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// What a worker reads and writes most of the time is read and written here, by
// hand: requests as deployster writes them, replies of plain text, a state that
// is as the config wants it. What is not as usual is left to encoding/json.

// readRequest reads a line as deployster writes it. The request's stdin is a part
// of the line.
func readRequest(line []byte) (r WorkerRequest, ok bool) {
	rest, ok := bytes.CutPrefix(bytes.TrimSuffix(line, []byte("\n")), []byte(`{"id":`))
	if !ok || !bytes.HasSuffix(rest, []byte("}")) {
		return r, false
	}
	rest = rest[:len(rest)-1]
	end := bytes.IndexByte(rest, ',')
	if end <= 0 || rest[0] == '0' {
		return r, false
	}
	id, err := strconv.ParseUint(string(rest[:end]), 10, 63)
	if err != nil {
		return r, false
	}
	rest, ok = bytes.CutPrefix(rest[end:], []byte(`,"args":["`))
	if !ok {
		return r, false
	}
	arg, stdin, ok := bytes.Cut(rest, []byte(`"],"stdin":`))
	if !ok || !plain(arg) || !json.Valid(stdin) {
		return r, false
	}
	return WorkerRequest{ID: int64(id), Args: []string{string(arg)}, Stdin: stdin}, true
}

// plain reports whether a text stands in JSON as it is.
func plain(text []byte) bool {
	for _, c := range text {
		if c < ' ' || c >= 0x7f || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

// appendReply writes the line of a reply.
func appendReply(to []byte, r WorkerReply) ([]byte, error) {
	before := len(to)
	to = strconv.AppendInt(append(to, `{"id":`...), r.ID, 10)
	ok := true
	for _, out := range []struct{ key, text string }{{`,"stdout":"`, r.Stdout}, {`,"stderr":"`, r.Stderr}} {
		if out.text != "" && ok {
			to, ok = appendText(append(to, out.key...), out.text)
			to = append(to, '"')
		}
	}
	if !ok {
		line, err := encode(r)
		return append(append(to[:before], line...), '\n'), err
	}
	if r.Exit != nil {
		to = strconv.AppendInt(append(to, `,"exit":`...), int64(*r.Exit), 10)
	}
	return append(to, '}', '\n'), nil
}

// appendText writes what stands between the quotes of a text, or says that it
// takes more to write it.
func appendText(to []byte, text string) ([]byte, bool) {
	for i := range len(text) {
		switch c := text[i]; {
		case c == '"' || c == '\\':
			to = append(to, '\\', c)
		case c == '\n':
			to = append(to, '\\', 'n')
		case c < ' ' || c >= 0x7f:
			return to, false
		default:
			to = append(to, c)
		}
	}
	return to, true
}

// agree says that a state is, member by member, what a config comes to; no is
// maybe. All three are JSON: written is what the user wrote, full that with what
// stands there by default.
func agree(written, full, state []byte) bool {
	var config, have, user [maxMembers]member
	wants, ok := split(full, config[:0])
	if !ok {
		return false
	}
	has, ok := split(state, have[:0])
	if !ok {
		return false
	}
	wrote, ok := split(written, user[:0])
	if !ok {
		return false
	}
	for _, m := range wants {
		if got := find(has, m.key); string(m.value) != "null" && !bytes.Equal(got, m.value) {
			return false
		}
	}
	for _, m := range wrote {
		if string(m.value) != "null" && find(wants, m.key) == nil {
			return false // encoding leaves it out, or knows it by another name
		}
	}
	return true
}

// maxMembers is how many members a usual object has.
const maxMembers = 24

// member is one member of an object, as it stands there.
type member struct{ key, value []byte }

// find gives the value of the member of a key; nil = there is none.
func find(list []member, key []byte) []byte {
	for _, m := range list {
		if bytes.Equal(m.key, key) {
			return m.value
		}
	}
	return nil
}

// split takes an object apart that is valid JSON without blanks between its
// parts, of not too many members whose keys are plain and stand there once.
func split(object []byte, into []member) ([]member, bool) {
	if len(object) < 2 || object[0] != '{' {
		return nil, false
	}
	for at := 1; object[at] != '}'; {
		if object[at] == ',' {
			at++
		}
		if object[at] != '"' || len(into) == maxMembers {
			return nil, false
		}
		end := bytes.Index(object[at:], []byte(`":`))
		if end < 1 {
			return nil, false
		}
		key, from := object[at+1:at+end], at+end+2
		if at = skip(object, from); at <= from || !plain(key) || find(into, key) != nil {
			return nil, false
		}
		into = append(into, member{key, object[from:at]})
	}
	return into, true
}

// skip gives where a value ends, 0 when there are blanks in it.
func skip(text []byte, at int) int {
	depth := 0
	for ; at < len(text); at++ {
		switch text[at] {
		case '"':
			for at++; text[at] != '"'; at++ {
				if text[at] == '\\' {
					at++
				}
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth < 0 {
				return at
			}
		case ',':
			if depth == 0 {
				return at
			}
		case ' ', '\t', '\n', '\r':
			return 0
		}
	}
	return 0
}
