package secret

import (
	"maps"
	"slices"
	"sync"
)

// Set is the secrets that a command has learned so far. It learns more of them while the
// command runs, before the first program can repeat them.
type Set struct {
	mu     sync.Mutex
	always map[string]bool // of Add
	new    map[string]bool // of Learn, since the last Age
	old    map[string]bool // of Learn, before that
	short  bool            // some are too short to be searched for in longer texts
	hider  *Hider          // for all of them; nil = not made yet, or there is none
	known  int             // how many were added or learned, without those that were known already
}

// Add adds secrets for as long as the command runs.
func (s *Set) Add(secrets []string) { s.take(&s.always, secrets) }

// Learn adds secrets until the second call of Age after it.
func (s *Set) Learn(secrets []string) { s.take(&s.new, secrets) }

func (s *Set) take(into *map[string]bool, secrets []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range secrets {
		if one == "" || s.always[one] || (*into)[one] {
			continue
		}
		if !s.new[one] && !s.old[one] {
			s.known++
		}
		if *into == nil {
			*into = map[string]bool{}
		}
		if s.hider != nil {
			s.hider.Add(one)
		}
		(*into)[one] = true
		s.short = s.short || len(one) < MinEmbedded
	}
}

// Known returns how many secrets have become known so far.
func (s *Set) Known() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.known
}

// Age forgets the secrets that were learned before the last call of Age, and not again
// since: a command that runs for months learns secrets that are no longer secret.
func (s *Set) Age() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.old, s.new, s.hider, s.short = s.new, nil, nil, false
	for _, one := range s.all() {
		s.short = s.short || len(one) < MinEmbedded
	}
}

// all returns all known secrets. The lock is held.
func (s *Set) all() []string {
	list := slices.Collect(maps.Keys(s.always))
	list = slices.AppendSeq(list, maps.Keys(s.new))
	return slices.AppendSeq(list, maps.Keys(s.old))
}

// Hide masks the secrets in a text.
func (s *Set) Hide(text string) string {
	if hide := s.Hiding(); hide != nil {
		return hide(text)
	}
	return text
}

// Hiding returns a function that masks the secrets known now; nil = there are none.
func (s *Set) Hiding() func(text string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hider == nil {
		all := s.all()
		if len(all) == 0 {
			return nil
		}
		s.hider = NewHider(all)
	}
	return s.hider.Hide
}

// Private reports whether a text may contain a secret. Any text may contain a short one.
func (s *Set) Private(text string) bool {
	s.mu.Lock()
	none, short := len(s.always)+len(s.new)+len(s.old) == 0, s.short
	s.mu.Unlock()
	return !none && (short || s.Hide(text) != text)
}
