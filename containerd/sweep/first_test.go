package sweep

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"deployster/internal/base/proc"
)

// Without cgroups, what runc has recorded is the only trace of a container whose shim is gone. A process that
// has got the number of the recorded one since is not ended.
func TestEndFirst_EndsWhatRuncHasRecorded(t *testing.T) {
	t.Parallel()
	w := Sweeper{Namespace: "deployster", RuntimeDir: t.TempDir(), Embedded: true}
	procs := map[string]*exec.Cmd{}
	for id, shift := range map[string]int{"dead-1": 0, "dead-2": 1, "other-1": 0} {
		c := exec.Command("sleep", "600")
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		procs[id] = c
		t.Cleanup(func() { _ = c.Process.Kill() })
		var started int
		if _, err := fmt.Sscan(proc.Of(c.Process.Pid).Started, &started); err != nil {
			t.Fatal(err)
		}
		dir := filepath.Join(w.RuntimeDir, "runc", w.Namespace, id)
		state := fmt.Sprintf(`{"id":%q,"init_process_pid":%d,"init_process_start":%d}`, id, c.Process.Pid, started+shift)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "state.json"), []byte(state), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.endFirst(func(id string) bool { return id == "dead-1" || id == "dead-2" }); err != nil {
		t.Fatal(err)
	}
	if err := procs["dead-1"].Wait(); err == nil || procs["dead-1"].ProcessState.Exited() {
		t.Errorf("its first process ended by itself: %v", err)
	}
	for _, id := range []string{"dead-2", "other-1"} {
		if proc.Of(procs[id].Process.Pid).Ended() {
			t.Errorf("the process of %s was ended", id)
		}
		_ = procs[id].Process.Kill()
		_ = procs[id].Wait()
	}
}
