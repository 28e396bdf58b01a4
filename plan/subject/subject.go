package subject

import (
	"slices"
	"strings"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/state"
	"deployster/state/moves"
)

// Subject is what a plan is about. Its owner calls its methods from one goroutine
// until all is chosen; then it is only read.
type Subject struct {
	Manifest  *config.Manifest
	Recorded  state.Snapshot // as the state file has it
	Placed    state.Snapshot // the same on the hosts of now
	Prior     state.Snapshot // that with the addresses of now
	Moves     []moves.Move   // what leads from one to the other
	Selection Selection

	stated  state.Snapshot  // with the addresses that the manifest states
	written []moves.Move    // what leads there
	ties    []moves.Move    // what the identity of things adds: its ends are selected together
	chosen  map[string]bool // what the plan is about; nil = everything
}

// New begins with all that there is.
func New(m *config.Manifest, recorded state.Snapshot, s Selection) *Subject {
	return &Subject{Manifest: m, Recorded: recorded, Placed: recorded, Prior: recorded, Selection: s}
}

// Begin follows the moves, and narrows the subject to what is selected.
func (s *Subject) Begin() diag.Diagnostics {
	diags := s.Move()
	if diags.HasErrors() {
		return diags
	}
	var known []string
	if s.Selection.addresses() > 0 {
		known = s.Addresses()
	}
	selection, more := s.Selection.normal(known)
	s.Selection = selection
	s.Narrow()
	return append(diags, more...)
}

// Partial reports whether anything may be left out.
func (s *Subject) Partial() bool { return s.chosen != nil }

// Wanted reports whether the plan is about an address: a resource, or a block whose
// instances are not known yet.
func (s *Subject) Wanted(addr string) bool { return s.chosen == nil || s.chosen[addr] }

// Aside reports whether an address is left out of matching too.
func (s *Subject) Aside(addr string) bool { return s.Selection.Apart && !s.Wanted(addr) }

// Matched are the declared resources that are matched with what is recorded.
func (s *Subject) Matched() []*config.Resource {
	all := s.Manifest.Resources()
	if !s.Selection.Apart {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), func(r *config.Resource) bool { return s.Aside(r.Address) })
}

// Picked reports whether an address is one that the flags name: these only, nothing
// comes along.
func (s *Subject) Picked(addr string) bool {
	return (len(s.Selection.Targets) == 0 || covered(s.Selection.Targets, addr)) && !covered(s.Selection.Excludes, addr)
}

// Replaces reports whether -replace names an address.
func (s *Subject) Replaces(addr string) bool {
	return covered(s.Selection.Replace, addr) && !strings.HasPrefix(addr, config.PublishPrefix) // that is put again, and nothing ends
}

// Removed lists what the state file knows and no manifest declares, sorted. What
// may be an instance of a block that was not expanded is not among it.
func (s *Subject) Removed() []string {
	declared := make(map[string]bool, len(s.Manifest.Resources()))
	for _, r := range s.Manifest.Resources() {
		declared[r.Address] = true
	}
	var gone []string
	for addr := range s.Prior.Resources {
		if !declared[addr] && s.PendingAbove(addr) == "" {
			gone = append(gone, addr)
		}
	}
	slices.Sort(gone)
	return gone
}

// RemovedBlock is the removed block that speaks of a resource, the one that
// does so most exactly.
func (s *Subject) RemovedBlock(addr string) *config.Removed {
	var found *config.Removed
	for _, block := range s.Manifest.Removed() {
		if moves.Covers(block.From, addr) && (found == nil || len(block.From) > len(found.From)) {
			found = &block
		}
	}
	return found
}

// PendingAbove is the block, of those whose instances are not known yet, that an
// address may be an instance of; "" if there is none.
func (s *Subject) PendingAbove(addr string) string {
	for _, p := range s.Manifest.Pending() {
		if moves.Covers(p.Address, addr) {
			return p.Address
		}
	}
	return ""
}

// Predecessors lists what a resource waits for, each once, sorted.
func Predecessors(r *config.Resource) []string {
	var list []string
	for _, e := range r.Edges {
		list = append(list, e.To)
	}
	slices.Sort(list)
	return slices.Compact(list)
}
