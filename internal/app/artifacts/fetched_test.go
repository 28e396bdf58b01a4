package artifacts

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"deployster/internal/base/diag"
	"deployster/internal/runtime/artifact"
	"deployster/internal/runtime/artifact/artifacttest"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/protocol"
	"deployster/state"
)

// getting is a scene whose publish has fetch = true.
func getting(t *testing.T, image string, prior state.Snapshot) *scene {
	s := newScene(t, image, false, prior)
	s.publishes[address].Publish.Fetch = true
	return s
}

// gets returns how often files were fetched since the last call.
func (s *scene) gets() (n int) {
	for _, call := range s.world.TakeLog() {
		if strings.HasPrefix(call, artifact.StepGet+" ") {
			n++
		}
	}
	return n
}

// treeOf returns what a state says of the fetched files, and its version.
func treeOf(t *testing.T, document json.RawMessage) (tree, version string) {
	var p Published
	if err := json.Unmarshal(document, &p); err != nil {
		t.Fatalf("%s: %v", document, err)
	}
	return p.Tree, p.Version["ref"]
}

// A publish with fetch fetches what it has put, once, as the artifact will have it.
func TestPublish_FetchesWhatItHasPut(t *testing.T) {
	t.Parallel()
	for _, image := range []string{"acme/v1", "acme/v2"} {
		s := getting(t, image, state.Snapshot{})
		on := typeclient.Target{Address: address, Reference: image}
		in := protocol.ActionInput{StateInput: protocol.StateInput{Config: wished("one", "2")}}
		_, err := s.ActNotify(t.Context(), on, protocol.Type{}, putAction, in, func(runner.Result, error) error { return nil })
		if err != nil {
			t.Fatal(image, err)
		}
		answer, err := s.State(t.Context(), on, protocol.Type{}, protocol.StateInput{Config: in.Config})
		if err != nil || answer.Status != protocol.Valid {
			t.Fatal(image, answer, err)
		}
		tree, version := treeOf(t, answer.State)
		if n := s.gets(); !strings.HasPrefix(tree, "sha256:") || version != "2" || n != 1 {
			t.Errorf("%s: %s, fetched %d times", image, answer.State, n)
		}
		a := s.declared["out"]
		key, err := artifact.NewRecipe(s.info, a.Settings, a.Source.Value, a.Params.Value, artifact.Versioned{Version: artifact.Version{"ref": "2"}}).Key()
		if e, here := s.o.Store.Look(key); err != nil || !here || e.Tree != tree {
			t.Errorf("%s: the artifact would fetch it again: %+v, %v", image, e, err)
		}
	}
}

// A fetch that failed, or was killed, is made up for by the next command, which does not put again.
func TestPublish_FetchIsRepeatedWithoutAPut(t *testing.T) {
	t.Parallel()
	one := wished("one", "2")
	said := &artifact.Put{Created: []artifact.Versioned{{Version: artifact.Version{"ref": "2"}}}}
	s := getting(t, "acme/v1", begun("acme/v1", artifact.Concourse1, one, new(0), "", said))
	s.world.Change(`{"password":"one"}`, func(l *artifacttest.Line) {
		l.Spaces[""] = append(l.Spaces[""], artifact.Versioned{Version: artifact.Version{"ref": "2"}})
	})
	s.world.Fail(artifact.StepGet, &artifact.Error{Class: artifact.Failed, Err: errors.New("refused")})
	if a, err := s.ask("acme/v1", nil, one); err == nil || diag.From("", err)[0].Summary != "What was published cannot be fetched" {
		t.Errorf("%+v, %v", a, err)
	}
	s.world.Fail(artifact.StepGet, nil)
	a, err := s.ask("acme/v1", nil, one)
	if tree, version := treeOf(t, a.State); err != nil || tree == "" || version != "2" || slices.Contains(s.log, "put") {
		t.Errorf("%s, %v; %v", a.State, err, s.log)
	}
}

// With fetch added to the block of what is published already, that is fetched, once.
func TestPublish_FetchesWhatWasPutBefore(t *testing.T) {
	t.Parallel()
	one := wished("one", "2")
	s := getting(t, "acme/v1", state.Snapshot{})
	a, err := s.ask("acme/v1", one, one)
	if tree, version := treeOf(t, a.State); err != nil || tree == "" || version != "1" || len(s.log) > 0 || s.gets() != 1 {
		t.Fatalf("%s, %v; %v", a.State, err, s.log)
	}
	again, err := s.State(t.Context(), typeclient.Target{Address: address, Reference: "acme/v1"}, protocol.Type{},
		protocol.StateInput{Config: one, LastConfig: one, LastState: a.State})
	if err != nil || string(again.State) != string(a.State) || s.gets() != 0 {
		t.Errorf("%s, %v", again.State, err)
	}
}
