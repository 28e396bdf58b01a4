package containerd

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"deployster/containerd/layout"
	"deployster/internal/base/secret"
	"deployster/internal/runtime/runner"
)

// An action that got a secret and outlived its client is adopted with its exit code, and with its memory if the value is not in
// it. Nobody is shown what it prints, and no outcome on a disk has it.
func TestAdopt_KeepsNoOutputOfASecret(t *testing.T) {
	t.Parallel()
	o := embedded(t)
	r := open(t, o)
	dgst := packProbe(t, r)
	for memory, kept := range map[string]string{"7": `{"memory":"7"}` + "\n", "plum-canary": ""} {
		id := "secret/" + memory
		mark := filepath.Join(t.TempDir(), "mark")
		if err := os.WriteFile(mark, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		c := startClient(t, o, runner.Spec{Name: "a/make", ID: id, Kind: runner.Action, Digest: dgst, Entrypoint: "/bin/sh",
			Confidential: true, Secrets: []string{"plum-canary"}, SecretEnv: map[string]string{"B": "plum-canary"}, MaxStdout: 1000,
			Mounts: []runner.Mount{{Source: mark, Target: "/mark"}},
			Args:   []string{"-c", `echo '{"memory":"` + memory + `"}'; echo "with $B" >&2; while ! [ -s /mark ]; do sleep 0.05; done; exit 9`}})
		if err := c.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = c.Wait() // it was killed
		var seen bytes.Buffer
		out, err := r.Adopt(context.Background(), id, runner.Watch{Running: func() { end(t, mark) }, Stdout: &seen, Stderr: &seen})
		if err != nil || out.Fate != runner.Exited || out.ExitCode != 9 || string(out.Stdout) != kept || len(out.Stderr) != 0 || seen.Len() != 0 {
			t.Errorf("%s: %+v, %v, seen %q", memory, out, err, seen.String())
		}
		saved, err := os.ReadFile(filepath.Join(string(r.outcomes()), layout.ActionName(id)+".json"))
		if err != nil || secret.NewHider([]string{"plum-canary"}).Holds(string(saved)) {
			t.Errorf("%s: saved %s, %v", memory, saved, err)
		}
		if err := r.Discard(context.Background(), id); err != nil {
			t.Error(err)
		}
	}
	swept(t, r)
}
