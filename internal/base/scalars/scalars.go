package scalars

import (
	"encoding/json"
	"regexp"
	"strconv"
	"sync"

	"deployster/internal/base/jsondoc"
)

// Converter converts documents. It caches the schemas that it has read, and is safe for
// concurrent use.
type Converter struct {
	mu    sync.Mutex
	known map[string]*place // by the text of the schema
}

// place is the type that a schema requires of a value, and of the values in it.
type place struct {
	want   string // string, number, integer or boolean; "" = no conversion
	inside map[string]*place
	others *place // for members that are not in inside
	items  *place
}

// The limits of a schema; everything beyond them is not converted.
const (
	maxDepth  = 32
	maxPlaces = 10_000
)

// Convert converts the values whose type the schema names. It skips the places in except,
// by their JSON pointers: the values there stand for others.
func (c *Converter) Convert(schema, document json.RawMessage, except map[string]string) json.RawMessage {
	p := c.read(schema)
	if p == nil {
		return document
	}
	tree, err := jsondoc.Value(document)
	if err != nil {
		return document
	}
	w := walk{except: except}
	if tree = w.value(p, tree, ""); !w.changed {
		return document
	}
	converted, err := jsondoc.Encode(tree)
	if err != nil {
		return document
	}
	return converted
}

// read returns the types that a schema requires; nil = none to convert to.
func (c *Converter) read(schema json.RawMessage) *place {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p, ok := c.known[string(schema)]; ok {
		return p
	}
	if c.known == nil {
		c.known = map[string]*place{}
	}
	var p *place
	if root, err := jsondoc.Value(schema); err == nil && len(schema) > 0 {
		r := reader{root: root, left: maxPlaces}
		p = r.read(root, 0)
	}
	c.known[string(schema)] = p
	return p
}

// reader reads one schema.
type reader struct {
	root any
	left int
}

func (r *reader) read(schema any, depth int) *place {
	s, ok := schema.(map[string]any)
	if r.left--; !ok || depth > maxDepth || r.left < 0 {
		return nil
	}
	if ref, ok := s["$ref"].(string); ok {
		return r.read(jsondoc.Reference(r.root, ref), depth+1)
	}
	p := &place{want: wanted(s["type"]), inside: map[string]*place{}}
	if properties, ok := s["properties"].(map[string]any); ok {
		for name, part := range properties {
			if at := r.read(part, depth+1); at != nil {
				p.inside[name] = at
			}
		}
	}
	p.others, p.items = r.read(s["additionalProperties"], depth+1), r.read(s["items"], depth+1)
	if p.want == "" && len(p.inside) == 0 && p.others == nil && p.items == nil {
		return nil
	}
	return p
}

// wanted returns the one type of scalar that a schema names, apart from null.
func wanted(kinds any) string {
	list, ok := kinds.([]any)
	if !ok {
		list = []any{kinds}
	}
	want := ""
	for _, kind := range list {
		switch kind {
		case "null":
		case "string", "number", "integer", "boolean":
			if want != "" {
				return ""
			}
			want = kind.(string)
		default:
			return ""
		}
	}
	return want
}

// walk converts one document.
type walk struct {
	except  map[string]string
	changed bool
}

func (w *walk) value(p *place, value any, pointer string) any {
	if _, skip := w.except[pointer]; skip || p == nil {
		return value
	}
	switch v := value.(type) {
	case map[string]any:
		for name, part := range v {
			at := p.inside[name]
			if at == nil {
				at = p.others
			}
			if at != nil {
				v[name] = w.value(at, part, pointer+jsondoc.JoinPointer([]string{name}))
			}
		}
	case []any:
		if p.items == nil {
			return v
		}
		for i, part := range v {
			v[i] = w.value(p.items, part, pointer+jsondoc.JoinPointer([]string{strconv.Itoa(i)}))
		}
	default:
		if converted, ok := convert(p.want, value); ok {
			w.changed = true
			return converted
		}
	}
	return value
}

var (
	plainNumber  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^-?(0|[1-9][0-9]{0,15})(\.[0-9]{0,15}[1-9])?$`) })
	plainInteger = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^-?(0|[1-9][0-9]{0,15})$`) })
)

// convert converts a scalar to the required type, if that loses nothing.
func convert(want string, value any) (any, bool) {
	switch v := value.(type) {
	case string:
		switch {
		case v == "-0":
			return nil, false
		case want == "number" && plainNumber().MatchString(v), want == "integer" && plainInteger().MatchString(v):
			return json.Number(v), true
		case want == "boolean" && (v == "true" || v == "false"):
			return v == "true", true
		}
	case json.Number:
		if want == "string" && plainNumber().MatchString(v.String()) {
			return v.String(), true
		}
	case bool:
		if want == "string" {
			return map[bool]string{true: "true", false: "false"}[v], true
		}
	}
	return nil, false
}
