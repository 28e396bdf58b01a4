package typeclient

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"deployster/internal/artifact"
	"deployster/internal/runner"
	"deployster/internal/runner/runnertest"
	"deployster/protocol"
)

// A mount of an artifact shows its files, read-only, wherever the store has them.
func TestClient_MountsFilesOfArtifacts(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "f"), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	f := runnertest.NewFake()
	var seen []runner.Mount
	f.Add("acme/it", func(_ context.Context, s runner.Spec, _ io.Reader, stdout, _ io.Writer) int {
		seen = s.Mounts
		_, _ = io.WriteString(stdout, `{"status":"VALID","state":{}}`)
		return 0
	})
	asked, fails := "", error(nil)
	c := New(Options{Runner: f, Files: func(_ context.Context, key, sub string) (string, error) {
		asked = key + "/" + sub
		return dir, fails
	}})
	digest, err := c.Resolve(t.Context(), "acme/it")
	if err != nil {
		t.Fatal(err)
	}
	ty := protocol.Type{Protocol: 2, Digest: digest}
	target := Target{Address: "a", Reference: "acme/it", Mounts: []runner.Mount{{Source: artifact.MountSource("key", "dist"), Target: "/in"}}}
	if _, err := c.State(t.Context(), target, ty, protocol.StateInput{}); err != nil {
		t.Fatal(err)
	}
	if want := (runner.Mount{Source: dir, Target: "/in", Own: true}); len(seen) != 1 || seen[0] != want || asked != "key/dist" {
		t.Errorf("%+v, asked for %q", seen, asked)
	}
	seen, fails = nil, errors.New("gone")
	if _, err := c.State(t.Context(), target, ty, protocol.StateInput{}); !errors.Is(err, fails) || seen != nil {
		t.Errorf("%v, ran with %v", err, seen)
	}
}
