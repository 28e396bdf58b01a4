package withheld

import (
	"deployster/internal/base/jsondoc"
	"deployster/internal/base/secret"
	"deployster/internal/runtime/runner"
)

// Output returns the outcome of a run that got secrets as it is kept without its client: its end, and a memory without the
// value of a secret. answers reports that its stdout is an answer, and not a log.
func Output(o runner.Outcome, answers bool, secrets []string) runner.Outcome {
	o.Stderr = nil
	if !answers || !isMemory(o.Stdout, secrets) {
		o.Stdout = nil
	}
	return o
}

// isMemory reports whether an answer has a memory without a secret, and nothing else.
func isMemory(answer []byte, secrets []string) bool {
	members, err := jsondoc.Object(answer)
	return err == nil && len(members) == 1 && members["memory"] != nil && len(secret.Find(answer, secrets)) == 0
}
