package plan

import (
	"fmt"
	"slices"

	"deployster/config"
	"deployster/state"
)

// noteLost says of a resource that does not exist, though it was recorded, what
// becomes of the recorded thing: where it may be another one, it is left alone.
func (s *Step) noteLost(entry state.Entry, known bool) {
	switch {
	case !known || s.Change != Create:
	case untagged(entry.Type) != untagged(s.Type):
		s.Notes = append(s.Notes, fmt.Sprintf("It was recorded as made by %s. If that is still there, it stays as it is and is remembered no more: to have it destroyed, apply once without this block first.", entry.Type))
	case string(entry.Config) != string(s.Config):
		s.Notes = append(s.Notes, "It was recorded with another config, and with this one its image finds nothing. If what was made with the other one is still there, it stays as it is and is remembered no more.")
	}
}

// noteDependants says of what is destroyed which of those that were recorded as
// depending on it are only forgotten: they stay, without what they depend on.
func (b *builder) noteDependants() {
	var forgotten []string
	for addr, left := range b.steps {
		if left.Change == Forget && !left.Init.Absent { // else it was asked, and is gone itself
			forgotten = append(forgotten, addr)
		}
	}
	slices.Sort(forgotten)
	for _, dependant := range forgotten {
		for _, addr := range b.prior.Resources[dependant].Dependencies {
			if s := b.steps[addr]; s != nil && (s.Change == Destroy || s.Change == Replace) {
				s.Notes = append(s.Notes, fmt.Sprintf("%s was recorded as depending on it, and is only forgotten: that stays as it is, without this.", config.Reference(dependant)))
			}
		}
	}
}
