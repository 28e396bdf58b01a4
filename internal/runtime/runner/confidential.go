package runner

import (
	"maps"

	"deployster/internal/base/jsondoc"
	"deployster/internal/base/secret"
)

// Hide takes the whole environment out of the container's specification. What the program prints is a secret.
func (s *Spec) Hide() {
	s.Confidential = true
	if len(s.Settings.Env) == 0 {
		return
	}
	env := maps.Clone(s.Settings.Env)
	maps.Copy(env, s.SecretEnv)
	s.SecretEnv = env
	s.Settings.Env = nil
}

// WithoutOutput returns the outcome of a run that got secrets as it is kept without its client: its end, and a memory without
// the value of a secret. answers reports that its stdout is an answer, and not a log.
func (o Outcome) WithoutOutput(answers bool, secrets []string) Outcome {
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
