package typeclient

// The only file that knows the JSON Schema library.

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"deployster/internal/diag"
	"deployster/internal/strictjson"
	"deployster/protocol"
)

// Violation is one way in which a config does not match its schema. The text
// never holds a value of the config, which may be a secret.
type Violation struct {
	Pointer string // JSON pointer into the config
	Path    string // for people: config.a.b[0]
	Message string
}

// maxSchema is the largest schema that is looked at, in bytes.
const maxSchema = 1 << 20

// compiled is a schema that is ready, or why it never will be.
type compiled struct {
	once   sync.Once
	schema *jsonschema.Schema
	err    error

	// slow is set when a check took too long. It is then not tried again: each
	// check that is given up still takes a processor, and memory.
	slow atomic.Bool
}

// CheckConfig checks a config against the type's schema; without one, any
// object will do. The keys of unknown are JSON pointers to values that are not
// known yet: what stands there in the config is only in their place, so
// nothing is complained of that may come right when they are known.
func (c *Client) CheckConfig(ty protocol.Type, config json.RawMessage, unknown map[string]string) []Violation {
	text := ty.ConfigSchema
	if len(text) == 0 {
		text = json.RawMessage(`{"type":"object"}`)
	}
	return c.check(text, "config", ty, config, unknown)
}

// checkState checks the state of a VALID answer against what the type itself
// said that its states are like.
func (c *Client) checkState(ty protocol.Type, state json.RawMessage) error {
	if len(ty.StateSchema) == 0 {
		return nil
	}
	found := c.check(ty.StateSchema, "state", ty, state, nil)
	if len(found) == 0 {
		return nil
	}
	return fmt.Errorf("the state does not match the image's own state_schema: %s: %s", found[0].Path, found[0].Message)
}

// checkSchemas says whether the schemas of an answer to init can be used.
func (c *Client) checkSchemas(ty protocol.Type) error {
	for _, s := range []struct {
		key  string
		text json.RawMessage
	}{{"config_schema", ty.ConfigSchema}, {"state_schema", ty.StateSchema}} {
		if len(s.text) == 0 {
			continue
		}
		if _, err := c.schema(s.text); err != nil {
			return fmt.Errorf("%q is no usable JSON Schema: %w", s.key, err)
		}
	}
	return nil
}

func (c *Client) check(text json.RawMessage, root string, ty protocol.Type, doc json.RawMessage, unknown map[string]string) []Violation {
	whole := func(format string, args ...any) []Violation {
		return []Violation{{Path: root, Message: fmt.Sprintf(format, args...)}}
	}
	schema, err := c.schema(text)
	if err != nil {
		return whole("the schema of image %s cannot be used: %s", diag.Visible(ty.Reference), err)
	}
	value, err := strictjson.Value(doc)
	if err != nil {
		return whole("it is no proper JSON: %s", err)
	}
	v := &verdict{root: root}
	for p := range unknown {
		v.unknown = append(v.unknown, strictjson.Pointer(p))
	}
	if !schema.slow.Load() {
		out, inTime := within(c.checkTime, func() []Violation { return v.on(schema.schema, value) })
		if inTime {
			return out
		}
		schema.slow.Store(true)
	}
	return whole("it cannot be checked: the schema of image %s takes too long to check (more than %s). "+
		"The fault is in the image: its schema must not branch again and again", diag.Visible(ty.Reference), c.checkTime)
}

// schema gives a schema ready for use; each text is compiled once.
func (c *Client) schema(text json.RawMessage) (*compiled, error) {
	c.mu.Lock()
	s := c.schemas[string(text)]
	if s == nil {
		s = &compiled{}
		c.schemas[string(text)] = s
	}
	c.mu.Unlock()
	s.once.Do(func() { s.schema, s.err = compile(text) })
	return s, s.err
}

// denyAll keeps schemas from reading files and fetching URLs.
type denyAll struct{}

func (denyAll) Load(url string) (any, error) {
	return nil, fmt.Errorf("it refers to %s, and nothing outside the schema itself may be read", url)
}

