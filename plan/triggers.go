package plan

import (
	"cmp"

	"deployster/config"
	"deployster/plan/observe"
	"deployster/plan/reason"
	"deployster/state"
)

// triggered reports whether replace_triggered_by has a resource replaced, because of a change
// of another resource that was not known before. Then the resource is matched again.
func (b *builder) triggered(r *config.Resource) bool {
	if b.identified.result.Pair(r.Address).Recorded == "" || b.decided.trigger(r.Address) != nil {
		return false
	}
	for _, t := range r.Triggers {
		was, known := b.Prior.Completed(t.To)
		if key := b.identified.deposed[t.To]; key != "" {
			was, known = b.Prior.Completed(key)
		}
		step := b.step(t.To)
		if step != nil {
			was = observe.Completed(b.session.Prober, step.Init, was, step.Config)
		}
		if !known || step == nil || len(t.Path) == 0 && !changes(step, was) ||
			len(t.Path) > 0 && !step.View().Differs(t.Path, was, step.Unknown) {
			continue
		}
		b.decided.mu.Lock()
		defer b.decided.mu.Unlock()
		b.decided.triggers[r.Address] = reason.New(reason.Triggered, t.To)
		b.identified.input.Replace(r.Address)
		b.identified.open[r.Address] = true
		return true
	}
	return false
}

// trigger returns which change of another resource has this one replaced; nil = none so far.
func (d *decided) trigger(addr string) *reason.Reason {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.triggers[addr]
}

// asked returns what asks for the replacement of a resource whose identity stays the same.
func (d *decided) asked(addr string) *reason.Reason {
	return cmp.Or(d.trigger(addr), reason.New(reason.Asked))
}

// changes reports whether the step updates or replaces a recorded resource, or may do so, or the resource means another thing.
func changes(s *Step, was state.Entry) bool {
	return s.Change() == Update || s.Change() == Replace || s.Replaces != "" || s.Another ||
		s.Change() == Deferred && (len(s.Unknown) > 0 || string(was.Config) != string(s.Config))
}
