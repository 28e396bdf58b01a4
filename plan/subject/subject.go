package subject

import (
	"slices"
	"strings"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/plan/artifacts"
	"deployster/plan/reason"
	"deployster/state"
	"deployster/state/moves"
)

// Subject is what a plan covers. Its owner calls its methods from one goroutine
// until all is selected; then it is only read.
type Subject struct {
	Manifest  *config.Manifest
	Recorded  state.Snapshot // the state as the state file has it
	Placed    state.Snapshot // Recorded, on the present hosts
	Prior     state.Snapshot // Placed, with the present addresses
	Moves     []moves.Move   // from the addresses in Placed to those in Prior
	Selection Selection
	LeftOut   map[string]*reason.Reason // the addresses that nobody has left out, with the reason

	// Waiting returns the artifacts that have no version yet, by name; nil = there are none. Lacking are the artifacts whose files
	// resources are given as plugs, by address, among those.
	Waiting func() map[string]*artifacts.WaitsError
	Lacking map[string]string
	Later   map[string]*reason.Reason // the addresses that wait for unknown instances, with the reason

	stated        state.Snapshot  // Placed, with the addresses that the manifest states
	written       []moves.Move    // from the addresses in Placed to those in stated
	blocks        map[string]bool // addresses in Placed that moved blocks move
	identityMoves []moves.Move    // moves by identity: both addresses of one are selected together
	chosen        map[string]bool // the addresses that the plan covers; nil = all

	deferred map[string]*reason.Reason // the blocks whose instances stay unknown in this plan

	from    map[string]moves.Move     // Moves, by the present address
	removed map[string]config.Removed // the removed blocks, by what they remove
}

// New returns a subject that covers everything.
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

// Wanted reports whether the plan covers an address: a resource, or a block whose
// instances are not known yet.
func (s *Subject) Wanted(addr string) bool { return s.chosen == nil || s.chosen[addr] }

// Was returns the recorded entry at an address; the zero Entry = there is none.
func (s *Subject) Was(addr string) state.Entry { return s.Prior.Resources[addr] }

// Unmatched reports whether an address that the plan leaves out is left out of matching too.
func (s *Subject) Unmatched(addr string) bool { return s.Selection.Apart && !s.Wanted(addr) }

// Matched lists the declared resources that are matched with entries.
func (s *Subject) Matched() []*config.Resource {
	all := s.Manifest.Resources()
	if !s.Selection.Apart {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), func(r *config.Resource) bool { return s.Unmatched(r.Address) })
}

// Named reports whether the flags name an address themselves: its dependencies and
// dependants are not included.
func (s *Subject) Named(addr string) bool {
	return (len(s.Selection.Targets) == 0 || covered(s.Selection.Targets, addr)) && !covered(s.Selection.Excludes, addr) &&
		s.unreached(addr) == nil
}

// Replaces reports whether -replace names an address.
func (s *Subject) Replaces(addr string) bool {
	return covered(s.Selection.Replace, addr) && !strings.HasPrefix(addr, config.PublishPrefix) // a publish destroys nothing
}

// Removed lists the entries that no manifest declares, sorted. It omits an entry that
// may be an instance of a block that is not expanded, and those of exclusive sets.
func (s *Subject) Removed() []string {
	declared := make(map[string]bool, len(s.Manifest.Resources()))
	for _, r := range s.Manifest.Resources() {
		declared[r.Address] = true
	}
	var gone []string
	for addr := range s.Prior.Resources {
		if !declared[addr] && s.PendingAbove(addr) == "" && config.ExclusiveSet(addr) == "" {
			gone = append(gone, addr)
		}
	}
	slices.Sort(gone)
	return gone
}

// RemovedBlock returns the removed block that covers an address, the most specific if
// there are several; nil = none.
func (s *Subject) RemovedBlock(addr string) *config.Removed {
	for above := range moves.Covering(addr) {
		if block, there := s.removed[above]; there {
			return &block
		}
	}
	return nil
}

// PendingAbove returns the block with unknown instances that an address may be an
// instance of; "" = none.
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