func compile(text json.RawMessage) (*jsonschema.Schema, error) {
	if len(text) > maxSchema {
		return nil, fmt.Errorf("it is larger than %d bytes", maxSchema)
	}
	doc, err := strictjson.Value(text)
	if err != nil {
		return nil, err
	}
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft7)
	compiler.AssertFormat()
	compiler.UseLoader(denyAll{})
	const name = "schema:///type.json" // a place that is nowhere, for relative references
	if err := compiler.AddResource(name, doc); err != nil {
		return nil, visible(err)
	}
	s, err := compiler.Compile(name)
	if err != nil {
		return nil, visible(err)
	}
	return s, nil
}

func visible(err error) error { return errors.New(diag.Visible(err.Error())) }

// verdict turns the library's tree of errors into violations, without those
// that rest on values which are not known yet.
type verdict struct {
	root    string
	unknown [][]string
}

// on checks a value, and gives what is wrong with it, sorted by place.
func (v *verdict) on(schema *jsonschema.Schema, value any) []Violation {
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
	return slices.Compact(out)
}

// below says whether a place is an unknown value or inside one.
func (v *verdict) below(place []string) bool {
	return slices.ContainsFunc(v.unknown, func(u []string) bool { return len(u) <= len(place) && slices.Equal(u, place[:len(u)]) })
}

// above says whether a value holds an unknown one.
func (v *verdict) above(place []string) bool {
	return slices.ContainsFunc(v.unknown, func(u []string) bool { return len(u) >= len(place) && slices.Equal(place, u[:len(place)]) })
}

func (v *verdict) collect(e *jsonschema.ValidationError, conditional bool) []Violation {
	if v.below(e.InstanceLocation) {
		return nil
	}
	// Which of "then" and "else" applies may hang on what is not known.
	conditional = conditional || hasStep(e.SchemaURL, "then") || hasStep(e.SchemaURL, "else")
	if conditional && len(v.unknown) > 0 {
		return nil
	}
	switch e.ErrorKind.(type) {
	case *kind.AnyOf, *kind.OneOf:
		return v.alternatives(e, conditional)
	case *kind.Not, *kind.Const, *kind.Enum, *kind.UniqueItems, *kind.Contains, *kind.MinContains, *kind.MaxContains:
		// The verdict is on the value as a whole, parts of which are unknown.
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

// alternatives is for anyOf and oneOf: when one of them may still come to
// match, there is nothing to complain of. Of several that fail, the one with
// the fewest complaints is most likely the one that was meant.
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

// hasStep says whether a schema's place has a keyword on its way.
func hasStep(url, keyword string) bool {
	_, fragment, _ := strings.Cut(url, "#")
	return slices.Contains(strings.Split(fragment, "/"), keyword)
}

func (v *verdict) leaf(e *jsonschema.ValidationError) []Violation {
	at := func(message string, more ...string) Violation {
		pointer := strictjson.JoinPointer(append(slices.Clone(e.InstanceLocation), more...))
		return Violation{Pointer: pointer, Path: v.root + diag.Visible(dotted(pointer)), Message: diag.Visible(message)}
	}
	var out []Violation
	switch k := e.ErrorKind.(type) {
	case *kind.Required:
		for _, name := range k.Missing {
			out = append(out, at(fmt.Sprintf("%q is missing", name)))
		}
	case *kind.AdditionalProperties:
		for _, name := range k.Properties {
			if !v.below(append(slices.Clone(e.InstanceLocation), name)) || len(v.unknown) == 0 {
				out = append(out, at("the type does not know this property", name))
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

// sentence words one complaint without the value that it is about.
func sentence(e jsonschema.ErrorKind) string {
	switch k := e.(type) {
	case *kind.Type:
		return fmt.Sprintf("is %s, and must be %s", k.Got, strings.Join(k.Want, " or "))
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
		return fmt.Sprintf("%q is no allowed name for a property", k.Property)
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
