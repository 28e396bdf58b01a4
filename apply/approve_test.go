package apply_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"deployster/apply"
	"deployster/plan"
)

// person answers questions from a list, and takes them down. Without any answer
// left it says no.
type person struct {
	answers []apply.Answer
	asked   []string
	then    func() // called at each question
	fail    error
}

func (p *person) ask(ctx context.Context, q apply.Question) (apply.Answer, error) {
	what := string(q.Now.Change()) + " " + q.Address
	if q.Action != nil {
		what += " " + q.Action.Name
	}
	if q.Late {
		what += " late"
	}
	p.asked = append(p.asked, what)
	if p.then != nil {
		p.then()
	}
	if err := errors.Join(ctx.Err(), p.fail); err != nil || len(p.answers) == 0 {
		return apply.No, err
	}
	a := p.answers[0]
	p.answers = p.answers[1:]
	return a, nil
}

// outcomes writes a report down: the status of the whole and of each resource.
func outcomes(r *apply.Report) string {
	words := []string{string(r.Status)}
	for _, addr := range []string{"a", "b", "c", "d"} {
		if res := r.Resources[addr]; res != nil {
			words = append(words, addr+"="+string(res.Status))
		}
	}
	return strings.Join(words, " ")
}

const (
	yes, no, all, quit = apply.Yes, apply.No, apply.All, apply.Quit
	created            = plan.Create
	updated            = plan.Update
)

// a is made, b can only be asked when it is there, c waits for b, and d for
// nobody.
func chain(v string) string {
	return thing("a", "v", v) + thing("b", "v", "resource.a.state.v") + thing("c", "v", "resource.b.state.v") + thing("d", "v", v)
}

// What the plan could not show is done, asked about, or left, as it is wanted.
func TestDeferred_BecomesKnownDuringAnApply(t *testing.T) {
	t.Parallel()
	const done = "ok a=ok b=ok c=ok d=ok"
	const left = "incomplete a=ok b=not_started c=not_started d=ok"
	for name, c := range map[string]struct {
		deferred apply.Deferred
		kinds    []plan.Change
		answers  []apply.Answer // nil = nobody to ask
		asked    string
		want     string
	}{
		"apply":                 {apply.DeferredApply, nil, nil, "", done},
		"ask yes":               {apply.DeferredAsk, nil, []apply.Answer{yes, yes}, "create b late, create c late", done},
		"ask all":               {apply.DeferredAsk, nil, []apply.Answer{all}, "create b late", done},
		"ask no":                {apply.DeferredAsk, nil, []apply.Answer{no}, "create b late", left},
		"ask quit":              {apply.DeferredAsk, nil, []apply.Answer{quit}, "create b late", left},
		"ask, the second no":    {apply.DeferredAsk, nil, []apply.Answer{yes, no}, "create b late, create c late", "incomplete a=ok b=ok c=not_started d=ok"},
		"ask nobody":            {apply.DeferredAsk, nil, nil, "", left},
		"announced":             {apply.DeferredAskBeyond, nil, []apply.Answer{}, "", done},
		"stop":                  {apply.DeferredStop, nil, []apply.Answer{}, "", left},
		"kind answered for":     {apply.DeferredByKinds, []plan.Change{created}, nil, "", done},
		"deferred answered for": {apply.DeferredByKinds, []plan.Change{plan.Deferred}, nil, "", done},
		"another kind, ask":     {apply.DeferredByKinds, []plan.Change{updated}, []apply.Answer{yes, yes}, "create b late, create c late", done},
		"another kind, nobody":  {apply.DeferredByKinds, []plan.Change{updated}, nil, "", left},
	} {
		e := newEngine(t.TempDir())
		p := &person{answers: c.answers}
		e.opts.Deferred, e.opts.Kinds = c.deferred, c.kinds
		if c.answers != nil {
			e.opts.Ask = p.ask
		}
		report := e.do(t, chain("1"))
		if got := outcomes(report); got != c.want || strings.Join(p.asked, ", ") != c.asked {
			t.Errorf("%s: %s, asked %q", name, got, p.asked)
		}
		log := e.world.TakeLog()
		for _, addr := range []string{"b", "c"} {
			made := slices.Contains(log, "make "+addr)
			if res := report.Resources[addr]; res.Status == apply.NotStarted && (made || res.Reason == "" || len(res.Completed) > 0) {
				t.Errorf("%s: %s made %v: %s", name, addr, made, encode(res))
			}
		}
		if stopped := len(report.Problems) > 0; stopped != (c.want == left && len(c.answers) == 0) {
			t.Errorf("%s: problems %v", name, summaries(report.Problems))
		}
	}
}

