package typeschema

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"deployster/internal/base/diag"
	"deployster/internal/base/jsondoc"
	english "deployster/internal/base/words"
)

// verdict converts the library's tree of errors into violations, without those that
// depend on values which are not known yet.
type verdict struct {
	root    string
	text    any // the schema
	unknown [][]string
}

// check checks a value, and returns its violations, sorted by place.
func (v *verdict) check(schema *jsonschema.Schema, value any) []Violation {
	err := schema.Validate(value)
	var ve *jsonschema.ValidationError
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &ve):
		return []Violation{{Path: v.root, Message: "it cannot be checked: " + diag.Visible(err.Error())}}
	}
	out := v.collect(ve, false)
	slices.SortStableFunc(out, func(a, b Violation) int { return strings.Compare(a.Pointer, b.Pointer) })
	return slices.DeleteFunc(slices.Compact(out), func(a Violation) bool { return derived(a, out) })
}

// derived reports whether a violation follows from another one: a missing property
// whose name was misspelt, which is reported as an unknown property.
func derived(a Violation, all []Violation) bool {
	name, lacks := strings.CutPrefix(strings.TrimSuffix(a.Message, ", which is required"), "lacks ")
	return lacks && slices.ContainsFunc(all, func(b Violation) bool {
		return b.Path == a.Path && strings.HasPrefix(b.Message, "has no property ") &&
			strings.HasSuffix(b.Message, english.Guess(strings.Trim(name, `"`)))
	})
}

// below reports whether a place is an unknown value or inside one.
func (v *verdict) below(place []string) bool {
	return slices.ContainsFunc(v.unknown, func(u []string) bool { return len(u) <= len(place) && slices.Equal(u, place[:len(u)]) })
}

// above reports whether the value at a place contains an unknown one.
func (v *verdict) above(place []string) bool {
	return slices.ContainsFunc(v.unknown, func(u []string) bool { return len(u) >= len(place) && slices.Equal(place, u[:len(place)]) })
}

func (v *verdict) collect(e *jsonschema.ValidationError, conditional bool) []Violation {
	if v.below(e.InstanceLocation) {
		return nil
	}
	// Whether "then" or "else" applies may depend on an unknown value.
	conditional = conditional || hasStep(e.SchemaURL, "then") || hasStep(e.SchemaURL, "else")
	if conditional && len(v.unknown) > 0 {
		return nil
	}
	switch e.ErrorKind.(type) {
	case *kind.AnyOf, *kind.OneOf:
		return v.alternatives(e, conditional)
	case *kind.Not, *kind.Const, *kind.Enum, *kind.UniqueItems, *kind.Contains, *kind.MinContains, *kind.MaxContains:
		// The violation is of the value as a whole, and parts of the value are unknown.
		if v.above(e.InstanceLocation) {
			return nil
		}
	}
	if len(e.Causes) == 0 {
		return v.leaf(e)
	}
	var out []Violation
	for _, cause := range e.Causes {
		out = append(out, v.collect(cause, conditional)...)
	}
	return out
}

// alternatives handles anyOf and oneOf. It returns no violation if one of the
// alternatives may still match. If all fail, it returns the violations of the
// alternative with the fewest, which is most likely the one that was intended.
func (v *verdict) alternatives(e *jsonschema.ValidationError, conditional bool) []Violation {
	if len(e.Causes) == 0 {
		if v.above(e.InstanceLocation) {
			return nil
		}
		return v.leaf(e)
	}
	var best []Violation
	for _, cause := range e.Causes {
		found := v.collect(cause, conditional)
		if len(found) == 0 {
			return nil
		}
		if best == nil || len(found) < len(best) {
			best = found
		}
	}
	if len(e.Causes) > 1 {
		best = slices.Clone(best)
		best[0].Message += fmt.Sprintf(" (or one of %d other forms)", len(e.Causes)-1)
	}
	return best
}

// hasStep reports whether the path to a schema's place has a keyword.
func hasStep(url, keyword string) bool {
	_, fragment, _ := strings.Cut(url, "#")
	return slices.Contains(strings.Split(fragment, "/"), keyword)
}

