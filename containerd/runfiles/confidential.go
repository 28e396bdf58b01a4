package runfiles

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"

	"deployster/containerd/layout"
	"deployster/internal/base/secret"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/withheld"
)

// confidentialFile marks a run that got a secret. Like all files of such a run, it is in memory.
const confidentialFile = "confidential"

// confidential is its content.
type confidential struct {
	Answers bool     `json:"answers"` // its stdout is an answer, and not a log
	Secrets []string `json:"secrets"` // the values that it got
}

// MarkConfidential notes that a run gets secrets, which, and whether its stdout is an answer.
func MarkConfidential(dir string, isAnswer bool, secrets []string) error {
	text, err := json.Marshal(confidential{isAnswer, secrets})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, confidentialFile), text, 0o600)
}

// IsConfidential reports whether the run with this directory got a secret.
func IsConfidential(dir string) bool { return layout.Exists(filepath.Join(dir, confidentialFile)) }

// Confidential takes out of the outcome of a run that got a secret what it has printed, but for a memory without the
// value of a secret: the outcome is written to a disk.
func Confidential(dir string, k *runner.Outcome) error {
	text, err := os.ReadFile(filepath.Join(dir, confidentialFile))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	var of confidential
	known := json.Unmarshal(text, &of) == nil
	*k = withheld.Output(*k, known && of.Answers, of.Secrets)
	if k.Answer != nil && (!known || secret.NewHider(of.Secrets).Holds(string(k.Answer))) {
		k.Answer, k.Fault = nil, "it may have the value of a secret, and is not kept"
	}
	return err
}
