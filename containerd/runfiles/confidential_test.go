package runfiles

import (
	"os"
	"path/filepath"
	"testing"

	"deployster/internal/runtime/runner"
)

// Of an action that got a secret and outlived its client, the outcome has the exit code and its memory, and no log. A memory
// with the value of the secret, in any form, is refused.
func TestConfidential_OutcomesHaveNoOutput(t *testing.T) {
	t.Parallel()
	const memory, base64 = `{"memory":{"id":"7"}}`, `{"memory":["cGx1bS1jYW5hcnk="]}`
	for name, c := range map[string]struct {
		marked, answers, damaged bool
		stdout, kept             string
		stderr                   string
	}{
		"no secret":                {stdout: "out", kept: "out", stderr: "err"},
		"a log":                    {marked: true, stdout: memory},
		"a memory":                 {marked: true, answers: true, stdout: memory, kept: memory},
		"a memory with the value":  {marked: true, answers: true, stdout: `{"memory":"x:plum-canary"}`},
		"in another form":          {marked: true, answers: true, stdout: base64},
		"the value as a key":       {marked: true, answers: true, stdout: `{"memory":{"plum-canary":1}}`},
		"no object":                {marked: true, answers: true, stdout: "my password is pl"},
		"more than a memory":       {marked: true, answers: true, stdout: `{"memory":1,"log":"pl"}`},
		"the values are not known": {marked: true, answers: true, damaged: true, stdout: memory},
	} {
		dir := t.TempDir()
		if c.marked {
			if err := MarkConfidential(dir, c.answers, []string{"plum-canary"}); err != nil {
				t.Fatal(err)
			}
		}
		if c.damaged {
			if err := os.WriteFile(filepath.Join(dir, confidentialFile), []byte(`{"answers":true`), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		k := runner.Outcome{Fate: runner.Exited, Result: runner.Result{ExitCode: 3, Stdout: []byte(c.stdout), Stderr: []byte("err")}}
		if err := Confidential(dir, &k); err != nil || string(k.Stdout) != c.kept || string(k.Stderr) != c.stderr || k.ExitCode != 3 {
			t.Errorf("%s: %+v %v", name, k, err)
		}
		if IsConfidential(dir) != c.marked {
			t.Errorf("%s: it is confidential: %v", name, !c.marked)
		}
	}
}

// The answer of an action that has the value is not kept either.
func TestConfidential_AnswersHaveNoValue(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := MarkConfidential(dir, false, []string{"plum-canary"}); err != nil {
		t.Fatal(err)
	}
	for answer, kept := range map[string]bool{`{"digest":"a"}`: true, `{"digest":"plum-canary"}`: false} {
		k := runner.Outcome{Fate: runner.Exited, Result: runner.Result{Answer: []byte(answer)}}
		if err := Confidential(dir, &k); err != nil || (k.Answer != nil) != kept || (k.Fault == "") != kept {
			t.Errorf("%s: %+v %v", answer, k, err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, confidentialFile), []byte(`{"answers":true`), 0o600); err != nil {
		t.Fatal(err)
	}
	k := runner.Outcome{Fate: runner.Exited, Result: runner.Result{Answer: []byte("{}")}}
	if err := Confidential(dir, &k); err != nil || k.Answer != nil || k.Fault == "" {
		t.Errorf("the values are not known: %+v %v", k, err)
	}
}
