package remotes

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"filippo.io/age"

	"deployster/config"
	"deployster/internal/app/sharedstate"
	"deployster/internal/app/workspace"
	"deployster/internal/testkit/services"
	"deployster/state"
)

// project is a directory with a manifest.
type project struct {
	t   *testing.T
	dir string
}

func newProject(t *testing.T, manifest string) *project {
	t.Helper()
	p := &project{t, t.TempDir()}
	if err := os.WriteFile(filepath.Join(p.dir, "main.hcl"), []byte(manifest), 0o600); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *project) open() *workspace.Workspace {
	return workspace.New(workspace.Options{Dir: p.dir, DataDir: filepath.Join(p.dir, "data"), Environ: os.Environ(), LockTimeout: time.Minute})
}

// publish records outputs as an apply does, and returns the serial.
func (p *project) publish(status state.Status, e *state.Exports, outputs map[string]string) uint64 {
	p.t.Helper()
	w := p.open()
	store, err := w.OpenState(p.t.Context(), w.StatePlaceAround(), "test")
	if err != nil {
		p.t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	store.Publishes(e, nil)
	j, err := store.Begin(state.NewID(), store.Snapshot().Lineage)
	if err == nil {
		all := map[string]state.Output{"mine": {Value: json.RawMessage(`"private"`)}}
		for name, value := range outputs {
			all[name] = state.Output{Value: json.RawMessage(value), Export: true, Sensitive: name == "token"}
		}
		err = j.Outputs(all)
	}
	if err == nil {
		err = j.Finish(status)
	}
	if err != nil {
		p.t.Fatal(err)
	}
	return store.Snapshot().Serial
}

// used returns what a manifest uses of other states.
func (p *project) used() (map[string]config.RemoteState, string) {
	m, err := p.open().Manifest(p.t.Context(), workspace.Inputs{})
	if err != nil {
		return nil, err.Error()
	}
	return m.Sources().Remote, ""
}

func newKey(t *testing.T) (file, recipient string) {
	t.Helper()
	id, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(t.TempDir(), "key.txt")
	if err := os.WriteFile(file, []byte(id.String()+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return file, id.Recipient().String()
}

// What one project publishes in each kind of place is read by another with keys of its own: the state itself cannot be read with
// them, and what is not exported is nowhere in it. After a move of the state the old place has nothing to read.
func TestRemote_FromAllPlaces(t *testing.T) {
	for name, value := range services.Credentials() {
		t.Setenv(name, value)
	}
	t.Setenv("DEPLOYSTER_STATE_FASTER", "10")
	database, bucket := services.Postgres(t), services.S3(t)
	own, owner := newKey(t)
	theirs, reader := newKey(t)
	dir := t.TempDir()
	for name, url := range map[string]string{
		"file":     filepath.Join(dir, "a.json"),
		"dir":      "dir://" + filepath.Join(dir, "b"),
		"postgres": "postgres://deploy@" + database + "/state?sslmode=disable&name=net",
		"s3":       "s3://state/net?region=eu-central-1&path_style=true&endpoint=http://" + bucket,
	} {
		t.Run(name, func(t *testing.T) {
			net := newProject(t, fmt.Sprintf("deployster {\n  state = %q\n  encryption {\n    recipients     = [%q]\n    identity_files = [%q]\n  }\n}\n",
				url, owner, own))
			web := newProject(t, fmt.Sprintf("deployster {\n  encryption {\n    recipients     = [%q]\n    identity_files = [%q]\n  }\n}\n"+
				"remote_state \"net\" { url = %q }\noutput \"o\" { value = \"${remote_state.net.outputs.vpc}-1\" }\n", reader, theirs, url))
			if _, why := web.used(); !strings.Contains(why, "publishes no outputs") {
				t.Fatalf("before: %q", why)
			}
			exports := &state.Exports{Recipients: []string{reader}}
			serial := net.publish(state.StatusOK, exports, map[string]string{"vpc": `"v-1"`, "token": `"hunter2"`})
			used, why := web.used()
			if r := used["net"]; why != "" || r.Serial != serial || len(r.Outputs) != 1 || string(r.Outputs["vpc"].Value) != `"v-1"` {
				t.Fatalf("used %+v, %q", used, why)
			}
			if _, _, err := state.Load(web.open().Place(url), web.open().OtherKeys()); err == nil {
				t.Error("the reader can read the state")
			}
			later := net.publish(state.StatusOK, exports, map[string]string{"vpc": `"v-1"`, "more": "[1]"})
			if used, why = web.used(); why != "" || used["net"].Serial != later {
				t.Errorf("then: %+v, %q", used, why)
			}
			net.publish(state.StatusOK, &state.Exports{}, map[string]string{"vpc": `"v-1"`})
			if _, why = web.used(); !strings.Contains(why, "keys do not fit") && !strings.Contains(why, "key") {
				t.Errorf("with the keys of the state: %q", why)
			}
			if _, err := sharedstate.MoveState(t.Context(), net.open(), filepath.Join(dir, name+".json")); err != nil {
				t.Fatal(err)
			}
			if _, why = web.used(); !strings.Contains(why, "moved") || !strings.Contains(why, name+".json") {
				t.Errorf("after the move: %q", why)
			}
			if _, err := state.LoadOutputs(state.File(filepath.Join(dir, name+".json")), net.open().OtherKeys()); err == nil {
				t.Error("what the moved state publishes can be read without a key")
			}
		})
	}
}
