package agent

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"deployster/internal/runtime/artifact"
	"deployster/internal/runtime/artifact/store"
	"deployster/internal/runtime/artifact/tree"
	"deployster/internal/runtime/remote"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/runnertest"
)

// packed is a directory as a client sends it.
func packed(t *testing.T, dir string) (hash string, archive *bytes.Buffer) {
	t.Helper()
	sum, err := tree.Measure(t.Context(), dir)
	archive = &bytes.Buffer{}
	if err := errors.Join(err, tree.Pack(t.Context(), archive, dir)); err != nil {
		t.Fatal(err)
	}
	return sum.Hash, archive
}

// Mounts of artifacts show what the client has sent, read-only, and nothing else.
func TestMachine_ShowsFilesOfArtifacts(t *testing.T) {
	from := t.TempDir()
	if err := os.Mkdir(filepath.Join(from, "dist"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc", filepath.Join(from, "out")); err != nil {
		t.Fatal(err)
	}
	hash, archive := packed(t, from)
	fake := runnertest.NewFake()
	var seen []runner.Mount
	fake.Add("acme/it", func(_ context.Context, s runner.Spec, _ io.Reader, _, _ io.Writer) int { seen = s.Mounts; return 0 })
	image, err := fake.Resolve(t.Context(), "acme/it")
	if err != nil {
		t.Fatal(err)
	}
	files := store.New(store.Options{Dir: filepath.Join(t.TempDir(), "artifacts"), Command: "test"})
	defer func() { _ = files.Close() }()
	m := New(Options{Runner: fake, Files: files})
	spec := func(key, sub string) runner.Spec {
		return runner.Spec{Name: "web/state", Kind: runner.Query, Digest: image.Digest,
			Mounts: []runner.Mount{{Source: artifact.MountSource(key, sub), Target: "/in", Writable: true}}}
	}
	if _, err := m.Run(t.Context(), spec("k1", "dist")); err == nil || seen != nil {
		t.Errorf("it runs without the files: %v", seen)
	}
	if err := m.Bring(t.Context(), remote.Files{Key: "k1", Name: "site", Tree: hash}, archive); err != nil {
		t.Fatal(err)
	}
	for name, spec := range map[string]runner.Spec{"another key": spec("k2", "dist"), "no such path": spec("k1", "none"), "a way out": spec("k1", "out")} {
		if _, err := m.Run(t.Context(), spec); err == nil || seen != nil {
			t.Errorf("%s: it runs with %v", name, seen)
		}
	}
	if _, err := m.Run(t.Context(), spec("k1", "dist")); err != nil {
		t.Fatal(err)
	}
	if len(seen) != 1 || filepath.Base(seen[0].Source) != "dist" || seen[0].Writable || !seen[0].Own || seen[0].Target != "/in" {
		t.Errorf("%+v", seen)
	}
}

// Two clients may have other files of one version: its image did not bring the same twice.
// Each is shown its own.
func TestMachine_ShowsEachClientItsOwnFiles(t *testing.T) {
	fake := runnertest.NewFake()
	var seen string
	fake.Add("acme/it", func(_ context.Context, s runner.Spec, _ io.Reader, _, _ io.Writer) int {
		b, err := os.ReadFile(filepath.Join(s.Mounts[0].Source, "f"))
		if err != nil {
			t.Error(err)
		}
		seen = string(b)
		return 0
	})
	image, err := fake.Resolve(t.Context(), "acme/it")
	if err != nil {
		t.Fatal(err)
	}
	at := filepath.Join(t.TempDir(), "artifacts")
	for _, text := range []string{"one", "two", "one"} {
		from := t.TempDir()
		if err := os.WriteFile(filepath.Join(from, "f"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		hash, archive := packed(t, from)
		files := store.New(store.Options{Dir: at, Command: "test"})
		defer func() { _ = files.Close() }() // all are there at one time
		m := New(Options{Runner: fake, Files: files})
		if err := m.Bring(t.Context(), remote.Files{Key: "k1", Name: "site", Tree: hash}, archive); err != nil {
			t.Fatal(err)
		}
		if _, err := m.Run(t.Context(), runner.Spec{Name: "web/state", Kind: runner.Query, Digest: image.Digest,
			Mounts: []runner.Mount{{Source: artifact.MountSource("k1", ""), Target: "/in"}}}); err != nil || seen != text {
			t.Errorf("%q is shown, and %q was sent: %v", seen, text, err)
		}
	}
}
