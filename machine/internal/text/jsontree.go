package text

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/tailscale/hujson"

	"deployster/protocol"
)

// jsonTree is a JSON file with all its spacing and comments.
type jsonTree struct {
	path    string // of errors
	root    hujson.Value
	newline string
	empty   bool // the file has no text
	wide    bool // the values of the file are in lines of their own
	step    string
}

// parseJSON reads a file. Comments and trailing commas are accepted, since many programs do.
func parseJSON(path, content string) (*jsonTree, error) {
	t := &jsonTree{path: path, newline: "\n", step: "  ", wide: true}
	if strings.TrimSpace(content) == "" {
		t.empty = true
		t.root = hujson.Value{Value: &hujson.Object{}, AfterExtra: []byte("\n")}
		return t, nil
	}
	var err error
	if t.root, err = hujson.Parse([]byte(content)); err != nil {
		return nil, protocol.Errorf(protocol.ConfigError, "/path", "%s is not JSON: %s", path, strings.TrimPrefix(err.Error(), "hujson: "))
	}
	if strings.Contains(content, "\r\n") {
		t.newline = "\r\n"
	}
	if o, ok := t.root.Value.(*hujson.Object); ok && len(o.Members) > 0 {
		before := o.Members[0].Name.BeforeExtra
		if t.wide = bytes.ContainsRune(before, '\n'); t.wide {
			t.step = indentOf(before)
		}
	}
	return t, nil
}

// indentOf returns the blanks after the last newline.
func indentOf(space []byte) string {
	last := space[bytes.LastIndexByte(space, '\n')+1:]
	return string(last[:len(last)-len(bytes.TrimLeft(last, " \t"))])
}

func (t *jsonTree) String() string { return string(t.root.Pack()) }

func (t *jsonTree) fails(format string, args ...any) error {
	return protocol.Errorf(protocol.ConfigError, "/pointer", t.path+": "+format, args...)
}

func tokens(pointer string) []string {
	list := strings.Split(pointer, "/")[1:]
	for i := range list {
		list[i] = strings.ReplaceAll(strings.ReplaceAll(list[i], "~1", "/"), "~0", "~")
	}
	return list
}

// member returns the number of a member of an object; -1 = it has none.
func (t *jsonTree) member(o *hujson.Object, name string) (int, error) {
	at := -1
	for i, m := range o.Members {
		if m.Name.Value.(hujson.Literal).String() != name {
			continue
		}
		if at >= 0 {
			return 0, t.fails("the name %q is more than once in one object: remove all but one", name)
		}
		at = i
	}
	return at, nil
}

// object returns the object that is to hold the last name of a pointer, and how deep it is; nil =
// it does not exist, and the names left are those to be made in the returned one.
func (t *jsonTree) object(pointer string) (o *hujson.Object, left []string, depth int, err error) {
	left = tokens(pointer)
	at := &t.root
	for {
		switch v := at.Value.(type) {
		case *hujson.Object:
			if len(left) == 1 {
				return v, left, depth, nil
			}
			i, err := t.member(v, left[0])
			if err != nil || i < 0 {
				return v, left, depth, err
			}
			at = &v.Members[i].Value
		case *hujson.Array:
			if len(left) == 1 {
				return nil, nil, 0, t.fails("%s is in a list, whose elements have no lasting name: give the whole list as the value",
					pointer)
			}
			i, err := strconv.Atoi(left[0])
			if err != nil || i < 0 || i >= len(v.Elements) || strconv.Itoa(i) != left[0] {
				return nil, nil, 0, t.fails("%q in %s is in a list of %d elements, and is not one of them", left[0], pointer,
					len(v.Elements))
			}
			at = &v.Elements[i]
		default:
			return nil, nil, 0, t.fails("%q in %s is in a value that is neither an object nor a list", left[0], pointer)
		}
		left, depth = left[1:], depth+1
	}
}

// at returns the value at a pointer; nil = there is none.
func (t *jsonTree) at(pointer string) (*any, error) {
	o, left, _, err := t.object(pointer)
	if err != nil || len(left) > 1 {
		return nil, err
	}
	i, err := t.member(o, left[0])
	if err != nil || i < 0 {
		return nil, err
	}
	raw := o.Members[i].Value.Clone()
	raw.Standardize()
	decoder := json.NewDecoder(bytes.NewReader(raw.Pack()))
	decoder.UseNumber()
	var value any
	err = decoder.Decode(&value)
	return &value, err
}

