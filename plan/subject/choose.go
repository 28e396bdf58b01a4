package subject

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/plan/reason"
	"deployster/state"
	"deployster/state/moves"
)

// Narrow computes which addresses the plan covers, with the instances that are known
// so far.
func (s *Subject) Narrow() {
	s.excludeHosts()
	s.leaveTravelling()
	s.leaveWaiting()
	selected := s.Selection
	if !selected.Partial() && len(s.deferred) == 0 {
		return
	}
	g := s.everyNode()
	s.chosen = map[string]bool{}
	for addr := range g.before {
		if len(selected.Targets) == 0 || covered(selected.Targets, addr) || g.pending[addr] && coversAny(addr, selected.Targets) {
			Reach(addr, g.before, s.chosen)
		}
	}
	out := map[string]bool{}
	for addr := range g.before {
		if covered(selected.Excludes, addr) {
			Reach(addr, g.after, out)
		}
	}
	maps.DeleteFunc(s.chosen, func(addr string, _ bool) bool {
		return out[addr] || len(selected.Only) > 0 && !covered(selected.Only, addr)
	})
	s.leaveOut(g)
}

// leaveOut takes from the chosen addresses those that are left out because of hosts, with all that
// waits for them, and keeps the reason of each. Then it does so with those that wait for unknown instances.
func (s *Subject) leaveOut(g nodes) {
	s.LeftOut = s.without(g, s.unreached, func(addr, _ string) *reason.Reason { return reason.New(reason.DependencyLeft, addr) })
	s.Later = s.without(g, func(addr string) *reason.Reason { return s.deferred[addr] }, s.waitsFor)
}

// without takes from the chosen addresses those with a reason, and all that waits for them.
func (s *Subject) without(g nodes, why func(addr string) *reason.Reason,
	waits func(addr, next string) *reason.Reason) map[string]*reason.Reason {
	left := map[string]*reason.Reason{}
	var open []string
	for _, addr := range slices.Sorted(maps.Keys(g.before)) {
		if because := why(addr); because != nil && s.chosen[addr] {
			left[addr] = because
			open = append(open, addr)
		}
	}
	for len(open) > 0 {
		addr := open[0]
		open = open[1:]
		for _, next := range g.after[addr] {
			if _, known := left[next]; !known && s.chosen[next] {
				left[next] = waits(addr, next)
				open = append(open, next)
			}
		}
	}
	for addr := range left {
		delete(s.chosen, addr)
	}
	return left
}

// unreached returns why an address is left out because of a host; nil = it is not.
func (s *Subject) unreached(addr string) *reason.Reason {
	if len(s.Selection.Unreached) == 0 {
		return nil
	}
	for above := range moves.Covering(addr) {
		if why := s.Selection.Unreached[above]; why != nil {
			return why
		}
	}
	return nil
}

// excludeHosts excludes the known resources on excluded hosts, and on those that cannot be
// reached.
func (s *Subject) excludeHosts() {
	if len(s.Selection.ExcludedHosts)+len(s.Selection.UnreachedHosts) == 0 {
		return
	}
	hosts, list, left := map[string]bool{}, slices.Clone(s.Selection.Excludes), maps.Clone(s.Selection.Unreached)
	for _, name := range s.Selection.ExcludedHosts {
		hosts[name] = true
	}
	for _, r := range s.Manifest.Resources() {
		switch h := r.Settings.Host; {
		case h == nil:
		case hosts[h.Name]:
			list = append(list, r.Address)
		case s.Selection.UnreachedHosts[h.Name] != nil && left[r.Address] == nil:
			left[r.Address] = s.Selection.UnreachedHosts[h.Name]
		}
	}
	slices.Sort(list)
	s.Selection.Excludes, s.Selection.Unreached = slices.Compact(list), left
}

// Chosen returns a function that reports whether a plan with a selection would cover
// an address, as far as that is known before any image is queried: instances that are not
// known yet are not considered.
func Chosen(m *config.Manifest, prior state.Snapshot, s Selection) (func(addr string) bool, diag.Diagnostics) {
	subject := New(m, prior, s)
	diags := subject.Begin()
	return subject.Wanted, diags
}

