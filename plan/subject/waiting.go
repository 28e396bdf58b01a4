package subject

import (
	"maps"

	"deployster/internal/base/diag"
	"deployster/plan/artifacts"
	"deployster/plan/reason"
)

// leaveWaiting leaves what uses an artifact that has no version yet.
func (s *Subject) leaveWaiting() {
	if s.Waiting == nil {
		return
	}
	waiting := s.Waiting()
	if len(waiting) == 0 {
		return
	}
	left := maps.Clone(s.Selection.Unreached)
	if left == nil {
		left = map[string]*reason.Reason{}
	}
	add := func(addr string, names ...string) {
		for _, name := range names {
			if w := waiting[name]; w != nil && left[addr] == nil {
				left[addr] = reason.New(reason.VersionWaits, "artifact."+name, diag.Visible(w.Newest.String()), artifacts.References(w.By))
			}
		}
	}
	for _, r := range s.Manifest.Resources() {
		add(r.Address, r.Artifacts...)
	}
	for _, p := range s.Manifest.Pending() {
		add(p.Address, p.Artifacts...)
	}
	for addr, name := range s.Lacking {
		add(addr, name)
	}
	s.Selection.Unreached = left
}
