package modeltest_test

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"deployster/apply"
	"deployster/internal/base/jsondoc"
	"deployster/internal/base/secret"
	"deployster/internal/testkit/modeltest"
	"deployster/plan"
	"deployster/plan/order"
	"deployster/protocol"
	"deployster/state"
)

// verdict holds one apply to what must be true.
type verdict struct {
	*execution
	step      *Step // the command
	declared  *Step // what the plan was made of
	plan      *plan.Plan
	expect    *expectation
	out       outcome
	calls     []*call
	facts     []fact
	interrupt int
	after     state.Snapshot
	runs      map[string]*resourceRun
}

// resourceRun is what was done about one resource.
type resourceRun struct {
	addr   string
	x      *expected
	shown  *plan.Step
	report *apply.ResourceReport
	calls  []*call
	query  *call   // the state right before the main actions
	main   []*call // the actions, but for those that shut down
	stops  []*call // those
	last   *call   // the last state
}

// done says that what was wanted of it is so.
func (res *resourceRun) done() bool {
	return res.report != nil && slices.Contains([]apply.Status{apply.OK, apply.Unchanged, apply.Skipped}, res.report.Status)
}

// check is the whole of it.
func (v *verdict) check() error {
	v.after, v.runs = v.current(), map[string]*resourceRun{}
	for addr, x := range v.expect.resources {
		res := &resourceRun{addr: addr, x: x, shown: v.plan.Resources[addr]}
		if v.out.report != nil && !v.out.crashed {
			if res.report = v.out.report.Resources[addr]; res.report == nil {
				return failf("report", "it says nothing of %s", addr)
			}
		}
		v.runs[addr] = res
	}
	for _, c := range v.calls {
		res := v.runs[c.In.Name]
		if res == nil {
			return failf("done", "%s of %s, which is not in the plan", c.Step, c.In.Name)
		}
		res.calls = append(res.calls, c)
	}
	each := []func(res *resourceRun) error{v.sequence, v.inputs, v.order, v.record}
	if !v.out.crashed {
		each = append(each, v.reported, v.justified)
	}
	for _, check := range each {
		for _, addr := range slices.Sorted(maps.Keys(v.runs)) {
			if err := check(v.runs[addr]); err != nil {
				return err
			}
		}
	}
	whole := []func() error{v.shutdowns, v.interrupted, v.recorded}
	if !v.out.crashed {
		whole = append(whole, v.failures, v.overall, v.outputs, v.hidden)
	}
	for _, check := range whole {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// sequence: it is asked right before it is acted upon; what it answered then is
// what is run, and that is what was shown, unless the plan left it open.
func (v *verdict) sequence(res *resourceRun) error {
	next, verified := 0, false
	for _, c := range res.calls {
		switch {
		case res.x.change == "forget" && c.Action:
			return failf("done", "%s is to be forgotten, and %s was run", res.addr, c.Step)
		case res.x.change == "forget":
			continue // whether it is still gone
		case !c.Action:
			verified = len(res.main) > 0
			res.last = c
			if next = 0; !verified {
				res.query = c
			}
			continue
		case res.x.change == "valid" && !res.x.may:
			return failf("done", "%s is valid, and %s was run", res.addr, c.Step)
		}
		v.stats.actions++
		if !c.well() {
			v.stats.failed++
		}
		if who, twice := v.keys[c.Key]; twice || c.Key == "" {
			return failf("done", "%s of %s has the idempotency key %q of %s", c.Step, res.addr, c.Key, who)
		}
		v.keys[c.Key] = c.Step + " of " + res.addr
		if res.query == nil || !res.query.well() || verified {
			return failf("check", "%s of %s was run, and its state was not asked right before", c.Step, res.addr)
		}
		if res.x.instance != nil && res.x.instance.ReadOnly {
			return failf("done", "%s of %s was run, which is read_only", c.Step, res.addr)
		}
		if err := v.shownAndAnswered(res, c, &next); err != nil {
			return err
		}
	}
	return nil
}

// shownAndAnswered compares one action with the answer and with the plan.
func (v *verdict) shownAndAnswered(res *resourceRun, c *call, next *int) error {
	answer := res.query.Answer
	if c.Step == "stop" {
		if answer.ShutdownFirst == nil || !res.x.open() && res.shown.Answer().Shutdown == nil {
			return failf("done", "stop of %s was run, and was not shown", res.addr)
		}
		res.stops = append(res.stops, c)
		return nil
	}
	switch {
	case *next > 0 && !res.main[len(res.main)-1].well():
		return failf("done", "%s of %s was run after one that failed", c.Step, res.addr)
	case *next >= len(answer.Actions) || !v.same(res, answer.Actions[*next], c):
		return failf("done", "%s of %s was run, its image had answered %v", c.Step, res.addr, answer.Actions)
	case !res.x.open() && (*next >= len(res.shown.Answer().Actions) || !v.same(res, res.shown.Answer().Actions[*next], c)):
		return failf("done", "%s of %s was run, shown was %v", c.Step, res.addr, res.shown.Answer().Actions)
	case answer.ShutdownFirst != nil && !slices.ContainsFunc(res.stops, (*call).well):
		return failf("shutdown", "%s of %s was run before it was shut down", c.Step, res.addr)
	case canonical(c.Stale) != canonical(answer.StaleState):
		return failf("done", "%s of %s was told of the stale state %s, and not of %s", c.Step, res.addr, c.Stale, answer.StaleState)
	}
	res.main = append(res.main, c)
	*next++
	return nil
}

// same reports whether a call is the run of an action.
func (v *verdict) same(res *resourceRun, a protocol.Action, c *call) bool {
	digest := res.shown.Init.Digest
	if a.Image != "" { // known only now, if the plan could not ask
		image, _ := v.tracer.Resolve(context.Background(), a.Image)
		digest = cmp.Or(v.plan.Images["docker.io/"+a.Image], image.Digest)
	}
	return a.Name == c.Step && a.Entrypoint == c.Command.Entrypoint && slices.Equal(a.Args, c.Command.Args) && digest == c.Digest
}

// canonical makes texts of JSON comparable; nothing is an empty object.
func canonical(raw json.RawMessage) string {
	if len(raw) == 0 {
		return "{}"
	}
	c, err := jsondoc.Canonical(raw)
	if err != nil {
		return err.Error()
	}
	return string(c)
}

// truth is the state of a resource as it was last seen to be right.
func (v *verdict) truth(addr string) json.RawMessage {
	res := v.runs[addr]
	for _, c := range slices.Backward(res.calls) {
		if !c.Action && c.well() && c.Answer.Status == protocol.Valid {
			return c.Answer.State
		}
	}
	if res.x.change == "valid" {
		return res.x.answer.State
	}
	return nil
}

// config is what a resource must be made with.
func (v *verdict) config(res *resourceRun) json.RawMessage {
	if res.x.instance == nil || !res.x.flexible() {
		return res.x.config
	}
	return v.declared.config(*res.x.instance, res.x.entry, v.truth)
}

// inputs: all that runs for a resource is told the config that was shown, or
// the one that came true; what its dependencies are; and what was recorded.
func (v *verdict) inputs(res *resourceRun) error {
	for _, c := range res.calls {
		want, deps := v.config(res), v.truth
		if !c.Action && (len(res.main) == 0 || c != res.query) && res.shown.Answer().Shutdown != nil && res.x.flexible() {
			continue // before the shutdown it was asked with what was expected
		}
		if slices.Contains(res.stops, c) {
			continue
		}
		if canonical(c.In.Config) != canonical(want) {
			return failf("done", "%s of %s was told the config %s, and not %s", c.Step, res.addr, c.In.Config, want)
		}
		wantIntent := res.shown.Intent()
		if res.x.change == "forget" && c.In.Intent == protocol.Absent {
			wantIntent = protocol.Absent // of what is removed; what -refresh-only forgets is wanted
		}
		if c.In.Intent != wantIntent && c.In.Kind() != modeltest.Old {
			return failf("done", "%s of %s was told the intent %q", c.Step, res.addr, c.In.Intent)
		}
		last := json.RawMessage(nil)
		if res.x.entry != nil && c.In.Kind() != modeltest.Old {
			last = res.x.entry.State
		}
		if !c.Action && v.askedAgain(res.addr) && c.Begin > lastEnd(res.main) && canonical(c.In.LastState) == canonical(v.truth(res.addr)) {
			last = c.In.LastState // it was made, and another of its kind was destroyed after that
		}
		if canonical(c.In.LastState) != canonical(last) {
			return failf("done", "%s of %s was told the last state %s, and not %s", c.Step, res.addr, c.In.LastState, last)
		}
		if res.x.instance == nil || res.x.instance.Kind != modeltest.Asker {
			continue
		}
		for alias, dependency := range v.declared.input(*res.x.instance, want, deps).Dependencies {
			if got := c.In.Dependencies[alias]; canonical(got.State) != canonical(dependency.State) {
				return failf("done", "%s of %s was told that %s is %s, and not %s", c.Step, res.addr, alias, got.State, dependency.State)
			}
		}
	}
	return nil
}

// order: nothing is asked or done for good before all it depends on is right,
// and nothing is removed before what was recorded to depend on it.
func (v *verdict) order(res *resourceRun) error {
	if len(res.main) == 0 {
		return nil
	}
	for _, before := range res.x.before {
		other := v.runs[before]
		if other == nil {
			continue
		}
		if !v.out.crashed && !other.done() && !v.wasDone(other) {
			return failf("order", "%s of %s was run, and %s is %s", res.main[0].Step, res.addr, before, other.report.Status)
		}
		right := false
		for _, c := range other.calls {
			if !c.Action && (right || c.Begin > lastEnd(res.main)) && v.askedAgain(before) {
				continue // another of its kind was destroyed
			}
			right = !c.Action && c.well() && c.Answer.Status == protocol.Valid
			if c.End == 0 || c.End > res.query.Begin {
				return failf("order", "%s was asked and acted upon before %s of %s had ended", res.addr, c.Step, before)
			}
		}
		acts := other.x.change != "valid" && other.x.change != "forget"
		if v.out.crashed && acts && (other.last == nil || !other.last.well() || other.last.Begin < lastEnd(other.main)) {
			return failf("order", "%s of %s was run, and %s was not seen to be right", res.main[0].Step, res.addr, before)
		}
	}
	return nil
}

// wasDone reports whether a resource that failed was done before: its removal took another of
// its kind with it; or it was asked again after removals, and was not right any more, or did
// not answer.
func (v *verdict) wasDone(res *resourceRun) bool {
	if res.done() || res.report == nil || res.report.Status == apply.NotStarted {
		return false
	}
	if res.x.instance == nil {
		return res.report.Failed == "removal"
	}
	if !v.askedAgain(res.addr) || len(res.calls) < 2 {
		return false
	}
	last, before := res.calls[len(res.calls)-1], res.calls[len(res.calls)-2]
	right := !before.Action && before.well() && before.Answer.Status == protocol.Valid
	return !last.Action && right && last.Begin > lastEnd(res.main)
}

// askedAgain reports whether the plan has a resource asked after removals of its kind.
func (v *verdict) askedAgain(addr string) bool {
	return slices.ContainsFunc(v.plan.Barriers, func(b order.Barrier) bool { return slices.Contains(b.Again, addr) })
}

func lastEnd(calls []*call) int {
	if len(calls) == 0 {
		return 0
	}
	return calls[len(calls)-1].End
}

// hidden: after what was told to be secret is taken out, nothing that would be
// printed holds a secret.
func (v *verdict) hidden() error {
	for addr, s := range v.plan.Resources {
		for _, raw := range []json.RawMessage{secret.Mask(s.Config, s.Sensitive), secret.Mask(s.Answer().State, s.Answer().Hidden),
			secret.Mask(s.Answer().Stale, s.Answer().Hidden)} {
			if strings.Contains(string(raw), canary) {
				return failf("secret", "the plan of %s shows %s", addr, raw)
			}
		}
	}
	shown, err := json.Marshal(v.out.report)
	if err == nil && strings.Contains(string(shown), canary) {
		return failf("secret", "the report shows %s", shown)
	}
	return err
}
