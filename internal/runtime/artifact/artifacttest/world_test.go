package artifacttest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"deployster/internal/runtime/artifact"
	"deployster/internal/runtime/runner"
)

var (
	_ artifact.Client = (*World)(nil)
	_ artifact.Store  = (*Store)(nil)
)

func TestWorld_ListsAndFetches(t *testing.T) {
	w, source := NewWorld(), json.RawMessage(`{"a":1}`)
	w.AddImage("line", artifact.Artifacts2)
	version := func(ref string) artifact.Versioned {
		return artifact.Versioned{Space: "main", Version: artifact.Version{"ref": ref}}
	}
	w.Change(string(source), func(l *Line) { l.Default, l.Spaces["main"] = "main", []artifact.Versioned{version("1"), version("2")} })
	target := artifact.Target{Address: "artifact.a", Reference: "line"}
	info, err := w.Info(t.Context(), target)
	if err != nil {
		t.Fatal(err)
	}
	c, err := w.Check(t.Context(), target, info, artifact.CheckInput{Source: source, From: map[string]artifact.Version{"main": {"ref": "1"}}})
	if found, ok := c.Found(); err != nil || !ok || !found.Version.Is(artifact.Version{"ref": "2"}) || !c.Spaces["main"].Continues {
		t.Fatalf("%+v, %v", c, err)
	}
	s := NewStore(t.TempDir(), w)
	order := artifact.Order{Name: "a", Target: target, Recipe: artifact.NewRecipe(info, runner.Settings{}, source, nil, version("2"))}
	for _, fetched := range []bool{true, false} {
		held, err := s.Fetch(t.Context(), order)
		if err != nil || held.Fetched != fetched {
			t.Fatalf("%+v, %v", held, err)
		}
		if b, err := os.ReadFile(filepath.Join(held.Dir, "version")); string(b) != "2\n" || err != nil {
			t.Errorf("%q, %v", b, err)
		}
	}
	order.Recipe.Version = artifact.Version{"ref": "3"}
	if _, err := s.Fetch(t.Context(), order); artifact.ClassOf(err) != artifact.Failed {
		t.Errorf("a version that is not there: %v", err)
	}
	put, err := w.Put(t.Context(), target, info, artifact.PutInput{Source: source, Params: json.RawMessage(`{"space":"main","version":{"ref":"3"}}`)})
	if want := []artifact.Versioned{version("3")}; err != nil || !reflect.DeepEqual(put.Created, want) {
		t.Errorf("%+v, %v", put, err)
	}
	if _, err := s.Fetch(t.Context(), order); err != nil {
		t.Errorf("what was put: %v", err)
	}
}
