package transfer

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"filippo.io/age"

	"deployster/internal/app/workspace"
	"deployster/internal/testkit/services"
	"deployster/state"
)

// project is a directory with a manifest that names a state, and whether that is encrypted with a key of its own.
type project struct {
	name, state string
	dir         string
	recipient   string
}

func (p *project) open() *workspace.Workspace {
	return workspace.New(workspace.Options{Dir: p.dir, DataDir: filepath.Join(p.dir, "data"), Environ: os.Environ(), LockTimeout: time.Minute})
}

// newProject writes a manifest, and begins the state. keys are the files of the keys of other projects.
func newProject(t *testing.T, p project, key string, keys ...string) *project {
	t.Helper()
	p.dir = t.TempDir()
	block := fmt.Sprintf("deployster {\n  state = %q\n", p.state)
	if key != "" {
		block += fmt.Sprintf("  encryption {\n    recipients     = [%q]\n    identity_files = [%q", p.recipient, key)
		for _, other := range keys {
			block += fmt.Sprintf(", %q", other)
		}
		block += "]\n  }\n"
	}
	if err := os.WriteFile(filepath.Join(p.dir, "main.hcl"), []byte(block+"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.change(t, func(s *state.Snapshot) {})
	return &p
}

func (p *project) change(t *testing.T, change func(*state.Snapshot)) {
	t.Helper()
	w := p.open()
	store, err := w.OpenState(t.Context(), w.StatePlaceAround(), "test")
	if err != nil {
		t.Fatal(err)
	}
	next := store.Snapshot().Clone()
	change(&next)
	if err := store.Replace(next); err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
}

func (p *project) load(t *testing.T) state.Snapshot {
	t.Helper()
	w := p.open()
	s, err := w.ReadState(t.Context(), w.StatePlaceAround())
	if err != nil {
		t.Fatal(err)
	}
	return s
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

func thing() state.Entry {
	return state.Entry{Type: "acme/thing:1", Digest: "sha256:1", Config: json.RawMessage(`{"secret":"hunter2"}`), State: json.RawMessage("{}"),
		ValidAt: time.Unix(1, 0), Memory: json.RawMessage(`"id 7"`)}
}

// A resource goes round: from a file through a directory, PostgreSQL and S3, and back. States that are encrypted stay so, with
// the keys that they have.
func TestRun_BetweenAllPlaces(t *testing.T) {
	for name, value := range services.Credentials() {
		t.Setenv(name, value)
	}
	t.Setenv("DEPLOYSTER_STATE_FASTER", "10")
	database, bucket := services.Postgres(t), services.S3(t)
	one, first := newKey(t)
	two, second := newKey(t)
	dir := t.TempDir()
	ring := []*project{
		newProject(t, project{name: "file", state: filepath.Join(dir, "a.json"), recipient: first}, one, two),
		newProject(t, project{name: "dir", state: "dir://" + filepath.Join(dir, "b"), recipient: second}, two),
		newProject(t, project{name: "postgres", state: "postgres://deploy@" + database + "/state?sslmode=disable&name=net"}, ""),
		newProject(t, project{name: "s3", state: "s3://state/net?region=eu-central-1&path_style=true&endpoint=http://" + bucket}, ""),
	}
	t.Setenv("DEPLOYSTER_IDENTITY_FILE", one)
	ring[0].change(t, func(s *state.Snapshot) { s.Resources["a"] = thing() })
	for i, from := range ring {
		to := ring[(i+1)%len(ring)]
		if _, err := Run(t.Context(), from.open(), Options{Addresses: []string{"a"}, To: to.state}); err != nil {
			t.Fatalf("%s to %s: %v", from.name, to.name, err)
		}
		here, there := from.load(t), to.load(t)
		if _, stays := here.Resources["a"]; stays || here.Went("a") == nil {
			t.Errorf("%s still has it: %+v", from.name, here.Transferred)
		}
		if e := there.Resources["a"]; string(e.Memory) != `"id 7"` || e.Transfer != nil {
			t.Errorf("%s has %+v", to.name, e)
		}
	}
	t.Setenv("DEPLOYSTER_IDENTITY_FILE", "")
	for _, p := range ring[:2] {
		for _, path := range contents(t, dir) {
			if data, err := os.ReadFile(path); err != nil || strings.Contains(string(data), "hunter2") {
				t.Errorf("%s: %s is in clear text: %v", p.name, path, err)
			}
		}
		if _, err := p.open().ReadState(t.Context(), p.open().Place(p.state)); err == nil {
			t.Errorf("%s can be read without its key", p.name)
		}
	}
}

// contents returns the files below a directory.
func contents(t *testing.T, dir string) (files []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// What is encrypted does not begin a state in clear text.
func TestRun_EncryptedNeedsAStateThere(t *testing.T) {
	key, recipient := newKey(t)
	p := newProject(t, project{state: "a.json", recipient: recipient}, key)
	p.change(t, func(s *state.Snapshot) { s.Resources["a"] = thing() })
	if _, err := Run(t.Context(), p.open(), Options{Addresses: []string{"a"}, To: "b.json"}); err == nil || !strings.Contains(err.Error(), "no state yet") {
		t.Errorf("it says %v", err)
	}
	if _, stays := p.load(t).Resources["a"]; !stays {
		t.Error("it is gone")
	}
}

// Two projects that give to each other at the same time both get what they want, as each waits for the first state first.
func TestRun_BothWaysAtOnce(t *testing.T) {
	dir := t.TempDir()
	a := newProject(t, project{state: filepath.Join(dir, "a.json")}, "")
	b := newProject(t, project{state: filepath.Join(dir, "b.json")}, "")
	const rounds = 20
	for i := range rounds {
		a.change(t, func(s *state.Snapshot) { s.Resources[fmt.Sprintf("a%d", i)] = thing() })
		b.change(t, func(s *state.Snapshot) { s.Resources[fmt.Sprintf("b%d", i)] = thing() })
		ends := make(chan error, 2)
		run := func(from, to *project, addr string) {
			w := from.open()
			w.LockTimeout = 5 * time.Second
			_, err := Run(t.Context(), w, Options{Addresses: []string{addr}, To: to.state})
			ends <- err
		}
		go run(a, b, fmt.Sprintf("a%d", i))
		go run(b, a, fmt.Sprintf("b%d", i))
		for range 2 {
			if err := <-ends; err != nil {
				t.Fatal(err)
			}
		}
	}
	if n := len(a.load(t).Resources) + len(b.load(t).Resources); n != 2*rounds {
		t.Errorf("they have %d resources", n)
	}
}
