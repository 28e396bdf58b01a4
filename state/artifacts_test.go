package state

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deployster/internal/runtime/artifact"
	"deployster/internal/runtime/runner"
	"deployster/state/actions"
)

// A put is on record from before it began: who comes after a crash knows what was put,
// and what the image said.
func TestJournal_KeepsPutsAndPins(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s.json")
	store, err := Open(context.Background(), File(path), Options{})
	ok(t, err)
	j, err := store.Begin("p1", "")
	ok(t, err)
	pin, mount := samplePin(), artifact.MountSource("0123", "dist")
	ok(t, j.Pins(map[string]Pin{"0123": pin, "unused": pin}))
	begun := entry(`{"source":{}}`)
	ok(t, j.ActionStarted(Start{Address: "publish.release", Action: "put", Key: "k", Incomplete: &begun}))
	ok(t, j.Put("publish.release", actions.Put{Config: json.RawMessage(`{"params":{"v":"secret12"}}`), Sensitive: []string{"/params/v"}}))
	made := entry(`{}`)
	made.Mounts = []runner.Mount{{Source: mount, Target: "/site"}}
	ok(t, j.Valid("docroot", made))
	ok(t, j.Artifacts(map[string]Artifact{"site": {Pin: pin, At: time.Now()}}))
	ok(t, store.Close()) // the process dies: its journal stays

	store, err = Open(context.Background(), File(path), Options{})
	ok(t, err)
	defer store.Close()
	s := store.Snapshot()
	if u := s.Unsettled["publish.release"]; u.Put == nil || string(u.Put.Config) != `{"params":{"v":"secret12"}}` || len(u.Open()) != 1 {
		t.Fatalf("%+v", u)
	}
	if _, needed := s.Pins["0123"]; !needed || len(s.Pins) != 1 || s.Artifacts["site"].Name != "site" {
		t.Errorf("pins %v, artifacts %v", s.Pins, s.Artifacts)
	}
	said := &artifact.Put{Created: []artifact.Versioned{{Version: artifact.Version{"n": "2"}}}}
	ok(t, store.Replace(s.Answered("publish.release", said).Answered("publish.other", said)))
	if s.Unsettled["publish.release"].Put.Answer != nil {
		t.Error("a snapshot was changed that somebody has")
	}
	if put := store.Snapshot().Unsettled["publish.release"].Put; put.Answer == nil || put.Answer.Created[0].Version["n"] != "2" {
		t.Errorf("%+v", put)
	}
	shown, err := json.Marshal(s.Masked())
	ok(t, err)
	for _, secret := range []string{"hunter2", "secret12", `"0123"`, "artifact:0123"} {
		if strings.Contains(string(shown), secret) {
			t.Errorf("%s is shown in\n%s", secret, shown)
		}
	}
	if plain, _ := json.Marshal(s); !strings.Contains(string(plain), "artifact:0123/dist") {
		t.Errorf("masking has changed what it was made of:\n%s", plain)
	}
}
