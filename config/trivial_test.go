package config

import (
	"os"
	"path/filepath"
	"testing"

	"deployster/config/results"
)

// What is not tried is what cannot be wrong.
func TestTrivialConfigs_CannotFail(t *testing.T) {
	t.Parallel()
	for config, want := range map[string]bool{
		`{}`: true,
		`{ a = "x", b = 1, c = true, d = ["x", { e = "y" }] }`:                                                   true,
		`{ a = var.text, b = "x-${var.text}-${var.secret}" }`:                                                    true,
		`{ a = resource.other.state.size, b = "x-${resource.other.state["a"].b[0]}", c = resource.other.state }`: true,
		`{ a = null }`:                          false, // may be more than it looks
		`{ a = var.none, b = "x-${var.text}" }`: false,
		`{ a = "x-${var.none}" }`:               false, // an error
		`{ a = var.object.b }`:                  false, // an error
		`{ a = "x-${var.object}" }`:             false, // an error
		`{ a = var.text.b }`:                    false, // an error
		`{ a = resource.other.config.b }`:       false, // an error
		`{ a = resource.many.state }`:           false, // an error
		`{ a = resource.many[0].state.x }`:      false,
		`{ a = resource.other.name }`:           false,
		`{ a = 1 / 0 }`:                         false, // an error
		`{ a = -1 }`:                            false,
		`{ a = upper("x") }`:                    false,
		`{ a = local.here }`:                    false,
		`{ (var.text) = "x" }`:                  false,
		`{ a = [for x in ["y"] : x] }`:          false,
		`[]`:                                    false, // an error
		`var.object`:                            false,
	} {
		m, tried, diags := triedIn(t, config)
		if got := m.instances.Modules.IsTrivial(tried); got != want || got && len(diags) > 0 {
			t.Errorf("%s: trivial is %v (%v)", config, got, diags)
		}
	}
	seen := 0
	for _, pattern := range []string{"testdata/bad/*", "testdata/good/*"} {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: %d, %v", pattern, len(names), err)
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			m, _ := Load(Sources{Workspace: "/w", Dir: "/w", Manifests: []File{{Path: filepath.Base(name), Bytes: text}}}, nil, Builtins{Version: "0.1.0", Home: "/"})
			for _, i := range m.instances.List {
				if !m.instances.Modules.IsTrivial(i) {
					continue
				}
				seen++
				if _, _, diags := results.Config(m.instances.Modules.Evaluator(nil), i); len(diags) > 0 {
					t.Errorf("%s: %s was not tried: %v", name, i.Address, diags)
				}
			}
		}
	}
	if seen < 5 {
		t.Errorf("only %d trivial configs in the test data", seen)
	}
}
