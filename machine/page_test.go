package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"deployster/machine/internal/access"
	"deployster/machine/internal/kindtest"
)

var update = flag.Bool("update", false, "write docs/standard-types.md")

const page = "../docs/standard-types.md"

// schema is what the page says of a schema.
type schema struct {
	Required   []string
	Properties map[string]struct {
		Type        any
		Default     any
		Description string
	}
}

// keys returns the table of the keys of a schema.
func keys(t *testing.T, name string, raw json.RawMessage, identity []string) string {
	t.Helper()
	var s schema
	if err := json.Unmarshal(raw, &s); err != nil {
		t.Fatal(err)
	}
	order := func(a, b string) int {
		rank := func(key string) int {
			switch {
			case slices.Contains(identity, "/"+key):
				return slices.Index(identity, "/"+key) - 10
			case slices.Contains(s.Required, key):
				return -1
			}
			return 0
		}
		return rank(a) - rank(b) // else by name: SortStableFunc
	}
	names := slices.SortedStableFunc(slices.Values(slices.Sorted(maps.Keys(s.Properties))), order)
	var b strings.Builder
	for _, key := range names {
		p := s.Properties[key]
		if p.Description == "" {
			t.Errorf("%s: the key %s has no description", name, key)
		}
		kind := "any"
		if p.Type != nil {
			kind = fmt.Sprint(p.Type)
		}
		switch {
		case slices.Contains(identity, "/"+key):
			kind += ", identity"
		case slices.Contains(s.Required, key) && identity != nil:
			kind += ", required"
		case p.Default != nil:
			kind += fmt.Sprintf(", default `%v`", p.Default)
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", key, kind, strings.ReplaceAll(p.Description, "|", "\\|"))
	}
	return b.String()
}

// TestPage_IsGenerated keeps docs/standard-types.md as the schemas and testdata/page say:
// go test ./machine -run TestPage -update.
func TestPage_IsGenerated(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	b.WriteString(prose(t, "_head"))
	all := kinds(&access.Machine{Root: t.TempDir()})
	for _, name := range slices.Sorted(maps.Keys(all)) {
		about, err := all[name].Describe()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if about.Kind != "linux/"+name || !about.Absent || !about.Unknowns || about.Worker == nil || len(about.Identity) == 0 {
			t.Errorf("%s: %+v", name, about)
		}
		fmt.Fprintf(&b, "\n## %s\n\n%s\n| config | | |\n|---|---|---|\n%s\n| state | | |\n|---|---|---|\n%s", name, prose(t, name),
			keys(t, name, about.ConfigSchema, about.Identity), keys(t, name, about.StateSchema, nil))
	}
	if *update {
		if err := os.WriteFile(page, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(page); err != nil || !bytes.Equal(got, b.Bytes()) {
		t.Errorf("docs/standard-types.md is not what the schemas say (%v): run go test ./machine -run TestPage -update", err)
	}
}

func prose(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("testdata/page/" + name + ".md")
	if err != nil {
		t.Fatalf("each kind has its text and an example: %v", err)
	}
	return string(text)
}

// TestPage_ExamplesAreUnderstood queries the state of each example, on a machine that is empty.
func TestPage_ExamplesAreUnderstood(t *testing.T) {
	t.Parallel()
	m := &access.Machine{Root: t.TempDir()}
	for _, directory := range []string{"net/ipv4", "kernel"} {
		if err := os.MkdirAll(m.Path("/proc/sys/"+directory), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(m.Path("/proc/sys/net/ipv4/ip_forward"), []byte("0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(m.Path("/proc/sys/kernel/hostname"), []byte("machine\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	others := system(m)
	for name, kind := range kinds(m) {
		examples := regexp.MustCompile("(?s)```hcl\n(.*?)```").FindAllStringSubmatch(prose(t, name), -1)
		if len(examples) == 0 {
			t.Errorf("%s has no example", name)
		}
		for _, e := range examples {
			for _, c := range configs(t, e[1], name) {
				if others[name] != nil {
					continue // they ask programs of the machine: TestProgram_UnderstandsTheExamples
				}
				if a := kindtest.New(t, kind).State(c); a.Error != nil || a.Status != "STALE" {
					t.Errorf("%s: %+v, %v", name, a, a.Error)
				}
			}
		}
	}
}

// configs returns the configs of an example's resources, which are of one kind.
func configs(t *testing.T, text, kind string) (list []kindtest.Config) {
	t.Helper()
	file, diags := hclsyntax.ParseConfig([]byte(text), "example.hcl", hcl.InitialPos)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	for _, block := range file.Body.(*hclsyntax.Body).Blocks {
		if of := block.Body.Attributes["type"].Expr.Range().SliceBytes([]byte(text)); string(of) != `"${type.machine}#`+kind+`"` {
			t.Errorf("the example of %s is of the type %s", kind, of)
		}
		value, diags := block.Body.Attributes["config"].Expr.Value(nil)
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		raw, err := ctyjson.Marshal(value, value.Type())
		if err != nil {
			t.Fatal(err)
		}
		var c kindtest.Config
		if err := json.Unmarshal(raw, &c); err != nil {
			t.Fatal(err)
		}
		list = append(list, c)
	}
	return list
}