func (v *verdict) leaf(e *jsonschema.ValidationError) []Violation {
	at := func(message string, more ...string) Violation {
		pointer := jsondoc.JoinPointer(append(slices.Clone(e.InstanceLocation), more...))
		return Violation{Pointer: pointer, Path: v.root + diag.Visible(jsondoc.Dotted(pointer)), Message: diag.Visible(message)}
	}
	var out []Violation
	switch k := e.ErrorKind.(type) {
	case *kind.Required:
		for _, name := range k.Missing {
			out = append(out, at(fmt.Sprintf("lacks %q, which is required", name)))
		}
	case *kind.AdditionalProperties:
		for _, name := range k.Properties {
			if !v.below(append(slices.Clone(e.InstanceLocation), name)) || len(v.unknown) == 0 {
				none := at(fmt.Sprintf("has no property %q", name), name)
				none.Path, none.Key = at("").Path, true
				none.Message += strings.TrimSuffix("."+english.DidYouMean(name, v.properties(e.SchemaURL)), ".")
				out = append(out, none)
			}
		}
	case *kind.Dependency:
		out = append(out, at(fmt.Sprintf("with %q there must also be %s", k.Prop, words(k.Missing))))
	case *kind.DependentRequired:
		out = append(out, at(fmt.Sprintf("with %q there must also be %s", k.Prop, words(k.Missing))))
	default:
		out = append(out, at(sentence(e.ErrorKind)))
	}
	return out
}

// properties returns the property names in a part of the schema.
func (v *verdict) properties(url string) []string {
	_, fragment, _ := strings.Cut(url, "#")
	object, _ := jsondoc.At(v.text, jsondoc.Pointer(fragment)).(map[string]any)
	known, _ := object["properties"].(map[string]any)
	return slices.Sorted(maps.Keys(known))
}

// sentence describes one violation without the value.
func sentence(e jsonschema.ErrorKind) string {
	switch k := e.(type) {
	case *kind.Type:
		if k.Got == "number" && slices.Contains(k.Want, "integer") {
			return fmt.Sprintf("must be %s, not a fraction", english.Articles(k.Want))
		}
		return fmt.Sprintf("must be %s, not %s", english.Articles(k.Want), english.Article(k.Got))
	case *kind.Enum:
		return "must be one of " + values(k.Want)
	case *kind.Const:
		return "must be " + values([]any{k.Want})
	case *kind.Format:
		return "must have the format " + k.Want
	case *kind.Pattern:
		return "must match the pattern " + k.Want
	case *kind.Minimum:
		return "must be at least " + number(k.Want)
	case *kind.Maximum:
		return "must be at most " + number(k.Want)
	case *kind.ExclusiveMinimum:
		return "must be greater than " + number(k.Want)
	case *kind.ExclusiveMaximum:
		return "must be less than " + number(k.Want)
	case *kind.MultipleOf:
		return "must be a multiple of " + number(k.Want)
	case *kind.MinLength:
		return fmt.Sprintf("must have at least %d characters", k.Want)
	case *kind.MaxLength:
		return fmt.Sprintf("must have at most %d characters", k.Want)
	case *kind.MinItems:
		return fmt.Sprintf("must have at least %d items", k.Want)
	case *kind.MaxItems:
		return fmt.Sprintf("must have at most %d items", k.Want)
	case *kind.MinProperties:
		return fmt.Sprintf("must have at least %d properties", k.Want)
	case *kind.MaxProperties:
		return fmt.Sprintf("must have at most %d properties", k.Want)
	case *kind.UniqueItems:
		return fmt.Sprintf("the items %d and %d are equal, and must all differ", k.Duplicates[0], k.Duplicates[1])
	case *kind.PropertyNames:
		return fmt.Sprintf("%q is not allowed as the name of a property", k.Property)
	case *kind.AdditionalItems:
		return fmt.Sprintf("has %d items too many", k.Count)
	case *kind.OneOf:
		return "matches more than one of the allowed forms, and must match exactly one"
	case *kind.FalseSchema:
		return "is not allowed here"
	case *kind.RefCycle:
		return "cannot be checked, because the schema refers to itself without end"
	}
	if keyword := e.KeywordPath(); len(keyword) > 0 {
		return fmt.Sprintf("does not satisfy %q of the schema", keyword[0])
	}
	return "does not match the schema"
}
