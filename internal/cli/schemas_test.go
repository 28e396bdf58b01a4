package cli

import (
	"bytes"
	"deployster/internal/app/modules"
	"encoding/json"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"deployster/apply"
	"deployster/internal/app/runs"
	"deployster/internal/app/savedplan"
	"deployster/internal/app/sharedstate"
	"deployster/internal/app/stateedit"
	"deployster/internal/app/versions"
	"deployster/internal/app/workspace"
	"deployster/internal/base/diag"
	"deployster/internal/cli/standalone"
	"deployster/internal/runtime/runner/imagestore"
	"deployster/internal/ui/events"
	"deployster/internal/ui/typeview"
	"deployster/plan/drift"
	"deployster/state"
)

var update = flag.Bool("update", false, "write docs/schemas anew")

// documents are all that is printed or written as JSON, but for the messages
// between the tool and images, and the report of `type test`.
func documents() map[string]any {
	return map[string]any{
		"plan":          savedplan.Document{},
		"state":         state.Snapshot{},
		"report":        apply.Report{},
		"diagnostics":   diag.Report{},
		"outputs":       map[string]workspace.OutputDocument{},
		"run":           runs.Run{},
		"step":          runs.Step{},
		"runs-list":     workspace.RunsDocument{},
		"runs-show":     workspace.RunDocument{},
		"runs-logs":     workspace.LogsDocument{},
		"state-list":    []string{},
		"state-entry":   stateedit.EntryDocument{},
		"state-copies":  []state.Copy{},
		"state-history": []stateedit.HistoryRun{},
		"state-edit":    stateedit.StateEdit{},
		"state-status":  sharedstate.StateStatus{},
		"type-inspect":  typeview.Document{},
		"version":       standalone.Build{},
		"images-list":   []imagestore.Image{},
		"modules-list":  []modules.Kept{},

		"artifact-list":     versions.Listed{},
		"artifact-check":    versions.Checks{},
		"artifact-versions": versions.Line{},

		"drift":          drift.Report{},
		"drift-baseline": drift.Baseline{},
	}
}

// The published schemas are those of the types that are printed. What is
// printed is held against them by the scripts: see internal/testkit/e2e.
func TestSchemas_DescribeTheTypes(t *testing.T) {
	g := &generator{t: t, source: map[string]*source{}}
	schemas := map[string]object{"event": g.events()}
	for name, value := range documents() {
		schemas[name] = g.document(name, value)
	}
	for name, schema := range schemas {
		var want bytes.Buffer
		enc := json.NewEncoder(&want)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		if err := enc.Encode(schema); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join("..", "..", "docs", "schemas", name+".json")
		if *update {
			if err := os.WriteFile(path, want.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if have, err := os.ReadFile(path); err != nil || !bytes.Equal(have, want.Bytes()) {
			t.Errorf("docs/schemas/%s.json is not what the types say (%v). If the change keeps the promise of docs/json.md: go test ./internal/cli -run TestSchemas_DescribeTheTypes -update", name, err)
		}
	}
}

// events is the schema of one line of a stream.
func (g *generator) events() object {
	g.defs = map[string]any{}
	var types []string
	var rules []object
	for _, body := range events.All() {
		body := body
		t := reflect.TypeOf(body)
		schema := g.structure(t)
		properties := schema["properties"].(object)
		properties["type"] = object{"const": events.TypeOf(body)}
		properties["time"] = object{"type": "string", "format": "date-time", "pattern": `^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$`}
		properties["level"] = g.of(reflect.TypeFor[events.Level]())
		properties["message"] = object{"type": "string", "description": "A sentence for people; its words may change."}
		if _, its := properties["run"]; !its {
			properties["run"] = object{"type": "string", "description": "The run of the repair that it belongs to, in the stream of a watch."}
		}
		required, _ := schema["required"].([]string)
		required = append(required, "type", "time", "level", "message")
		slices.Sort(required)
		schema["required"] = required
		g.defs[events.TypeOf(body)] = schema
		types = append(types, events.TypeOf(body))
		rules = append(rules, object{
			"if":   object{"properties": object{"type": object{"const": events.TypeOf(body)}}, "required": []string{"type"}},
			"then": object{"$ref": "#/definitions/" + events.TypeOf(body)},
		})
	}
	return g.finish("event", object{"type": "object", "required": []string{"type"},
		"properties": object{"type": object{"enum": types}}, "allOf": rules})
}

// Every type of event is in the list that the schema is made of. What is a part of
// another is no event.
func TestSchemas_NameAllEvents(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "../ui/events/bodies.go", nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	structs, parts := map[string]bool{}, map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.TypeSpec:
			_, structs[n.Name.Name] = n.Type.(*ast.StructType)
		case *ast.Field:
			ast.Inspect(n.Type, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok {
					parts[id.Name] = true
				}
				return true
			})
		}
		return true
	})
	listed := map[string]bool{}
	for _, body := range events.All() {
		listed[reflect.TypeOf(body).Name()] = true
	}
	for name, isStruct := range structs {
		if isStruct && !parts[name] && !listed[name] {
			t.Errorf("the event %s is not in events.All", name)
		}
	}
	if len(listed) < 20 {
		t.Errorf("only %d events are listed", len(listed))
	}
}
