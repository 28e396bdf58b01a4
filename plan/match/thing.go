package match

import (
	"cmp"
	"encoding/json"
	"math/big"
	"slices"
	"strings"

	"deployster/internal/base/jsondoc"
)

// Type is what a resource type says of the things that it cares for.
type Type struct {
	Repository string // of its image, normalised, without tag and digest
	Fragment   string // what stands behind # in the image's name
	Kind       string // what the image calls them; "" = it does not say
	Names      []Name // what names a thing, in the order that the image gives; none = it does not say
	Memory     bool   // what the type remembers says which thing is meant
}

// Name is a property of the config whose value names the thing, with others.
type Name struct {
	Pointer string
	Default json.RawMessage // the schema's, for a config without it; nil = none
	Scalar  string          // the type that the schema gives it: string, number, integer, boolean; "" = another
}

// Plug is a file or directory of the host that a resource was given.
type Plug struct {
	Name, Path string // Path as it is resolved today
	Writable   bool
}

// Thing is all that says which thing a resource stands for.
type Thing struct {
	Type    Type
	Config  json.RawMessage // canonical
	Host    string          // its name; "" = this machine
	Machine string          // what tells the host, whatever its name; "" = not known
	Plugs   []Plug          // sorted by name
	Env     string
	Network string
}

// Named is the thing as its config names it, whatever its type remembers.
func (t Thing) Named() Thing {
	t.Type.Memory = false
	return t
}

// bare is the thing without what surrounds the program of its type, which may name the
// thing or not: nobody can tell. What it may only read is among that.
func (t Thing) bare() Thing {
	t.Env, t.Network = "", ""
	t.Plugs = slices.DeleteFunc(slices.Clone(t.Plugs), func(p Plug) bool { return !p.Writable })
	return t
}

// Relation is what two descriptions of things say of each other.
type Relation int

// The relations.
const (
	Unclear Relation = iota // nobody can tell
	Equal                   // they are one thing
	Differs                 // they are two things
)

// Difference is a part of the identity in which two things differ.
type Difference struct {
	What     string // a JSON pointer into the config, "kind", "host", or "plug NAME"
	Old, New string // of a pointer in JSON
}

// Compare reports whether a declared resource means a recorded thing. Here is that
// both stand at the same address. The names and the kind of today count for an
// entry of the same repository, so that another version of a type, with other
// names, replaces nothing.
func Compare(declared, recorded Thing, here bool) (Relation, []Difference) {
	recorded.Type = today(declared.Type, recorded.Type)
	var found []Difference
	kinds := compareKinds(declared.Type, recorded.Type)
	if kinds == Differs || kinds == Unclear && !here {
		found = append(found, Difference{"kind", recorded.Type.kind(), declared.Type.kind()})
	}
	if declared.host() != recorded.host() {
		was, is := recorded.Host, declared.Host
		if was == is {
			was, is = recorded.Machine, declared.Machine
		}
		found = append(found, Difference{"host", was, is})
	}
	found = append(found, otherPaths(declared.Plugs, recorded.Plugs)...)
	if declared.Type.Memory || recorded.Type.Memory {
		return decided(Unclear, found)
	}
	want, known := declared.values(declared.Type.Names)
	have, recordedToo := recorded.values(recorded.Type.Names)
	if !known || !recordedToo || !comparable(declared.Type, recorded.Type) {
		return decided(Unclear, found)
	}
	for i, name := range declared.Type.Names {
		if want[i] != have[i] {
			found = append(found, Difference{name.Pointer, have[i], want[i]})
		}
	}
	if declared.surroundings() != recorded.surroundings() {
		return decided(Unclear, found)
	}
	return decided(Equal, found)
}

// MayBe reports whether a declared resource means a recorded thing, or may mean it: in
// nothing but env, network and what they read they may differ.
func MayBe(declared, recorded Thing) bool {
	relation, _ := Compare(declared.bare(), recorded.bare(), false)
	return relation == Equal
}

// decided gives a relation, which differences decide where there are some.
func decided(otherwise Relation, found []Difference) (Relation, []Difference) {
	if len(found) > 0 {
		return Differs, found
	}
	return otherwise, nil
}

// today is the type of an entry as the declared resource's image has it now, where
// it is of the same repository.
func today(declared, recorded Type) Type {
	if declared.Repository == recorded.Repository && declared.Fragment == recorded.Fragment {
		return declared
	}
	return recorded
}

