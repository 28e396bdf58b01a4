package cli

import (
	"encoding"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"deployster/internal/base/diag"
	"deployster/state"
)

// generator makes JSON Schemas of Go types: closed, with what the types' own
// comments say.
type generator struct {
	t      *testing.T
	defs   map[string]any
	source map[string]*source // by import path
}

// source is what the comments and constants of a package say.
type source struct {
	docs   map[string]string   // Type and Type.Field -> comment
	values map[string][]string // type -> its string constants, as they are written
}

type object = map[string]any

const draft = "http://json-schema.org/draft-07/schema#"

// document is the schema of one document, which is like value.
func (g *generator) document(title string, value any) object {
	g.defs = map[string]any{}
	root := g.of(reflect.TypeOf(value))
	return g.finish(title, root)
}

func (g *generator) finish(title string, root object) object {
	schema := object{"$schema": draft, "title": title, "definitions": g.defs}
	if ref := root["$ref"]; ref != nil {
		root = object{"allOf": []object{root}} // beside a reference nothing counts
	}
	for key, value := range root {
		schema[key] = value
	}
	if len(g.defs) == 0 {
		delete(schema, "definitions")
	}
	return schema
}

// of gives the schema of a type.
func (g *generator) of(t reflect.Type) object {
	switch t {
	case reflect.TypeFor[json.RawMessage](), reflect.TypeFor[any]():
		return object{}
	case reflect.TypeFor[time.Time]():
		return object{"type": "string", "format": "date-time"}
	case reflect.TypeFor[time.Duration]():
		return object{"type": "integer", "description": "Nanoseconds."}
	case reflect.TypeFor[state.Duration]():
		return object{"type": "string", "description": "A time span, such as 5m0s."}
	case reflect.TypeFor[diag.Severity]():
		return object{"enum": []string{"error", "warning"}}
	case reflect.TypeFor[[]byte]():
		return object{"type": "string", "description": "Base64."}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return g.of(t.Elem())
	case reflect.Struct:
		return g.named(t)
	case reflect.Map:
		return object{"type": "object", "additionalProperties": g.of(t.Elem())}
	case reflect.Slice:
		return object{"type": "array", "items": g.of(t.Elem())}
	case reflect.String:
		if values := g.about(t).values[t.Name()]; len(values) > 0 && t.PkgPath() != "" {
			return object{"enum": values}
		}
		return object{"type": "string"}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Float64:
		return object{"type": "number"}
	case reflect.Int, reflect.Int64:
		return object{"type": "integer"}
	case reflect.Uint64:
		return object{"type": "integer", "minimum": 0}
	}
	g.t.Fatalf("no schema for %s", t)
	return nil
}

// named puts a struct under the definitions, and refers to it.
func (g *generator) named(t reflect.Type) object {
	if t.Name() == "" {
		return g.structure(t)
	}
	name := filepath.Base(t.PkgPath()) + "." + t.Name()
	if _, known := g.defs[name]; !known {
		g.defs[name] = nil // for those that hold themselves
		g.defs[name] = g.structure(t)
	}
	return object{"$ref": "#/definitions/" + name}
}

func (g *generator) structure(t reflect.Type) object {
	properties, required := object{}, []string{}
	g.fields(t, properties, &required, nil)
	slices.Sort(required)
	schema := object{"type": "object", "additionalProperties": false, "properties": properties}
	if len(required) > 0 {
		schema["required"] = required
	}
	if doc := g.about(t).docs[t.Name()]; doc != "" {
		schema["description"] = doc
	}
	return schema
}

func (g *generator) fields(t reflect.Type, properties object, required *[]string, hidden []string) {
	if reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextMarshaler]()) {
		g.t.Fatalf("%s writes itself: the generator must know how", t)
	}
	own := slices.Clone(hidden) // what an embedded one has by the same name is not written
	for f := range fieldsOf(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		own = append(own, name)
	}
	for f := range fieldsOf(t) {
		tag := f.Tag.Get("json")
		name, rest, _ := strings.Cut(tag, ",")
		if f.Anonymous && tag == "" {
			embedded := f.Type
			if embedded.Kind() == reflect.Pointer {
				embedded = embedded.Elem()
			}
			g.fields(embedded, properties, required, own)
			continue
		}
		if tag == "-" || !f.IsExported() || slices.Contains(hidden, name) {
			continue
		}
		property := g.of(f.Type)
		if doc := g.about(t).docs[t.Name()+"."+f.Name]; doc != "" {
			if ref := property["$ref"]; ref != nil {
				property = object{"allOf": []object{property}} // beside a reference nothing counts
			}
			property["description"] = doc
		}
		if t == reflect.TypeFor[diag.Snippet]() && name == "context" {
			property["type"] = []string{"string", "null"} // it writes itself
		}
		properties[name] = property
		if rest == "" {
			*required = append(*required, name)
		}
	}
}

func fieldsOf(t reflect.Type) func(func(reflect.StructField) bool) {
	return func(yield func(reflect.StructField) bool) {
		for i := range t.NumField() {
			if !yield(t.Field(i)) {
				return
			}
		}
	}
}

// about reads the sources of a type's package, once.
func (g *generator) about(t reflect.Type) *source {
	path, ours := strings.CutPrefix(t.PkgPath(), "deployster/")
	if !ours {
		return &source{}
	}
	if known := g.source[path]; known != nil {
		return known
	}
	s := &source{docs: map[string]string{}, values: map[string][]string{}}
	g.source[path] = s
	files, err := filepath.Glob(filepath.Join("..", "..", path, "*.go"))
	if err != nil || len(files) == 0 {
		g.t.Fatalf("no sources of %s: %v", path, err)
	}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
		if err != nil {
			g.t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			if d, ok := d.(*ast.GenDecl); ok {
				s.learn(d)
			}
		}
	}
	for _, values := range s.values {
		slices.Sort(values)
	}
	return s
}

func (s *source) learn(d *ast.GenDecl) {
	for _, spec := range d.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			s.docs[spec.Name.Name] = sentence(d.Doc.Text())
			structure, ok := spec.Type.(*ast.StructType)
			if !ok {
				continue
			}
			for _, field := range structure.Fields.List {
				for _, name := range field.Names {
					s.docs[spec.Name.Name+"."+name.Name] = sentence(field.Doc.Text() + field.Comment.Text())
				}
			}
		case *ast.ValueSpec:
			kind, ok := spec.Type.(*ast.Ident)
			if !ok || d.Tok != token.CONST {
				continue
			}
			for _, value := range spec.Values {
				if literal, ok := value.(*ast.BasicLit); ok && literal.Kind == token.STRING {
					if word, err := strconv.Unquote(literal.Value); err == nil {
						s.values[kind.Name] = append(s.values[kind.Name], word)
					}
				}
			}
		}
	}
}

// sentence is a comment on one line.
func sentence(comment string) string { return strings.Join(strings.Fields(comment), " ") }
