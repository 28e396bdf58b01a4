package change

import (
	"slices"

	"deployster/internal/base/secretref"
	"deployster/internal/runtime/runner"
)

// HasSecrets reports whether the containers of a step get the value of a secret block.
func (s *Step) HasSecrets() bool {
	for _, text := range s.Settings.Env {
		if secretref.In([]byte(text)) {
			return true
		}
	}
	return secretref.In(s.Config) || slices.ContainsFunc(s.Mounts, func(m runner.Mount) bool { return secretref.In([]byte(m.Content)) })
}
