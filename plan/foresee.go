package plan

import (
	"context"

	"deployster/config"
	"deployster/plan/latehost"
	"deployster/plan/observe"
	"deployster/plan/subject"
)

// foreseen returns a deferred step with what its image expects, where the image can be asked
// about unknown values; nil = the image failed, or the change is not allowed: it is reported.
func foreseen(ctx context.Context, b *builder, r *config.Resource, s *Step) *Step {
	open, _ := latehost.Open(b.Manifest, s.Settings.Host, b.scope(r.Address, subject.Predecessors(r), b.look)) // errors are reported
	if open != "" || b.identified.doubts[r.Address] != "" || !observe.AcceptsUnknown(&s.Init, s.Unknown) {
		return s
	}
	waiting := *s
	_, o, ok := queried(ctx, b, r, s)
	if !ok {
		return nil
	}
	s.found(b, o)
	switch found := s.Kind(); {
	case found == Valid:
		s.MayChange, s.Expected, s.Was = true, "", nil
	case s.ReadOnly:
		return &waiting // a change of its dependencies may make it valid
	default:
		s.Change, s.Expected = Deferred, found
	}
	if diags := noteDestroyed(b, r, s); diags.HasErrors() {
		b.Report(r, "", diags)
		s = nil
	}
	return s
}