// The yes to a replacement is for both its halves: to ask between them would leave the
// thing destroyed where nobody answers. Who wants to be asked says so.
func TestReplace_NeedsOneYes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		deferred apply.Deferred
		asked    string
		there    bool
	}{
		"announced": {apply.DeferredAskBeyond, "", true},
		"ask":       {apply.DeferredAsk, "create a late", false},
	} {
		e, p := newEngine(t.TempDir()), &person{}
		source := thing("a", "v", "1")
		e.do(t, source)
		e.only, e.opts.Deferred = plan.Selection{Replace: []string{"a"}}, c.deferred
		e.opts.Ask = func(ctx context.Context, q apply.Question) (apply.Answer, error) {
			if q.Now.Old() != nil {
				t.Errorf("%s: the question shows a removal that has been done: %s", name, encode(q.Now))
			}
			return p.ask(ctx, q)
		}
		report := e.do(t, source)
		if got := strings.Join(p.asked, ", "); got != c.asked || (report.Status == apply.OK) != c.there || slices.Contains(e.world.TakeLog(), "remove a") == false {
			t.Errorf("%s: asked %q, %s", name, got, outcomes(report))
		}
	}
}

// A resource that may change and does not needs no second yes; one that does is
// shown beside what the plan said.
func TestApproval_OfWhatMayChange(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		deferred apply.Deferred
		now      string // of what b takes from a
		asked    string
		want     string
	}{
		"as shown":        {apply.DeferredStop, "1", "", "ok a=ok b=valid"},
		"another, stop":   {apply.DeferredStop, "resource.a.state.v", "", "incomplete a=ok b=not_started"},
		"another, ask":    {apply.DeferredAsk, "resource.a.state.v", "update b late", "ok a=ok b=ok"},
		"another, beyond": {apply.DeferredAskBeyond, "resource.a.state.v", "update b late", "ok a=ok b=ok"},
		"another, nobody": {apply.DeferredApply, "resource.a.state.v", "", "ok a=ok b=ok"},
	} {
		e := newEngine(t.TempDir())
		b := "resource \"b\" {\n  type = \"test/thing:1\"\n  depends_on = [resource.a]\n  config = { v = " + c.now + " }\n}\n"
		e.do(t, thing("a", "v", "1")+b)
		p := &person{answers: []apply.Answer{yes}}
		e.opts.Deferred, e.opts.Ask = c.deferred, p.ask
		report := e.do(t, thing("a", "v", "2")+b)
		if got := outcomes(report); got != c.want || strings.Join(p.asked, ", ") != c.asked {
			t.Errorf("%s: %s, asked %q", name, got, p.asked)
		}
		if c.want == "incomplete a=ok b=not_started" {
			text := fmt.Sprint(report.Problems)
			if !strings.Contains(text, "VALID") || !strings.Contains(text, "STALE") || !strings.Contains(text, "resource.a will be updated") || len(report.Resources["b"].Stale) == 0 {
				t.Errorf("%s: %s", name, text)
			}
		}
	}
}

// Where each resource or action is asked about, one thing is done at a time. A
// no leaves what depends on it, and the others are asked about all the same.
func TestConfirm_ARefusalSkipsDependantsOnly(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		confirm apply.Confirm
		kinds   []plan.Change
		answers []apply.Answer
		asked   string
		want    string
	}{
		"each":            {apply.ConfirmResource, nil, []apply.Answer{yes, yes, yes, yes}, "create a, create b late, create c late, create d", "ok a=ok b=ok c=ok d=ok"},
		"no to the first": {apply.ConfirmResource, nil, []apply.Answer{no, yes}, "create a, create d", "incomplete a=not_started b=not_started c=not_started d=ok"},
		"all":             {apply.ConfirmResource, nil, []apply.Answer{yes, all}, "create a, create b late", "ok a=ok b=ok c=ok d=ok"},
		"quit":            {apply.ConfirmResource, nil, []apply.Answer{yes, quit}, "create a, create b late", "incomplete a=ok b=not_started c=not_started d=not_started"},
		"kinds":           {apply.ConfirmResource, []plan.Change{created}, nil, "", "ok a=ok b=ok c=ok d=ok"},
		"each action":     {apply.ConfirmAction, nil, []apply.Answer{yes, no, yes}, "create a make, create b make late, create d make", "incomplete a=ok b=not_started c=not_started d=ok"},
	} {
		e := newEngine(t.TempDir())
		p := &person{answers: c.answers}
		e.opts.Confirm, e.opts.Kinds, e.opts.Ask, e.opts.Deferred = c.confirm, c.kinds, p.ask, apply.DeferredAsk
		report := e.do(t, chain("1"))
		if got := strings.Join(p.asked, ", "); outcomes(report) != c.want || got != c.asked {
			t.Errorf("%s: %s, asked %s", name, outcomes(report), got)
		}
	}
}

