package plugin

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestStop_DoesNotWaitForWhatTheProviderLeaves stops a provider with a child that lives on,
// and has the log open.
func TestStop_DoesNotWaitForWhatTheProviderLeaves(t *testing.T) {
	path := filepath.Join(t.TempDir(), "provider")
	script := "#!/bin/sh\nsleep 30 &\necho $! >\"$0.child\"\necho '1|6|unix|/none|grpc'\nexec sleep 30\n"
	if err := os.WriteFile(path, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	p, err := Start(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path + ".child")
	if err != nil {
		t.Fatal(err)
	}
	child, err := strconv.Atoi(strings.TrimSpace(string(content)))
	if err != nil {
		t.Fatal(err)
	}
	p.Stop()
	if took := time.Since(begin); took > 20*time.Second || p.Alive() {
		t.Errorf("it took %s, and it is alive: %v", took, p.Alive())
	}
	_ = syscall.Kill(child, syscall.SIGKILL) // it has ended if Stop has waited for it
}