// compareKinds reports whether two types care for things of one kind. Unclear is that
// a kind which at least one of them does not say is of another repository.
func compareKinds(a, b Type) Relation {
	switch {
	case a.Fragment != b.Fragment:
		return Differs
	case a.Kind != "" && b.Kind != "":
		if a.Kind == b.Kind {
			return Equal
		}
		return Differs
	case a.Kind == b.Kind && a.Repository == b.Repository:
		return Equal
	}
	return Unclear
}

// kind is what the things of a type are called.
func (t Type) kind() string {
	name := t.Kind
	if name == "" {
		name = t.Repository
	}
	if t.Fragment != "" {
		name += "#" + t.Fragment
	}
	return name
}

// comparable reports whether the values of two types stand for the same names: by
// their places, where both images say that they are of one kind, else by their
// pointers.
func comparable(a, b Type) bool {
	if len(a.Names) != len(b.Names) {
		return false
	}
	said := a.Kind != "" && a.Kind == b.Kind
	return said || slices.EqualFunc(a.Names, b.Names, func(x, y Name) bool { return x.Pointer == y.Pointer })
}

// otherPaths lists the plugs that are writable on both sides and lead elsewhere.
func otherPaths(declared, recorded []Plug) []Difference {
	var found []Difference
	for _, d := range declared {
		for _, r := range recorded {
			if d.Name == r.Name && d.Writable && r.Writable && d.Path != r.Path {
				found = append(found, Difference{"plug " + d.Name, r.Path, d.Path})
			}
		}
	}
	return found
}

// OnlyPaths reports whether two things differ in nothing but the paths of plugs.
func OnlyPaths(list []Difference) bool {
	return len(list) > 0 && !slices.ContainsFunc(list, func(d Difference) bool { return !strings.HasPrefix(d.What, "plug ") })
}

// values are those that name the thing, as canonical JSON. It is false when there
// are none, or when one of them is not there.
func (t Thing) values(names []Name) ([]string, bool) {
	if len(names) == 0 {
		return nil, false
	}
	config, err := jsondoc.Value(t.Config)
	if err != nil {
		return nil, false
	}
	values := make([]string, len(names))
	for i, name := range names {
		value := at(config, jsondoc.Pointer(name.Pointer))
		if value == nil && name.Default != nil {
			value, _ = jsondoc.Value(name.Default)
		}
		if value == nil {
			return nil, false
		}
		values[i] = text(value, name.Scalar)
	}
	return values, true
}

// text is the canonical JSON of a value, as the scalar that the schema wants where
// that loses nothing.
func text(v any, scalar string) string {
	switch value := v.(type) {
	case json.Number:
		if scalar == "string" {
			v = value.String()
			break
		}
		return number(value.String())
	case bool:
		if scalar == "string" {
			v = map[bool]string{true: "true", false: "false"}[value]
		}
	case string:
		switch {
		case (scalar == "number" || scalar == "integer") && jsondoc.KindOf([]byte(value)) == "a number":
			return number(value)
		case scalar == "boolean" && (value == "true" || value == "false"):
			return value
		}
	}
	encoded, err := jsondoc.Encode(v)
	if err != nil {
		return "" // it came from JSON
	}
	return string(encoded)
}

// longNumber is the length from which numbers are compared as texts.
const longNumber = 40

// number writes equal numbers in one way.
func number(s string) string {
	if len(s) > longNumber || strings.ContainsAny(s, "eE") {
		return s
	}
	if r, ok := new(big.Rat).SetString(s); ok {
		return r.RatString()
	}
	return s
}

// host tells the host from others: by its machine, where that is known.
func (t Thing) host() string { return cmp.Or(t.Machine, t.Host) }

// surroundings are what belongs to the identity beside kind and values.
func (t Thing) surroundings() string {
	parts := []string{t.host(), t.Env, t.Network}
	for _, p := range t.Plugs {
		parts = append(parts, p.Name, p.Path)
	}
	return join(parts...)
}

// place is where the things of a kind may disturb each other: the host and what of
// it they may write to.
func (t Thing) place() string {
	parts := []string{t.host()}
	for _, p := range t.Plugs {
		if p.Writable {
			parts = append(parts, p.Name, p.Path)
		}
	}
	return join(parts...)
}

// join makes one text of several, so that other parts make another text.
func join(parts ...string) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(strings.ReplaceAll(strings.ReplaceAll(p, "\\", `\\`), "|", `\p`))
		b.WriteByte('|')
	}
	return b.String()
}

// at gives what a pointer leads to; nil = nothing, or null.
func at(v any, steps []string) any {
	for _, step := range steps {
		object, ok := v.(map[string]any)
		if !ok {
			return nil // what is in a list has no name
		}
		v = object[step]
	}
	return v
}