// set sets the value at a pointer, and makes the objects on the way.
func (t *jsonTree) set(pointer string, value any) error {
	o, left, depth, err := t.object(pointer)
	if err != nil {
		return err
	}
	i, err := t.member(o, left[0])
	if err != nil {
		return err
	}
	for j := len(left) - 1; j > 0; j-- {
		value = map[string]any{left[j]: value}
	}
	indent := strings.Repeat(t.step, depth+1)
	if n := len(o.Members); n > 0 {
		if space := o.Members[max(i, 0)].Name.BeforeExtra; bytes.ContainsRune(space, '\n') {
			indent = indentOf(space)
		}
	}
	rendered, err := t.rendered(value, indent)
	if err != nil {
		return err
	}
	if i >= 0 {
		o.Members[i].Value.Value = rendered
		return nil
	}
	t.add(o, left[0], rendered, indent)
	return nil
}

// rendered returns a value as it is written in this file.
func (t *jsonTree) rendered(value any, indent string) (hujson.ValueTrimmed, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if t.wide {
		e.SetIndent(indent, t.step)
	}
	if err := e.Encode(value); err != nil {
		return nil, err
	}
	text := strings.ReplaceAll(strings.TrimSuffix(b.String(), "\n"), "\n", t.newline)
	v, err := hujson.Parse([]byte(text))
	return v.Value, err
}

// add adds a member at the end of an object, with the spacing of the one before it.
func (t *jsonTree) add(o *hujson.Object, name string, value hujson.ValueTrimmed, indent string) {
	m := hujson.ObjectMember{Name: hujson.Value{Value: hujson.String(name)}, Value: hujson.Value{Value: value}}
	wide, n := t.wide, len(o.Members)
	if n > 0 {
		last := &o.Members[n-1]
		m.Value.BeforeExtra = spaces(last.Value.BeforeExtra)
		wide = bytes.ContainsRune(last.Name.BeforeExtra, '\n')
		if last.Value.AfterExtra != nil { // a comma follows the last one
			m.Value.AfterExtra = []byte{}
		}
		if !wide {
			m.Name.BeforeExtra = spaces(last.Name.BeforeExtra)
			if n == 1 {
				m.Name.BeforeExtra = m.Value.BeforeExtra
			}
		}
	} else if t.wide {
		m.Value.BeforeExtra = []byte(" ")
	}
	if wide {
		// What stands before the closing brace is split at its last newline: comments stay above.
		head, tail := []byte(nil), []byte(t.newline+strings.TrimSuffix(indent, t.step))
		if i := bytes.LastIndex(o.AfterExtra, []byte(t.newline)); i >= 0 {
			head, tail = o.AfterExtra[:i], o.AfterExtra[i:]
		}
		m.Name.BeforeExtra = append(append(bytes.Clone(head), t.newline...), indent...)
		o.AfterExtra = bytes.Clone(tail)
	}
	o.Members = append(o.Members, m)
}

// spaces returns an extra if it has blanks alone.
func spaces(extra []byte) []byte {
	if len(bytes.TrimLeft(extra, " \t")) > 0 {
		return []byte(" ")
	}
	return bytes.Clone(extra)
}

// remove removes the member at a pointer, with the comments directly before it and in its line.
func (t *jsonTree) remove(pointer string) error {
	o, left, _, err := t.object(pointer)
	if err != nil || len(left) > 1 {
		return err
	}
	i, err := t.member(o, left[0])
	if err != nil || i < 0 {
		return err
	}
	before, after, last := o.Members[i].Name.BeforeExtra, &o.AfterExtra, i == len(o.Members)-1
	if !last {
		after = &o.Members[i+1].Name.BeforeExtra
	}
	if blank := len(bytes.TrimSpace(before))+len(bytes.TrimSpace(*after)) == 0; blank && !last {
		*after = before
	} else {
		kept, rest := lineComment(before), (*after)[len(lineComment(*after)):]
		if bytes.Contains(kept, []byte("//")) && !bytes.HasPrefix(rest, []byte(t.newline)) {
			kept = append(bytes.Clone(kept), t.newline...)
		}
		*after = append(bytes.Clone(kept), rest...)
	}
	if last && i > 0 { // whether a comma follows the last one
		o.Members[i-1].Value.AfterExtra = o.Members[i].Value.AfterExtra
	}
	o.Members = slices.Delete(o.Members, i, i+1)
	return nil
}

// lineComment returns the comment in the first line of an extra, which is about what is before it.
func lineComment(extra []byte) []byte {
	line := extra
	if i := bytes.IndexByte(extra, '\n'); i >= 0 {
		line = bytes.TrimSuffix(extra[:i], []byte("\r"))
	}
	if len(bytes.TrimSpace(line)) == 0 {
		return nil
	}
	return line
}
