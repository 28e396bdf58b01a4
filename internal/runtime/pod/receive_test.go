package pod

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deployster/internal/runtime/artifact/tree"
	"deployster/internal/runtime/remote"
	"deployster/internal/runtime/runner"
)

// The init container takes the files with the hash that its Pod names, and ends when its client has heard
// of it. It runs nothing.
func TestReceive_TakesTheExpectedFiles(t *testing.T) {
	t.Parallel()
	files := t.TempDir()
	if err := os.WriteFile(filepath.Join(files, "page.html"), []byte("<p>"), 0o644); err != nil {
		t.Fatal(err)
	}
	sum, err := tree.Measure(t.Context(), files)
	if err != nil {
		t.Fatal(err)
	}
	var archive bytes.Buffer
	if err := tree.Pack(t.Context(), &archive, files); err != nil {
		t.Fatal(err)
	}
	p, err := startPod(t, nil, "receive", sum.Hash, "/.deployster-run/volume")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(p.dir, "run", "volume"), 0o755); err != nil {
		t.Fatal(err)
	}
	c, err := remote.NewClient(t.Context(), p.dial(), remote.Hello{Build: remote.AgentVersion}, remote.DefaultTiming())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Run(t.Context(), shell(runner.Query, "", "true")); err == nil || !strings.Contains(err.Error(), errReceives.Error()) {
		t.Errorf("it runs a program: %v", err)
	}
	if err := c.Bring(t.Context(), remote.Files{Tree: "sha256:other"}, bytes.NewReader(archive.Bytes())); err == nil {
		t.Error("it takes files of another hash")
	}
	if err := c.Bring(t.Context(), remote.Files{Tree: sum.Hash}, bytes.NewReader(archive.Bytes()[:600])); err == nil {
		t.Error("it takes a part of the files")
	}
	if err := c.Bring(t.Context(), remote.Files{Tree: sum.Hash}, &archive); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(p.dir, "run", "volume", "files", "page.html")); err != nil || string(text) != "<p>" {
		t.Errorf("%q, %v", text, err)
	}
	_ = c.Close()
	p.gone()
}

// The init container of a command that was killed ends by itself.
func TestReceive_EndsWithoutAClient(t *testing.T) {
	t.Parallel()
	p, err := startPod(t, nil, "receive", "-idle=200ms", "sha256:1", "/.deployster-run")
	if err != nil {
		t.Fatal(err)
	}
	p.gone()
}
