package modeltest_test

import (
	"errors"
	"slices"

	"deployster/apply"
	"deployster/internal/runtime/runner"
	"deployster/internal/testkit/modeltest"
	"deployster/protocol"
)

// reported: the report of a resource says what the world saw.
func (v *verdict) reported(res *resourceRun) error {
	r := res.report
	var completed []string
	failed := ""
	for _, c := range slices.Concat(res.stops, res.main) {
		switch {
		case !c.well():
			failed = c.Step
		case c.Step != "stop":
			completed = append(completed, c.Step)
		}
	}
	if !slices.Equal(r.Completed, completed) {
		return failf("report", "%s: completed were %v, reported is %v", res.addr, completed, r.Completed)
	}
	if failed != "" && (r.Failed != failed || r.Status != apply.Error && r.Status != apply.Interrupted && r.Status != apply.Unknown) {
		return failf("report", "%s: %s has failed, reported is %s of %q", res.addr, failed, r.Status, r.Failed)
	}
	if res.lost() != (r.Status == apply.Unknown) {
		return failf("report", "%s: that the end of an action is not known is %v, reported is %s", res.addr, res.lost(), r.Status)
	}
	tried := len(res.main)
	if tried > 0 && tried <= len(r.Planned) && !slices.Equal(r.NotAttempted, r.Planned[tried:]) ||
		tried == 0 && !res.done() && !slices.Equal(r.NotAttempted, r.Planned) {
		return failf("report", "%s is %s: of %v %d were tried, reported as not attempted are %v", res.addr, r.Status, r.Planned, tried,
			r.NotAttempted)
	}
	right := res.last != nil && res.last.well() && res.wanted(res.last.Answer)
	switch r.Status {
	case apply.OK:
		if res.x.change != "forget" && !(tried > 0 && failed == "" && right && res.last.Begin > lastEnd(res.main)) {
			return failf("report", "%s is reported ok, and was not seen to be right", res.addr)
		}
	case apply.Skipped:
		if tried > 0 || !right {
			return failf("report", "%s is reported skipped, %d actions were run", res.addr, tried)
		}
	case apply.Unchanged:
		if tried > 0 || !right && (res.x.change != "valid" || res.x.may) || res.last != nil && !right {
			return failf("report", "%s is reported valid, %d actions were run", res.addr, tried)
		}
	case apply.NotStarted:
		// A valid one may have been asked after a removal of its kind, before its turn.
		if tried > 0 || len(res.calls) > 0 && res.shown.Answer().Shutdown == nil && res.x.change != "valid" {
			return failf("report", "%s is reported not started, and it was asked %d times", res.addr, len(res.calls))
		}
	}
	if r.Reason == "" && slices.Contains([]apply.Status{apply.Error, apply.Interrupted, apply.Unknown}, r.Status) {
		return failf("report", "%s is %s, without a reason", res.addr, r.Status)
	}
	return nil
}

// lost says that nobody knows how the last action ended.
func (res *resourceRun) lost() bool {
	var unknown *runner.UnknownError
	return slices.ContainsFunc(slices.Concat(res.stops, res.main), func(c *call) bool { return errors.As(c.Err, &unknown) })
}

// wanted reports whether an answer is what is wanted in the end.
func (res *resourceRun) wanted(a *protocol.Answer) bool {
	if res.x.change == "destroy" {
		return a.Status == protocol.Missing
	}
	return a.Status == protocol.Valid
}

// justified: what is reported as an error has a cause in the world: a call
// that failed, an answer that did not help, something that is not as shown.
func (v *verdict) justified(res *resourceRun) error {
	if res.report.Status != apply.Error {
		return nil
	}
	if len(res.calls) > 0 {
		last := res.calls[len(res.calls)-1]
		switch {
		case !last.well():
			return nil
		case !last.Action && len(res.main) > 0 && !res.wanted(last.Answer):
			return nil // the actions did not help
		case !last.Action && len(res.main) > 0 && res.unfulfilled():
			return nil
		case !last.Action && res.x.instance != nil && res.x.instance.ReadOnly && !res.wanted(last.Answer):
			return nil
		case !last.Action && !res.x.open() && !res.asShown(last.Answer):
			return nil
		}
	}
	if res.x.instance != nil && !res.x.flexible() && canonical(v.declared.config(*res.x.instance, res.x.entry,
		v.truth)) != canonical(res.x.config) {
		return nil // what it takes from others is another value now
	}
	if res.x.instance != nil && res.x.flexible() && v.config(res) == nil {
		return nil // a state lacks what is taken from it
	}
	return failf("report", "%s is reported as failed (%s: %s), and nothing was wrong", res.addr, res.report.Failed, res.report.Reason)
}

