package query

import (
	"deployster/internal/runtime/runner/secretgrant"
	"deployster/plan"
)

// GetsSecrets reports whether the containers of a step get the value of a secret block.
func GetsSecrets(step *plan.Step) bool {
	return len(secretgrant.Names(step.Settings.Env, step.Mounts, step.Config)) > 0
}
