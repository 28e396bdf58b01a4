package sweep

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"deployster/containerd/runfiles"
	"deployster/internal/runtime/runner"
)

// What is known of an action is what its agent has recorded: without a begin it was not begun, and with a begin alone
// nobody knows.
func TestSharedAction_IsWhatItsAgentRecorded(t *testing.T) {
	t.Parallel()
	exited := runner.Outcome{Fate: runner.Exited, Result: runner.Result{ExitCode: 1}}
	for name, c := range map[string]struct {
		record string
		ended  runner.Outcome
		want   string
	}{
		"ended":                         {"begun\nexit 9\n", exited, "exited 9 false"},
		"ended well":                    {"begun\nexit 0\n", runner.Outcome{Fate: runner.Exited, Result: runner.Result{OOM: true}}, "exited 0 false"},
		"ended in a container lost":     {"begun\nexit 9\n", runner.Outcome{Fate: runner.Unknown, Why: "lost"}, "exited 9 false"},
		"ended for lack of memory":      {"begun\nexit 137\n", runner.Outcome{Fate: runner.Exited, Result: runner.Result{OOM: true}}, "exited 137 true"},
		"begun":                         {"begun\n", exited, "unknown 0 false"},
		"begun in an agent that closed": {"begun\n", runner.Outcome{Fate: runner.Exited}, "unknown 0 false"},
		"begun in a container lost":     {"begun\n", runner.Outcome{Fate: runner.Unknown, Why: "lost"}, "unknown 0 false"},
		"not begun":                     {"", exited, "not begun 0 false"},
		"not begun in one lost":         {"", runner.Outcome{Fate: runner.Unknown, Why: "lost"}, "not begun 0 false"},
		"could not be begun":            {"begun\nnot begun\n", exited, "not begun 0 false"},
		"no record":                     {"-", exited, "unknown 0 false"},
	} {
		dir := t.TempDir()
		files := runfiles.ActionDir(dir, 3)
		if err := os.Mkdir(files, 0o700); err != nil {
			t.Fatal(err)
		}
		for file, text := range map[string]string{"record": c.record, "stdout": "out", "stderr": "err"} {
			if text == "-" {
				continue
			}
			if err := os.WriteFile(filepath.Join(files, file), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		k, err := sharedOutcome(dir, 3, c.ended)
		got := fmt.Sprintf("%s %d %v", k.Fate, k.ExitCode, k.OOM)
		if err != nil || got != c.want || string(k.Stdout)+string(k.Stderr) != "outerr" || (k.Why != "") != (k.Fate == runner.Unknown) {
			t.Errorf("%s: %s (%+v), %v, want %s", name, got, k, err, c.want)
		}
	}
}