// unfulfilled says that a forecast did not come true.
func (res *resourceRun) unfulfilled() bool {
	return res.query.Answer.Forecast != nil
}

// asShown reports whether an answer is the one that the plan had.
func (res *resourceRun) asShown(a *protocol.Answer) bool {
	same := func(x, y protocol.Action) bool {
		return x.Name == y.Name && x.Image == y.Image && x.Entrypoint == y.Entrypoint && slices.Equal(x.Args, y.Args)
	}
	if a.ShutdownFirst != nil && res.shown.Answer().Shutdown == nil {
		return false
	}
	return slices.EqualFunc(a.Actions, res.shown.Answer().Actions, same)
}

// overall: the whole is ok only when all is, and only a user interrupts.
func (v *verdict) overall() error {
	open, wrong := 0, 0
	for _, res := range v.runs {
		switch {
		case res.report.Status == apply.Error, res.report.Status == apply.Unknown:
			wrong++
		case !res.done():
			open++
		}
	}
	got := v.out.report.Status
	switch {
	case open+wrong == 0 && got != apply.OK && len(v.out.report.Problems) == 0,
		open+wrong > 0 && got == apply.OK,
		v.interrupt == 0 && got == apply.Interrupted,
		v.interrupt != 0 && open > 0 && got != apply.Interrupted:
		return failf("report", "the whole is %s, with %d resources open and %d failed, interrupted at %d", got, open, wrong, v.interrupt)
	case v.out.err != nil:
		return failf("report", "the journal is well, and the apply says %v", v.out.err)
	}
	if got == apply.Interrupted {
		v.stats.interrupts++
	}
	return nil
}

// failures: after a failure nothing new starts; with -keep-going all that does
// not depend on what failed is done.
func (v *verdict) failures() error {
	var failed []string
	first := 0
	for addr, res := range v.runs {
		if !res.done() && res.report.Status != apply.NotStarted {
			failed = append(failed, addr)
			if end := lastEnd(res.calls); end > 0 && !v.wasDone(res) && (first == 0 || end < first) {
				first = end
			}
		}
	}
	if len(failed) == 0 || v.interrupt != 0 {
		return nil
	}
	if !v.step.KeepGoing {
		for _, res := range v.runs {
			// With more than one at a time others may start while the failure
			// is on its way.
			if v.step.Parallelism == 1 && first > 0 && len(res.main) > 0 && res.query.Begin > first {
				return failf("stop", "%s was begun after a failure", res.addr)
			}
		}
		return nil
	}
	if slices.ContainsFunc(v.out.report.Shutdown, func(s apply.ShutdownReport) bool { return s.Status != apply.OK && !s.Late }) ||
		v.shutdownFailed(failed) {
		return nil // then nothing is touched at all
	}
	behind := v.behind(failed)
	for addr, res := range v.runs {
		if res.report.Status == apply.NotStarted && !behind[addr] {
			return failf("stop", "%s was not started, and does not depend on %v", addr, failed)
		}
	}
	return nil
}

// shutdownFailed reports whether one of these failed before the main actions of
// all, when what is to be shut down first is looked at.
func (v *verdict) shutdownFailed(failed []string) bool {
	for _, res := range v.runs {
		if len(res.main) > 0 {
			return false
		}
	}
	return slices.ContainsFunc(failed, func(addr string) bool { return v.runs[addr].shown.Answer().Shutdown != nil })
}

