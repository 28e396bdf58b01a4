package app_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deployster/internal/app"
	"deployster/internal/app/approval"
	"deployster/internal/app/workspace"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/imagestore"
	"deployster/internal/runtime/runner/runnertest"
)

// bundledThing is an image that comes with deployster, in files.
type bundledThing struct{ *runnertest.Fake }

func (b bundledThing) Image(name string) (runner.Image, error) {
	return b.Resolve(context.Background(), name+"#thing")
}

func (b bundledThing) Shipment(digest string) (imagestore.Shipment, error) {
	_, err := b.Resolve(context.Background(), digest)
	return imagestore.Shipment{Name: digest, Digest: digest}, err
}

func (b bundledThing) Has(string) bool { return false }

func (b bundledThing) Answer(digest, reference string) ([]byte, bool) {
	r, err := b.Run(context.Background(), runner.Spec{Name: "answer", Digest: digest, Stdin: []byte(`{"type": "` + reference + `"}`)})
	return r.Stdout, err == nil && strings.HasPrefix(reference, imagestore.Own)
}

func (b bundledThing) ReadContent(context.Context, string, int64, int) ([]byte, error) {
	return nil, errors.New("there is no content")
}

// What comes with deployster and runs on hosts alone needs no runtime here: not for its plan, not for its apply. What
// runs here or has another image does, and its error says why there is none.
func TestEngine_OpensTheRuntimeOnDemand(t *testing.T) {
	t.Parallel()
	const thing, host = "resource \"a\" {\n  type = \"deployster/machine#thing\"\n  host = host.web\n  config = { name = \"a\" }\n}\n",
		"host \"web\" { address = \"10.0.0.1\" }\n"
	here := "resource \"b\" {\n  type = \"deployster/machine#thing\"\n  config = { name = \"b\" }\n}\n"
	for name, c := range map[string]struct {
		manifest string
		opened   int
		lost     bool // the host, which is no error
		done     bool // something on the host
	}{
		"on a host":                {manifest: host + thing, done: true},
		"nothing":                  {},
		"here too":                 {manifest: host + thing + here, opened: 1, done: true},
		"another image on a host":  {manifest: host + strings.Replace(thing, "deployster/machine#thing", "thing", 1), opened: 1, done: true},
		"a host that is not there": {manifest: strings.Replace(host, "0.1", "0.9", 1) + thing, lost: true},
		"two that run here":        {manifest: here + strings.ReplaceAll(here, `"b"`, `"c"`), opened: 1},
	} {
		for _, fails := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				n, opened := newNetwork(t, "10.0.0.1"), 0
				for _, m := range []*hostMachine{n.here, n.machines["10.0.0.1"]} {
					m.Add("deployster/machine#thing", m.world.Program)
				}
				if err := os.WriteFile(filepath.Join(n.dir, "main.hcl"), []byte(c.manifest), 0o600); err != nil {
					t.Fatal(err)
				}
				e := app.New(app.Options{Workspace: workspace.Options{Dir: n.dir, Home: n.dir, Version: "test"}, Dial: n.dial,
					Bundled: bundledThing{n.here.Fake}, Artifacts: filepath.Join(n.dir, "artifacts"),
					Open: func(context.Context) (app.Runtime, error) {
						if opened++; fails {
							return nil, errors.New("no containerd can start")
						}
						return n.here, nil
					}})
				t.Cleanup(e.Close)
				_, err := e.Apply(t.Context(), app.ApplyOptions{Approval: approval.Options{Auto: true}})
				broken := fails && c.opened > 0
				if refused := broken && !c.lost; opened != c.opened || (err != nil) != refused {
					t.Errorf("the runtime was opened %d times: %v", opened, err)
				} else if refused && !strings.Contains(err.Error(), "no containerd can start") {
					t.Errorf("it is not said why: %v", err)
				}
				if done := n.done(); (done != "") != (c.done && !broken) {
					t.Errorf("on the host: %q", done)
				}
			})
		}
	}
}
