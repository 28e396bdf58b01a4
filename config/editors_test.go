package config

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
)

const editors = "../docs/editors"

// pattern is a rule of a TextMate grammar.
type pattern struct {
	Include, Match, Begin, End string
	Patterns                   []pattern
}

// readJSON reads a file in JSON.
func readJSON(t *testing.T, path string, into any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(editors, path))
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// The extension for VS Code names files that exist, and its grammar knows each block and each beginning of a reference.
func TestEditors_VSCodeKnowsTheLanguage(t *testing.T) {
	t.Parallel()
	var extension struct {
		Contributes struct {
			Languages []struct {
				ID, Configuration string
				Extensions        []string
			}
			Grammars []struct{ Language, ScopeName, Path string }
		}
	}
	readJSON(t, "vscode/package.json", &extension)
	if len(extension.Contributes.Languages) != 1 || len(extension.Contributes.Grammars) != 1 {
		t.Fatalf("%+v", extension)
	}
	language, declared := extension.Contributes.Languages[0], extension.Contributes.Grammars[0]
	var brackets struct{ Brackets [][]string }
	if readJSON(t, filepath.Join("vscode", language.Configuration), &brackets); len(brackets.Brackets) != 3 {
		t.Errorf("%+v", brackets)
	}
	var grammar struct {
		ScopeName  string
		Patterns   []pattern
		Repository map[string]pattern
	}
	readJSON(t, filepath.Join("vscode", declared.Path), &grammar)
	if declared.Language != language.ID || declared.ScopeName != grammar.ScopeName || !slices.Contains(language.Extensions, ".hcl") {
		t.Errorf("%+v %+v, %s", language, declared, grammar.ScopeName)
	}
	var check func(p pattern)
	check = func(p pattern) {
		if _, known := grammar.Repository[regexp.MustCompile("^#").ReplaceAllString(p.Include, "")]; p.Include != "" && !known {
			t.Errorf("%s is included, and is not there", p.Include)
		}
		for _, text := range []string{p.Match, p.Begin} {
			if _, err := regexp.Compile(text); err != nil {
				t.Errorf("%s: %v", text, err)
			}
		}
		for _, inner := range p.Patterns {
			check(inner)
		}
	}
	for _, p := range append(grammar.Patterns, slices.Collect(maps.Values(grammar.Repository))...) {
		check(p)
	}
	block, reference := regexp.MustCompile(grammar.Repository["block"].Match), regexp.MustCompile(grammar.Repository["reference"].Match)
	blocks := 0
	var look func(Syntax)
	look = func(s Syntax) {
		for _, b := range s.Blocks {
			header := "  " + b.Block + " {"
			if b.Named {
				header = b.Block + ` "name" {`
			}
			if found := block.FindStringSubmatch(header); found == nil || found[1] != b.Block {
				t.Errorf("the grammar does not know the block %s", b.Block)
			}
			blocks++
			look(b)
		}
	}
	look(Language())
	for _, root := range ReferenceRoots() {
		if found := reference.FindStringSubmatch("a + " + root.Name + ".x"); found == nil || found[1] != root.Name {
			t.Errorf("the grammar does not know %s. references", root.Name)
		}
	}
	if blocks < 30 || block.MatchString(`unknown "name" {`) || block.MatchString(`resource = "x"`) {
		t.Errorf("%d blocks", blocks)
	}
}

// The example for Helix starts the server for manifests, as the page has it.
func TestEditors_HelixStartsTheServer(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(editors, "helix/languages.toml"))
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../docs/editors.md")
	if err != nil || !strings.Contains(string(page), string(text)) {
		t.Errorf("the page has another example for Helix: %v", err)
	}
	var helix struct {
		Servers map[string]struct {
			Command string
			Args    []string
		} `toml:"language-server"`
		Languages []struct {
			Name    string
			Files   []string `toml:"file-types"`
			Servers []string `toml:"language-servers"`
		} `toml:"language"`
	}
	if err := toml.Unmarshal(text, &helix); err != nil || len(helix.Languages) != 1 {
		t.Fatalf("%v, %+v", err, helix)
	}
	one := helix.Languages[0]
	if s := helix.Servers[one.Servers[0]]; s.Command != "deployster" || !slices.Equal(s.Args, []string{"lsp"}) || !slices.Contains(one.Files, "hcl") {
		t.Errorf("%+v", helix)
	}
}
