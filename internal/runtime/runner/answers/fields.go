package answers

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"deployster/internal/base/jsondoc"
	"deployster/protocol"
)

// maxEntries limits the actions, reasons, plugs or dependencies in an answer: nobody
// would read more.
const maxEntries = 1000

// Fields reads the members of one object of an answer. It records the first problem and
// reads the rest as empty, so that its callers need no checks in between. done reports
// a problem for each member that was not read.
type Fields struct {
	path    string // of the object in the answer; "" = the answer itself
	members map[string]json.RawMessage
	known   map[string]bool
	First   *error // shared by all objects of an answer
}

// ReadFields parses a whole answer: exactly one JSON object and nothing else.
func ReadFields(answer []byte) (*Fields, error) {
	members, err := jsondoc.Object(answer)
	if err != nil {
		return nil, err
	}
	return &Fields{members: members, known: map[string]bool{}, First: new(error)}, nil
}

func (f *Fields) Problem(format string, args ...any) {
	if *f.First == nil {
		*f.First = fmt.Errorf(format, args...)
	}
}

func (f *Fields) at(key string) string {
	if f.path == "" {
		return key
	}
	return f.path + "." + key
}

// has reports whether a key exists, whatever its value.
func (f *Fields) has(key string) bool {
	f.known[key] = true
	return f.members[key] != nil
}

// get returns a member of the given JSON kind, and records a problem for other kinds.
func (f *Fields) get(key, kind string) json.RawMessage {
	if !f.has(key) {
		return nil
	}
	if is := jsondoc.KindOf(f.members[key]); is != kind {
		f.Problem("%q is %s, and must be %s", f.at(key), is, kind)
		return nil
	}
	return f.members[key]
}

// Text returns a string. If it is given, it must not be empty.
func (f *Fields) Text(key string) (s string) {
	if raw := f.get(key, "a string"); raw != nil {
		s = jsondoc.Text(raw)
		if s == "" {
			f.Problem("%q is empty; omit it instead", f.at(key))
		}
	}
	return s
}

// needText returns a string that must be given.
func (f *Fields) needText(key string) string {
	if !f.has(key) {
		f.Problem("%q is missing", f.at(key))
	}
	return f.Text(key)
}

func (f *Fields) flag(key string, absent bool) bool {
	raw := f.get(key, "a boolean")
	if raw == nil {
		return absent
	}
	return raw[0] == 't'
}

// texts returns a list of strings.
func (f *Fields) texts(key string) []string {
	raw := f.get(key, "a list")
	if raw == nil {
		return nil
	}
	var items []json.RawMessage
	_ = json.Unmarshal(raw, &items) // cannot fail: the whole answer was checked
	var out []string
	for i, item := range items {
		if is := jsondoc.KindOf(item); is != "a string" {
			f.Problem("\"%s[%d]\" is %s, and must be a string", f.at(key), i, is)
			return nil
		}
		var s string
		_ = json.Unmarshal(item, &s)
		if strings.ContainsRune(s, 0) {
			f.Problem("\"%s[%d]\" contains a zero byte", f.at(key), i)
		}
		out = append(out, s)
	}
	return out
}

// Document returns an object in canonical form. Its content is up to the type and the
// user.
func (f *Fields) Document(key string) json.RawMessage {
	raw := f.get(key, "an object")
	if raw == nil {
		return nil
	}
	c, err := jsondoc.Canonical(raw)
	if err != nil {
		f.Problem("%q: %s", f.at(key), err)
	}
	return c
}

// Value returns any value, in canonical form.
func (f *Fields) Value(key string) json.RawMessage {
	if !f.has(key) {
		return nil
	}
	c, err := jsondoc.Canonical(f.members[key])
	if err != nil {
		f.Problem("%q: %s", f.at(key), err)
	}
	return c
}

// object returns a member that is an object of the protocol's envelope; nil if it is absent.
func (f *Fields) object(key string) *Fields {
	raw := f.get(key, "an object")
	if raw == nil {
		return nil
	}
	return f.child(f.at(key), raw)
}

func (f *Fields) child(path string, raw json.RawMessage) *Fields {
	c := &Fields{path: path, known: map[string]bool{}, First: f.First}
	_ = json.Unmarshal(raw, &c.members) // cannot fail: the whole answer was checked
	return c
}

// objects returns a list of objects of the protocol's envelope.
func (f *Fields) objects(key string) []*Fields {
	raw := f.get(key, "a list")
	if raw == nil {
		return nil
	}
	var items []json.RawMessage
	_ = json.Unmarshal(raw, &items) // cannot fail: the whole answer was checked
	most := maxEntries
	if key == providesKey {
		most = protocol.MaxProvides
	}
	if len(items) > most {
		f.Problem("%q has %d entries, and may have at most %d", f.at(key), len(items), most)
		return nil
	}
	var out []*Fields
	for i, item := range items {
		path := fmt.Sprintf("%s[%d]", f.at(key), i)
		if is := jsondoc.KindOf(item); is != "an object" {
			f.Problem("%q is %s, and must be an object", path, is)
			return nil
		}
		out = append(out, f.child(path, item))
	}
	return out
}

// entries returns a member that is an object with entries by name.
func (f *Fields) entries(key string) *Fields {
	o := f.object(key)
	if o != nil && len(o.members) > maxEntries {
		f.Problem("%q has %d entries, and may have at most %d", f.at(key), len(o.members), maxEntries)
		return nil
	}
	return o
}

// keys returns the keys of the members, sorted.
func (f *Fields) keys() []string { return jsondoc.Keys(f.members) }

// Done records a problem if there is a key that was not read: a misspelt key must not
// pass for an absent one.
func (f *Fields) Done() {
	for _, key := range f.keys() {
		if f.known[key] {
			continue
		}
		known := slices.Sorted(maps.Keys(f.known))
		f.Problem("the key %q is not known here; known are %s", f.at(key), strings.Join(known, ", "))
		return
	}
}
