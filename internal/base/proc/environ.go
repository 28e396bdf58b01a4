package proc

import "strings"

// WithoutSecrets returns an environment (entries NAME=VALUE) without the variables of a
// manifest and the passphrase of a state, for a program that does not need them. A
// process that outlives its parent shows its environment for as long as it runs.
func WithoutSecrets(environ []string) []string {
	kept := make([]string, 0, len(environ))
	for _, e := range environ {
		if !strings.HasPrefix(e, "DEPLOYSTER_VAR_") && !strings.HasPrefix(e, "DEPLOYSTER_PASSPHRASE=") {
			kept = append(kept, e)
		}
	}
	return kept
}
