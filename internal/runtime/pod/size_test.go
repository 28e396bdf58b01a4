package pod

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// mostBytes is how large deployster-pod may be: each Pod copies it into memory.
const mostBytes = 3_750_000

func TestProgram_IsSmall(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "deployster-pod")
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", path, "./deployster-pod") // as make builds it
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH=amd64")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > mostBytes {
		t.Errorf("deployster-pod has %d bytes, and may have %d", info.Size(), mostBytes)
	}
}
