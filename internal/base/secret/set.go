package secret

import (
	"maps"
	"slices"
	"sync"
)

// Set is the secrets that a command has learned so far. It learns of more while the
// command runs, before the first program can repeat them.
type Set struct {
	mu      sync.Mutex
	secrets map[string]bool
	short   bool   // some of them are too short to be looked for in longer texts
	hider   *Hider // nil = to be made: a secret came since, or there is none
}

// Add takes note of secrets.
func (s *Set) Add(secrets []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range secrets {
		if one != "" && !s.secrets[one] {
			if s.secrets == nil {
				s.secrets = map[string]bool{}
			}
			s.secrets[one], s.hider = true, nil
			s.short = s.short || len(one) < MinEmbedded
		}
	}
}

// Hide takes the secrets out of a text.
func (s *Set) Hide(text string) string {
	if hide := s.Hiding(); hide != nil {
		return hide(text)
	}
	return text
}

// Hiding returns what hides the secrets that are known now; nil = there are none.
func (s *Set) Hiding() func(text string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.secrets) == 0 {
		return nil
	}
	if s.hider == nil {
		s.hider = NewHider(slices.Collect(maps.Keys(s.secrets)))
	}
	return s.hider.Hide
}

// Private reports whether there may be a secret in a text. A short one may be in any.
func (s *Set) Private(text string) bool {
	s.mu.Lock()
	none, short := len(s.secrets) == 0, s.short
	s.mu.Unlock()
	return !none && (short || s.Hide(text) != text)
}
