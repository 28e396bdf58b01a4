package typeschema

// Besides meter.go and verdict.go, this is the only file that uses the JSON Schema library.

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"deployster/internal/base/diag"
	"deployster/internal/base/jsondoc"
	"deployster/internal/base/parallel"
	"deployster/internal/base/secretref"
	"deployster/protocol"
)

// Violation is one way in which a config does not match its schema. Its texts never
// contain a value of the config, which may be a secret.
type Violation struct {
	Pointer string // JSON pointer into the config
	Path    string // for people: config.a.b[0]
	Message string
	Key     bool // the key is not valid, not its value
}

// Sentence returns the violation as a sentence, with its path.
func (v Violation) Sentence() string {
	text := strings.TrimSuffix(v.Message, ".")
	between := ": "
	for _, verb := range []string{"must ", "is ", "has ", "lacks ", "does ", "matches ", "cannot "} {
		if strings.HasPrefix(text, verb) {
			between = " "
		}
	}
	if !strings.HasSuffix(text, "?") {
		text += "."
	}
	return v.Path + between + text
}

// Checker checks documents against schemas. It is safe for concurrent use, and its zero
// value is ready to use.
type Checker struct {
	Schemas

	limit      time.Duration // of one check; 0 = checkTime
	goroutines parallel.Pool
}

// maxSchema is the size limit of a schema, in bytes.
const maxSchema = 1 << 20

// compiledSchema is a compiled schema, or the error of compiling it.
type compiledSchema struct {
	once   sync.Once
	schema *jsonschema.Schema
	err    error

	mu    sync.Mutex // held by a check while it uses the fields below
	meter *meter

	// slow is set when a check took too long. The schema is not used again then: an
	// abandoned check still occupies a processor and memory, and uses the meter.
	slow bool
}

// CheckConfig checks a config against the type's schema; without a schema, any object
// is valid. The keys of unknown are JSON pointers to values that are not known yet. The
// config has placeholders there, so CheckConfig reports no violation that may disappear
// when the values are known.
func (c *Checker) CheckConfig(ty protocol.Type, config json.RawMessage, unknown map[string]string) []Violation {
	text := ty.ConfigSchema
	if len(text) == 0 {
		text = json.RawMessage(`{"type":"object"}`)
	}
	secrets, _ := secretref.Places(config)
	if len(secrets) == 0 {
		return c.check(text, "config", ty, config, unknown)
	}
	if unknown = maps.Clone(unknown); unknown == nil {
		unknown = map[string]string{}
	}
	for _, pointer := range secrets { // what stands for the value is not checked in place of it
		unknown[pointer] = ""
	}
	return append(c.check(text, "config", ty, config, unknown), misplaced(c.WriteOnly(ty.ConfigSchema, config), secrets)...)
}

// misplaced returns a violation for each secret at a place that is not one of those that the schema marks writeOnly.
func misplaced(allowed, secrets []string) (list []Violation) {
	for _, pointer := range secrets {
		if !slices.ContainsFunc(allowed, func(at string) bool { return at == pointer || strings.HasPrefix(pointer, at+"/") }) {
			list = append(list, Violation{Pointer: pointer, Path: "config" + diag.Visible(jsondoc.Dotted(pointer)),
				Message: "cannot have the value of a secret block: the schema of its image does not mark it writeOnly, so that the image " +
					"may record or print it"})
		}
	}
	return list
}

// CheckState checks a state against the type's schema of its states; without a schema,
// any state is valid.
func (c *Checker) CheckState(ty protocol.Type, state json.RawMessage) []Violation {
	if len(ty.StateSchema) == 0 {
		return nil
	}
	return c.check(ty.StateSchema, "state", ty, state, nil)
}

