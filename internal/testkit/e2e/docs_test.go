package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/rogpeppe/go-internal/testscript"

	"deployster/config"
	"deployster/internal/base/version"
)

// pages gives the documentation: README.md and all of docs/.
func pages(t *testing.T) map[string]string {
	t.Helper()
	moduleRoot(t)
	all := map[string]string{}
	for _, pattern := range []string{"README.md", "docs/*.md", "docs/*/*.md"} {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: no such page, %v", pattern, err)
		}
		for _, name := range names {
			all[name] = read(t, name)
		}
	}
	return all
}

func read(t *testing.T, name string) string {
	t.Helper()
	moduleRoot(t)
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// fences gives the examples of a page that are in a language.
func fences(page, language string) []string {
	var found []string
	for _, m := range regexp.MustCompile("(?ms)^```"+language+"\n(.*?)^```$").FindAllStringSubmatch(page, -1) {
		found = append(found, m[1])
	}
	return found
}

// modules gives the modules of a page: the examples whose first line is their
// path.
func modules(page string) map[string][]config.File {
	found := map[string][]config.File{}
	for _, text := range fences(page, "hcl") {
		first, _, _ := strings.Cut(text, "\n")
		if path, ok := strings.CutPrefix(first, "# "); ok && strings.HasSuffix(path, "/main.hcl") {
			found[filepath.Dir(path)] = []config.File{{Path: path, Bytes: []byte(text)}}
		}
	}
	return found
}

// Every example in HCL is a manifest that loads; or a part of one, which says
// so in its first line; or values of variables, which has no blocks.
func TestDocs_Manifests(t *testing.T) {
	t.Parallel()
	seen := 0
	for name, page := range pages(t) {
		for _, text := range fences(page, "hcl") {
			seen++
			file, diags := hclsyntax.ParseConfig([]byte(text), "main.hcl", hcl.InitialPos)
			if diags.HasErrors() {
				t.Errorf("%s: %v in\n%s", name, diags, text)
				continue
			}
			if first, _, _ := strings.Cut(text, "\n"); config.IsTestFile(strings.TrimPrefix(first, "# ")) {
				file := filepath.Join(t.TempDir(), "a.test.hcl")
				if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
					t.Fatal(err)
				}
				if _, diags := config.ReadTests(file, name); len(diags) != 0 {
					t.Errorf("%s: %v in\n%s", name, diags, text)
				}
				continue
			}
			if strings.HasPrefix(text, "# part of a manifest") || len(file.Body.(*hclsyntax.Body).Blocks) == 0 {
				continue
			}
			sources := config.Sources{Workspace: "/w", Dir: "/w", Manifests: []config.File{{Path: "main.hcl", Bytes: []byte(text)}},
				Modules: modules(page)}
			given := []string{"DEPLOYSTER_VAR_password=secret", "DEPLOYSTER_VAR_hook=https://hooks.example.com/a"} // have no default
			vars, _ := config.FindVariables(t.TempDir(), "", given, nil)
			if _, diags := config.Load(sources, vars, config.Builtins{Version: version.Version, Home: "/home/me"}); len(diags) != 0 {
				t.Errorf("%s: %v in\n%s", name, diags, text)
			}
		}
	}
	if seen < 8 {
		t.Errorf("only %d examples were looked at", seen)
	}
}

// Every link between the pages leads to a file that is there, and to a heading
// in it.
func TestDocs_Links(t *testing.T) {
	t.Parallel()
	link, heading := regexp.MustCompile(`\]\(([^)\s]+)\)`), regexp.MustCompile(`(?m)^#+ (.*)$`)
	anchors := func(page string) (list []string) {
		for _, h := range heading.FindAllStringSubmatch(page, -1) {
			word := regexp.MustCompile(`[^a-z0-9 _-]`).ReplaceAllString(strings.ToLower(h[1]), "")
			list = append(list, strings.ReplaceAll(word, " ", "-"))
		}
		return list
	}
	for name, page := range pages(t) {
		for _, m := range link.FindAllStringSubmatch(page, -1) {
			path, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(path, "://") {
				continue
			}
			target := name
			if path != "" {
				target = filepath.Join(filepath.Dir(name), path)
			}
			if !exists(target) {
				t.Errorf("%s: the link %s leads nowhere", name, m[1])
			} else if anchor != "" && !slices.Contains(anchors(read(t, target)), anchor) {
				t.Errorf("%s: there is no heading for the link %s", name, m[1])
			}
		}
	}
}

// TestDocs_FirstType does what docs/first-type.md has a newcomer do: its manifest, and its
// commands, in their order, with real containers.
func TestDocs_FirstType(t *testing.T) {
	t.Parallel()
	page := read(t, "docs/first-type.md")
	manifests, commands, texts := fences(page, "hcl"), fences(page, "sh"), fences(page, "text")
	if len(manifests) == 0 || len(commands) != 2 || len(texts) != 1 {
		t.Fatalf("%d manifests, %d commands, %d outputs", len(manifests), len(commands), len(texts))
	}
	runScripts(t, "testdata/docs", func(env *testscript.Env) error {
		first := commands[0] + "cat >main.hcl <<'END'\n" + manifests[0] + "END\n" + commands[1]
		for name, content := range map[string]string{"first.sh": first, "want": texts[0]} {
			if err := os.WriteFile(filepath.Join(env.WorkDir, name), []byte(content), 0o600); err != nil {
				return err
			}
		}
		return nil
	})
}
