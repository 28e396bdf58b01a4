package runfiles

import (
	"testing"

	"deployster/internal/runtime/runner"
)

// Of an action that got a secret and outlived its client, the outcome has the exit code and its answer, and no log.
func TestConfidential_OutcomesHaveNoOutput(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		marked, answers bool
		stdout, stderr  string
	}{
		"no secret": {stdout: "out", stderr: "err"},
		"a log":     {marked: true},
		"an answer": {marked: true, answers: true, stdout: "out"},
	} {
		dir := t.TempDir()
		if c.marked {
			if err := MarkConfidential(dir, c.answers); err != nil {
				t.Fatal(err)
			}
		}
		k := runner.Outcome{Fate: runner.Exited, Result: runner.Result{ExitCode: 3, Stdout: []byte("out"), Stderr: []byte("err")}}
		if err := Confidential(dir, &k); err != nil || string(k.Stdout) != c.stdout || string(k.Stderr) != c.stderr || k.ExitCode != 3 {
			t.Errorf("%s: %+v %v", name, k, err)
		}
	}
}