// CheckSchemas returns an error if a schema in an answer to init cannot be used.
func (c *Checker) CheckSchemas(ty protocol.Type) error {
	for _, s := range []struct {
		key  string
		text json.RawMessage
	}{{"config_schema", ty.ConfigSchema}, {"state_schema", ty.StateSchema}} {
		if len(s.text) == 0 {
			continue
		}
		if _, err := c.compiled(s.text); err != nil {
			return fmt.Errorf("%q is not a usable JSON Schema: %w", s.key, err)
		}
	}
	return nil
}

func (c *Checker) check(text json.RawMessage, root string, ty protocol.Type, doc json.RawMessage, unknown map[string]string) []Violation {
	whole := func(format string, args ...any) []Violation {
		return []Violation{{Path: root, Message: fmt.Sprintf(format, args...)}}
	}
	schema, err := c.compiled(text)
	if err != nil {
		return whole("the schema of image %s cannot be used: %s", diag.Visible(ty.Reference), err)
	}
	value, err := jsondoc.Value(doc)
	if err != nil {
		return whole("it is not valid JSON: %s", err)
	}
	v := &verdict{root: root, text: schema.document}
	for p := range unknown {
		v.unknown = append(v.unknown, jsondoc.Pointer(p))
	}
	compiled := &schema.compiled
	compiled.mu.Lock() // the wait for other checks does not count as time of this check
	defer compiled.mu.Unlock()
	if !compiled.slow {
		out, inTime := runWithin(&c.goroutines, cmp.Or(c.limit, checkTime),
			func() checkResult {
				return compiled.measure(func() []Violation { return v.check(compiled.schema, value) })
			})
		if inTime && out.whole {
			return out.found
		}
		compiled.slow = true
	}
	return whole("it cannot be checked: the schema of image %s takes too long to check (over %s of the processor, or over %d steps). "+
		"The fault is in the image: its schema must not branch again and again", diag.Visible(ty.Reference), cmp.Or(c.limit,
		checkTime), maxSteps)
}

// compiled returns a compiled schema. It compiles each schema once.
func (c *Checker) compiled(text json.RawMessage) (*schema, error) {
	if len(text) > maxSchema {
		return nil, fmt.Errorf("it is larger than %d bytes", maxSchema)
	}
	s := c.schema(text)
	if s.err != nil {
		return nil, s.err
	}
	to := &s.compiled
	to.once.Do(func() { to.schema, to.meter, to.err = compile(s.document) })
	return s, to.err
}

// denyAll prevents schemas from reading files and fetching URLs.
type denyAll struct{}

func (denyAll) Load(url string) (any, error) {
	return nil, fmt.Errorf("it refers to %s, and nothing outside the schema itself may be read", url)
}

func compile(document any) (*jsonschema.Schema, *meter, error) {
	s, m, err := compileAs(jsonschema.Draft7, document)
	if err != nil { // the first images use draft-04 without naming it
		if old, meter, oldErr := compileAs(jsonschema.Draft4, document); oldErr == nil {
			return old, meter, nil
		}
	}
	return s, m, err
}

// ReadAsDraft04 reports whether a schema is interpreted as draft-04.
func ReadAsDraft04(text json.RawMessage) bool {
	s, err := new(Checker).compiled(text)
	return err == nil && s.compiled.schema.DraftVersion == 4
}

// compileAs compiles a schema. A schema that names no draft is interpreted as the given one.
func compileAs(draft *jsonschema.Draft, doc any) (*jsonschema.Schema, *meter, error) {
	m := &meter{}
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(draft)
	compiler.AssertFormat()
	compiler.UseLoader(denyAll{})
	compiler.RegisterVocabulary(m.vocabulary())
	compiler.AssertVocabs()
	const name = "schema:///type.json" // a URL that does not exist, as the base of relative references
	if err := compiler.AddResource(name, doc); err != nil {
		return nil, nil, visible(err)
	}
	s, err := compiler.Compile(name)
	if err != nil {
		return nil, nil, visible(err)
	}
	return s, m, nil
}

func visible(err error) error { return errors.New(diag.Visible(err.Error())) }
