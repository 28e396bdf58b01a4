package proc

import "strings"

// WithoutSecrets returns the entries NAME=VALUE of an environment that a program gets
// which has no use for the variables of a manifest or the passphrase of a state. A
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