// coversAny reports whether an address is above one of a list.
func coversAny(outer string, list []string) bool {
	return slices.ContainsFunc(list, func(addr string) bool { return moves.Covers(outer, addr) })
}

// Check refuses addresses that name nothing, targets of which nothing is left, and a
// -replace of what other flags leave out.
func (s *Subject) Check() diag.Diagnostics {
	selected := s.Selection
	if selected.addresses() == 0 {
		return nil
	}
	var diags diag.Diagnostics
	known := s.Addresses()
	for _, list := range []struct {
		flag      string
		addresses []string
	}{{flagTarget, selected.Targets}, {flagExclude, selected.Excludes}, {flagReplace, selected.Replace}} {
		for _, addr := range list.addresses {
			if !coversAny(addr, known) && s.PendingAbove(addr) == "" {
				diags = append(diags, diag.Errorf(fmt.Sprintf("%s=%s names nothing", list.flag, addr),
					"There is no resource and no module with that address, neither in the manifest nor in the state file.%s",
					NearMiss(addr, known)))
			}
		}
	}
	if diags.HasErrors() {
		return diags
	}
	diags = s.checkReplace()
	for _, target := range selected.Targets {
		if slices.ContainsFunc(known, func(addr string) bool { return moves.Covers(target, addr) && s.Wanted(addr) }) ||
			s.waitsBelow(target) {
			continue
		}
		diags = append(diags, diag.Errorf(fmt.Sprintf("Nothing is left of -target=%s", target),
			"It is excluded by -exclude, itself or by a dependency, or by the named files, which do not declare it. Remove one of them."))
	}
	return diags
}

// checkReplace refuses a -replace of a declared resource that other flags leave out.
func (s *Subject) checkReplace() (diags diag.Diagnostics) {
	for _, addr := range s.Selection.Replace {
		declared, wanted := false, false
		for _, r := range s.Manifest.Resources() {
			if moves.Covers(addr, r.Address) {
				declared, wanted = true, wanted || s.Wanted(r.Address)
			}
		}
		switch {
		case declared && !wanted:
			diags = append(diags, diag.Errorf("-replace="+addr+" is left out", "The other flags exclude it from the plan. Remove one of "+
				"them."))
		}
	}
	return diags
}

// CheckReplaced refuses a -replace of what is no longer declared. Whether its entry only
// moved is known after matching.
func (s *Subject) CheckReplaced() (diags diag.Diagnostics) {
	for _, addr := range s.Selection.Replace {
		if slices.ContainsFunc(s.Manifest.Resources(), func(r *config.Resource) bool { return moves.Covers(addr, r.Address) }) {
			continue
		}
		var flags []string
		for _, m := range s.Moves {
			if _, number := moves.RecordedAt(m.To); number == 0 && moves.Covers(addr, m.From) {
				flags = append(flags, flagReplace+"="+m.To)
			}
		}
		if summary := flagReplace + "=" + addr; len(flags) > 0 {
			diags = append(diags, diag.Errorf(summary+" is moved", "No manifest declares it any more, but its entry has another address "+
				"now. To replace that, use %s.", strings.Join(flags, " ")))
		} else {
			diags = append(diags, diag.Errorf(summary+" is not declared", "No manifest declares it any more, so it is "+
				"destroyed anyway and cannot be created again. Remove the flag, or put its block back."))
		}
	}
	return diags
}

// Addresses lists all addresses that a flag may name, itself or by a module or block above
// them: resources of the manifest and of the state file, and blocks with unknown instances.
func (s *Subject) Addresses() []string {
	set := map[string]bool{}
	for _, r := range s.Manifest.Resources() {
		set[r.Address] = true
	}
	for addr := range s.stated.Resources { // what is left out keeps its address
		set[addr] = true
	}
	for _, p := range s.Manifest.Pending() {
		set[p.Address] = true
	}
	return slices.Sorted(maps.Keys(set))
}