// While a person thinks the world may change: what was asked about is looked at
// again before it is done.
func TestQuestion_TheWorldChangesDuringIt(t *testing.T) {
	t.Parallel()
	e := newEngine(t.TempDir())
	p := &person{answers: []apply.Answer{yes}, then: func() { e.world.Set("a", `{"v":"other"}`) }}
	e.opts.Confirm, e.opts.Ask = apply.ConfirmResource, p.ask
	report := e.do(t, thing("a", "v", "1"))
	if a := report.Resources["a"]; a.Status != apply.Error || len(a.Stale) == 0 || len(e.world.TakeLog()) > 0 {
		t.Errorf("planned: %s", encode(a))
	}

	// What was not promised is asked about again.
	e = newEngine(t.TempDir())
	p = &person{answers: []apply.Answer{yes, yes}}
	p.then = func() { e.world.Set("b", `{"v":"other"}`) }
	e.opts.Deferred, e.opts.Ask = apply.DeferredAsk, p.ask
	report = e.do(t, thing("a", "v", "1")+thing("b", "v", "resource.a.state.v"))
	if got := strings.Join(p.asked, ", "); got != "create b late, update b late" || report.Status != apply.OK {
		t.Errorf("deferred: %s, asked %s", report.Status, got)
	}

	// It may also be right by then.
	e = newEngine(t.TempDir())
	p = &person{answers: []apply.Answer{yes}, then: func() { e.world.Set("a", `{"v":1}`) }}
	e.opts.Confirm, e.opts.Ask = apply.ConfirmResource, p.ask
	if report = e.do(t, thing("a", "v", "1")); report.Resources["a"].Status != apply.Skipped {
		t.Errorf("right already: %s", encode(report))
	}
}

// An interrupt at a question is an interrupt, and a terminal that goes away is a
// no.
func TestQuestion_Interrupted(t *testing.T) {
	t.Parallel()
	for _, interrupt := range []bool{true, false} {
		e := newEngine(t.TempDir())
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		p := &person{answers: []apply.Answer{yes}}
		if interrupt {
			p.then = cancel
		} else {
			p.fail = errors.New("the terminal is gone")
		}
		e.opts.Confirm, e.opts.Ask = apply.ConfirmResource, p.ask
		planned, err := e.plan(thing("a") + thing("b"))
		if err != nil {
			t.Fatal(err)
		}
		report, err := e.apply(ctx, planned)
		want := "incomplete a=not_started b=not_started"
		if interrupt {
			want = "interrupted a=interrupted b=not_started"
		}
		if err != nil || outcomes(report) != want || len(e.world.TakeLog()) > 0 {
			t.Errorf("%v, %s: %s", err, outcomes(report), encode(report))
		}
	}
}

// To forget is asked about as well.
func TestQuestion_AboutForgetting(t *testing.T) {
	t.Parallel()
	for _, answer := range []apply.Answer{yes, no} {
		e := newEngine(t.TempDir())
		e.do(t, thing("a")+strings.Replace(thing("b"), "config", "lifecycle {\n    on_remove = \"forget\"\n  }\n  config", 1))
		p := &person{answers: []apply.Answer{answer}}
		e.opts.Confirm, e.opts.Ask = apply.ConfirmAction, p.ask
		report := e.do(t, thing("a"))
		want := map[apply.Answer]string{yes: "ok a=valid b=ok", no: "incomplete a=valid b=not_started"}[answer]
		if outcomes(report) != want || strings.Join(p.asked, ", ") != "forget b" {
			t.Errorf("%s: %s, asked %q", answer, outcomes(report), p.asked)
		}
	}
}
