package match

import (
	"cmp"
	"encoding/json"
	"math/big"
	"slices"
	"strings"

	"deployster/internal/base/jsondoc"
)

// Type is what a resource type declares about the objects that it manages.
type Type struct {
	Repository string // of its image, normalised, without tag and digest
	Fragment   string // what follows # in the image's name
	Kind       string // what the image calls its objects; "" = it does not declare that
	Names      []Name // what names an object, in the order of the image; none = it does not declare that
	Memory     bool   // the type's memory reports which object is intended
}

// Name is a property of the config whose value, with those of other names, names the object.
type Name struct {
	Pointer string
	Default json.RawMessage // the schema's, for a config without it; nil = none
	Scalar  string          // its type in the schema: string, number, integer, boolean; "" = another
}

// Plug is a file or directory of the host that a resource was given.
type Plug struct {
	Name, Path string // Path as resolved today
	Writable   bool
}

// Object describes which real object a resource or an entry stands for.
type Object struct {
	Type    Type
	Config  json.RawMessage // canonical
	Host    string          // its name; "" = this machine
	Machine string          // identifies the host, whatever its name; "" = not known
	Plugs   []Plug          // sorted by name
	Env     string
	Network string
}

// Named returns the object as its config names it, without its type's memory.
func (t Object) Named() Object {
	t.Type.Memory = false
	return t
}

// bare returns the object without env, network and read-only plugs: it is unknown whether
// these belong to its identity.
func (t Object) bare() Object {
	t.Env, t.Network = "", ""
	t.Plugs = slices.DeleteFunc(slices.Clone(t.Plugs), func(p Plug) bool { return !p.Writable })
	return t
}

// Relation reports whether two descriptions are of one object.
type Relation int

// The relations.
const (
	Unclear Relation = iota // it cannot be decided
	Equal                   // they are one object
	Differs                 // they are two objects
)

// Difference is a part of the identity in which two objects differ.
type Difference struct {
	What     string // a JSON pointer into the config, "kind", "host", or "plug NAME"
	Old, New string // of a pointer in JSON
}

// Compare reports whether a declared resource means a recorded object. Here reports that
// both have the same address. For an entry of the same repository the names and the
// kind of the declared type count, so that another version of a type, with other names,
// replaces nothing.
func Compare(declared, recorded Object, here bool) (Relation, []Difference) {
	recorded.Type = currentType(declared.Type, recorded.Type)
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

// Means reports whether a declared resource means a recorded object.
func Means(declared, recorded Object) bool {
	relation, _ := Compare(declared, recorded, false)
	return relation == Equal
}

// MayBe reports whether a declared resource means a recorded object, or may mean it: they
// differ in nothing, or only in env, network and read-only plugs.
func MayBe(declared, recorded Object) bool {
	return Means(declared.bare(), recorded.bare())
}

// decided returns Differs where there are differences, else the other relation.
func decided(otherwise Relation, found []Difference) (Relation, []Difference) {
	if len(found) > 0 {
		return Differs, found
	}
	return otherwise, nil
}

// currentType returns the type of an entry as the declared resource's image describes it now,
// where both are of the same repository.
func currentType(declared, recorded Type) Type {
	if declared.Repository == recorded.Repository && declared.Fragment == recorded.Fragment {
		return declared
	}
	return recorded
}

// compareKinds reports whether two types manage objects of one kind. It is Unclear where
// the repositories differ and at least one type does not report its kind.
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

// kind returns what the objects of a type are called.
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

// SameKind reports whether two types manage objects of one kind.
func SameKind(a, b Type) bool { return compareKinds(a, b) == Equal }

// SameImage reports whether two types are of one repository and fragment.
func SameImage(a, b Type) bool { return a.Repository == b.Repository && a.Fragment == b.Fragment }

// comparable reports whether the names of two types can be compared one by one: by their
// order, where both images declare that their objects are of one kind, else by their equal
// pointers.
func comparable(a, b Type) bool {
	if len(a.Names) != len(b.Names) {
		return false
	}
	said := a.Kind != "" && a.Kind == b.Kind
	return said || slices.EqualFunc(a.Names, b.Names, func(x, y Name) bool { return x.Pointer == y.Pointer })
}

// otherPaths lists the plugs that are writable on both sides and have different paths.
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

// OnlyPathsDiffer reports whether two objects differ in nothing but the paths of plugs.
func OnlyPathsDiffer(list []Difference) bool {
	return len(list) > 0 && !slices.ContainsFunc(list, func(d Difference) bool { return !strings.HasPrefix(d.What, "plug ") })
}

// values returns the values that name the object, as canonical JSON; false = there are
// no names, or one of them has no value.
func (t Object) values(names []Name) ([]string, bool) {
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

// text returns the canonical JSON of a value, converted to the scalar of the schema
// where that loses nothing.
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
		return "" // cannot happen: v came from JSON
	}
	return string(encoded)
}

// longNumber is the length above which numbers are compared as texts.
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

// host identifies the host: by its machine where that is known, else by its name.
func (t Object) host() string { return cmp.Or(t.Machine, t.Host) }

// surroundings returns what belongs to the identity besides kind and values.
func (t Object) surroundings() string {
	parts := []string{t.host(), t.Env, t.Network}
	for _, p := range t.Plugs {
		parts = append(parts, p.Name, p.Path)
	}
	return join(parts...)
}

// place reports where objects of one kind can affect each other: the host and the plugs on
// it that they may write to.
func (t Object) place() string {
	parts := []string{t.host()}
	for _, p := range t.Plugs {
		if p.Writable {
			parts = append(parts, p.Name, p.Path)
		}
	}
	return join(parts...)
}

// join makes one text of several parts; different parts give different texts.
func join(parts ...string) string {
	size := len(parts)
	for _, p := range parts {
		size += len(p)
	}
	var b strings.Builder
	b.Grow(size)
	for _, p := range parts {
		b.WriteString(strings.ReplaceAll(strings.ReplaceAll(p, "\\", `\\`), "|", `\p`))
		b.WriteByte('|')
	}
	return b.String()
}

// at returns what a pointer leads to; nil = nothing, or null.
func at(v any, steps []string) any {
	for _, step := range steps {
		object, ok := v.(map[string]any)
		if !ok {
			return nil // an element of a list names nothing
		}
		v = object[step]
	}
	return v
}
