package config

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"deployster/config/source"
)

var fenced = regexp.MustCompile("(?ms)^```(hcl|json)\n(.*?)^```$")

// Every example of the language's page loads, and the page names every function.
func TestLanguagePage_LoadsAndNamesEveryFunction(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/language.md")
	if err != nil {
		t.Fatal(err)
	}
	examples := fenced.FindAllStringSubmatch(string(page), -1)
	if len(examples) < 8 {
		t.Fatalf("only %d examples", len(examples))
	}
	modules := map[string][]File{}
	for _, e := range examples {
		first, _, _ := strings.Cut(e[2], "\n")
		if path, ok := strings.CutPrefix(first, "# "); ok && strings.HasSuffix(path, "/main.hcl") {
			modules[strings.TrimSuffix(path, "/main.hcl")] = []File{{Path: path, Bytes: []byte(e[2])}}
		}
	}
	for _, e := range examples {
		name := "main.hcl"
		if e[1] == "json" {
			name = "main.hcl.json"
		}
		if file, diags := hclsyntax.ParseConfig([]byte(e[2]), name, hcl.InitialPos); e[1] == "hcl" && !diags.HasErrors() && len(file.Body.(*hclsyntax.Body).Blocks) == 0 {
			_, diags := source.ParseVariables([]byte(e[2]), "vars.auto.hcl")
			if diags.HasErrors() {
				t.Errorf("%v in\n%s", diags, e[2])
			}
			continue
		}
		vars, _ := FindVariables(t.TempDir(), "", []string{"DEPLOYSTER_VAR_hook=https://hooks.example.com/a"}, nil) // it has no default
		_, diags := Load(Sources{Workspace: "/w", Dir: "/w", Manifests: []File{{Path: name, Bytes: []byte(e[2])}}, Modules: modules}, vars,
			Builtins{Version: "0.1.0", Home: "/home/me"})
		if len(diags) != 0 {
			t.Errorf("%v in\n%s", diags, e[2])
		}
	}
	words := strings.FieldsFunc(string(page), func(r rune) bool { return strings.ContainsRune(" \n`\".,:;()", r) })
	slices.Sort(words)
	missing := func(name string) bool { _, found := slices.BinarySearch(words, name); return !found }
	for name := range newManifest(Sources{}, Builtins{}).tree.Root.Functions {
		if missing(name) {
			t.Errorf("the function %s is not on the page", name)
		}
	}
}
