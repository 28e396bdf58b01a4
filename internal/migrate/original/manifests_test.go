package original

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"deployster/config"
	"deployster/internal/migrate/expressions"
)

// scenario is a migration in testdata/manifests. Its files: *.yaml are manifests, vars*.yaml files of variables,
// state/NAME the state of a resource, given the values of variables that no file has; others can be included.
type scenario struct {
	archive   *txtar.Archive
	options   Options
	files     map[string]string
	states    map[string]json.RawMessage
	variables map[string]json.RawMessage
}

func readScenario(t *testing.T, path string) scenario {
	t.Helper()
	archive, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s := scenario{archive: archive, files: map[string]string{}, states: map[string]json.RawMessage{},
		variables: map[string]json.RawMessage{}}
	for _, f := range archive.Files {
		switch name, isState := strings.CutPrefix(f.Name, "state/"); {
		case isState:
			s.states[name] = f.Data
		case strings.HasPrefix(f.Name, "want/"):
		case f.Name == "given":
			if err := json.Unmarshal(f.Data, &s.variables); err != nil {
				t.Fatal(err)
			}
		case strings.HasPrefix(f.Name, "vars"):
			s.options.Variables = append(s.options.Variables, File{f.Name, f.Data, strings.HasSuffix(f.Name, "auto.yaml")})
		case strings.HasSuffix(f.Name, ".yaml"):
			s.options.Manifests = append(s.options.Manifests, File{Name: f.Name, Bytes: f.Data})
		default:
			s.files[f.Name] = string(f.Data)
		}
	}
	s.options.Version = "0.1.0"
	s.options.Include = func(name string) (string, error) {
		if text, ok := s.files[name]; ok {
			return text, nil
		}
		return "", fs.ErrNotExist
	}
	return s
}

// made is what a resource is in a manifest.
type made struct {
	Type     string          `json:"type"`
	ReadOnly bool            `json:"read_only"`
	Config   json.RawMessage `json:"config"`
}

// run returns the golden files of a scenario.
func (s scenario) run(t *testing.T) (want map[string]string, resources map[string]made) {
	t.Helper()
	want = map[string]string{}
	result, err := Run(s.options)
	if err != nil {
		want["want/error"] = err.Error() + "\n"
		return want, nil
	}
	for name, text := range result.Files {
		want["want/"+name] = string(text)
	}
	if len(result.Notes) > 0 {
		want["want/notes"] = strings.Join(result.Notes, "\n") + "\n"
	}
	if len(result.Open) > 0 {
		want["want/open"] = strings.Join(result.Open, "\n") + "\n"
		return want, nil
	}
	var src config.Sources
	for _, name := range expressions.Sorted(result.Files) {
		src.Manifests = append(src.Manifests, config.File{Path: name, Bytes: result.Files[name]})
	}
	vars, diags := config.Pinned(s.variables)
	if diags.HasErrors() {
		t.Fatal(diags.Err())
	}
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	m, diags := config.Load(src, vars, config.Builtins{Version: "0.1.0", Workspace: dir})
	if diags.HasErrors() {
		t.Fatal(diags.Err())
	}
	states := config.States{}
	for name, state := range s.states {
		states[name] = config.ResourceState{Known: state, Complete: true}
	}
	resources = map[string]made{}
	for _, r := range m.Resources() {
		resolved, diags := m.Config(r.Address, states)
		if diags.HasErrors() {
			t.Fatal(diags.Err())
		}
		resources[r.Address] = made{r.TypeRef, r.ReadOnly, resolved.Value}
	}
	return want, resources
}

// expected returns what the original makes of the resources of a scenario; false without Jinja2.
func (s scenario) expected(t *testing.T) (out map[string]made, ok bool) {
	t.Helper()
	texts := func(files []File) (out []string) {
		for _, f := range files {
			out = append(out, string(f.Bytes))
		}
		return out
	}
	ok = reference(t, map[string]any{"variables": texts(s.options.Variables), "manifests": texts(s.options.Manifests), "states": s.states,
		"given": s.variables, "includes": s.files}, &out)
	return out, ok
}

// Each scenario becomes the stored manifests, and these mean what they meant.
func TestScenarios_KeepTheirMeaning(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("testdata/manifests/*.txtar")
	if err != nil || len(paths) < 20 {
		t.Fatalf("%d scenarios, %v", len(paths), err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			t.Parallel()
			s := readScenario(t, path)
			got, resources := s.run(t)
			if resources != nil {
				if want, ok := s.expected(t); ok {
					compare(t, resources, want)
				}
				got["want/resources"] = lines(t, resources)
			}
			if os.Getenv("DEPLOYSTER_UPDATE") != "" {
				s.update(t, path, got)
			}
			seen := 0
			for _, f := range s.archive.Files {
				if strings.HasPrefix(f.Name, "want/") {
					seen++
					if got[f.Name] != string(f.Data) {
						t.Errorf("%s is\n%s\nand not\n%s", f.Name, got[f.Name], f.Data)
					}
				}
			}
			if seen != len(got) {
				t.Errorf("%d files are stored of %d", seen, len(got))
			}
		})
	}
}

// compare compares resources with those of the original, whose names may be other ones.
func compare(t *testing.T, got, want map[string]made) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%d resources, and not %d", len(got), len(want))
	}
	for name, w := range want {
		g, ok := got[name]
		if !ok {
			g = got["r_"+cleaned(name)]
		}
		if g.Type != w.Type || g.ReadOnly != w.ReadOnly || !equal(string(g.Config), string(w.Config)) {
			t.Errorf("%s is\n%+v %s\nand in the original\n%+v %s", name, g, g.Config, w, w.Config)
		}
	}
}

// lines writes resources, a line each.
func lines(t *testing.T, resources map[string]made) string {
	t.Helper()
	var out strings.Builder
	for _, name := range expressions.Sorted(resources) {
		var text bytes.Buffer
		e := json.NewEncoder(&text)
		e.SetEscapeHTML(false)
		if err := e.Encode(resources[name]); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&out, "%s %s", name, text.String())
	}
	return out.String()
}

func (s scenario) update(t *testing.T, path string, got map[string]string) {
	t.Helper()
	kept := s.archive.Files[:0]
	for _, f := range s.archive.Files {
		if !strings.HasPrefix(f.Name, "want/") {
			kept = append(kept, f)
		}
	}
	for _, name := range expressions.Sorted(got) {
		kept = append(kept, txtar.File{Name: name, Data: []byte(got[name])})
	}
	s.archive.Files = kept
	if err := os.WriteFile(path, txtar.Format(s.archive), 0o600); err != nil {
		t.Fatal(err)
	}
}
