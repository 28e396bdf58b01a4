package runner

import "maps"

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
