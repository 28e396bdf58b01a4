package typeclient

import (
	"time"

	"deployster/internal/runtime/runner/answers"
)

// StepSecret is the step in which an image prints a secret.
const StepSecret = "secret"

// SecretTimeout is how long an image may take to print a secret, unless its type block has another time.
const SecretTimeout = time.Minute

// printed returns the secret that an image has printed, which is hidden from then on in all that is shown and recorded.
func (k call) printed(stdout []byte) []string {
	if !k.secret {
		return nil
	}
	s, err := answers.ReadSecret(stdout)
	if err != nil {
		return nil
	}
	return []string{s.Value}
}