// behind are all that wait for these, and for those that do.
func (v *verdict) behind(addresses []string) map[string]bool {
	behind := map[string]bool{}
	for _, addr := range addresses {
		behind[addr] = true
	}
	for grown := true; grown; {
		grown = false
		for addr, x := range v.expect.resources {
			waits := slices.ContainsFunc(x.before, func(b string) bool { return behind[b] })
			if !behind[addr] && (waits || v.expect.doubtful[addr] && v.endsBehind(x, behind)) {
				behind[addr], grown = true, true
			}
		}
	}
	return behind
}

// endsBehind reports whether something of the type of a resource is to be destroyed, and is
// behind.
func (v *verdict) endsBehind(x *expected, behind map[string]bool) bool {
	for addr, end := range v.expect.resources {
		if behind[addr] && end.change == "destroy" && end.entry.Type == modeltest.Reference(x.instance.Kind) {
			return true
		}
	}
	return false
}

// interrupted: after the first interrupt no action starts, but for those whose
// resources were about to start one at that very moment.
func (v *verdict) interrupted() error {
	if v.interrupt == 0 {
		return nil
	}
	late := map[string]int{}
	total := 0
	for _, f := range v.facts {
		if f.kind == "started" && f.begin > v.interrupt {
			late[f.addr]++
			total++
		}
	}
	for addr, n := range late {
		if n > 1 || total > v.step.Parallelism-1 {
			return failf("interrupt", "%d actions began after it, %d of %s", total, n, addr)
		}
	}
	return nil
}

// shutdowns: what is to be shut down is, before anything else is done, one at
// a time, dependants first.
func (v *verdict) shutdowns() error {
	var early []*resourceRun
	firstMain := 0
	for _, res := range v.runs {
		if len(res.main) > 0 && (firstMain == 0 || res.main[0].Begin < firstMain) {
			firstMain = res.main[0].Begin
		}
	}
	for _, res := range v.runs {
		if res.shown.Answer().Shutdown == nil || len(res.stops) == 0 && firstMain == 0 {
			continue
		}
		if len(res.stops) == 0 {
			// It was looked at before all others, and needed none then.
			if res.calls == nil || res.calls[0].Begin > firstMain || !res.calls[0].well() && len(res.calls) == 1 {
				return failf("shutdown", "%s was to be shut down before anything else", res.addr)
			}
			continue
		}
		if firstMain > 0 && res.stops[0].Begin > firstMain && !v.late(res) {
			return failf("shutdown", "%s was shut down after other actions had begun", res.addr)
		}
		if !v.late(res) {
			early = append(early, res)
		}
	}
	slices.SortFunc(early, func(a, b *resourceRun) int { return a.stops[0].Begin - b.stops[0].Begin })
	for i, res := range early {
		for _, later := range early[i+1:] {
			if later.stops[0].Begin < res.stops[0].End {
				return failf("shutdown", "%s and %s were shut down at one time", res.addr, later.addr)
			}
			if v.depends(later.addr, res.addr) {
				return failf("shutdown", "%s was shut down before %s, which depends on it", res.addr, later.addr)
			}
		}
	}
	return nil
}

// late says that a resource was shut down right before its own actions, since
// it needed it only then, or could not be asked before.
func (v *verdict) late(res *resourceRun) bool {
	asked := 0
	for _, c := range res.calls {
		if c == res.stops[0] {
			return asked > 1
		}
		if c.well() {
			asked++
		}
	}
	return false
}

// depends reports whether one depends on another, as it is declared or was
// recorded; removals wait the other way round.
func (v *verdict) depends(dependant, dependency string) bool {
	seen, open := map[string]bool{}, []string{dependant}
	for len(open) > 0 {
		addr := open[0]
		open = open[1:]
		if addr == dependency {
			return true
		}
		x := v.expect.resources[addr]
		if x == nil || seen[addr] {
			continue
		}
		seen[addr] = true
		if x.instance != nil {
			open = append(open, v.declared.predecessors(*x.instance)...)
		}
		if x.entry != nil {
			for _, res := range x.entry.Dependencies {
				if o := v.expect.resources[res]; o != nil && o.instance == nil {
					open = append(open, res)
				}
			}
		}
	}
	return false
}
