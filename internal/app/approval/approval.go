package approval

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"deployster/apply"
	"deployster/internal/base/diag"
	"deployster/internal/base/words"
	"deployster/plan"
	"deployster/plan/repair"
	"deployster/state"
)

// Approval is what the options declare about approvals.
type Approval struct {
	confirm  string        // never, once, resource, action; "" = not given
	deferred string        // apply, ask, stop; "" = not given
	kinds    []plan.Change // approved without a question; nil = not given
	machine  bool          // images may get a machine as a whole for the first time
	Other    bool          // objects may be destroyed through another path than today's
	Purge    bool          // objects of exclusive sets may be destroyed
	ask      bool          // there is a person to ask, and questions are allowed
	saved    bool          // the plan was saved: it prompts for nothing by itself
	demanded bool          // a digest or a signature is required
}

// approvable returns the kinds of change that -approve takes.
func approvable() []string {
	return []string{string(plan.Create), string(plan.Update), string(plan.Replace), string(plan.Destroy), string(plan.Forget),
		string(plan.Publish), string(plan.Deferred)}
}

// approveWords returns all words that -approve takes.
func approveWords() []string {
	return append(approvable(), string(repair.Kind), otherPath, purge, wholeMachine)
}

// otherPath is a word of -approve that nothing else includes: a removal through a path
// that is not today's needs it, even if the plan is approved.
const otherPath = "other-path"

// Options declare how approvals are given. A nil string is not given.
type Options struct {
	Auto     bool    // nobody is prompted: Confirm is never
	Confirm  *string // once (the default; a saved plan prompts for nothing), resource, action
	Kinds    *string // the kinds of change that are approved without a question, separated by commas
	Deferred *string // what apply does with what the plan could not show: apply, ask, stop
	Ask      bool    // there is a person to ask, and questions are allowed
	Demanded bool    // a digest or a signature is required, and Deferred is not given: there are no later rounds
}

// Never is the mode of -auto-approve, and of a saved plan.
const Never = "never"

// New reads the options.
func New(o Options, saved bool) (Approval, error) {
	a := Approval{ask: o.Ask, saved: saved, demanded: o.Demanded}
	for _, f := range []struct {
		name  string
		value *string
		into  *string
		words []string
	}{{"confirm", o.Confirm, &a.confirm, []string{"once", "resource", "action"}}, {"deferred", o.Deferred, &a.deferred,
		[]string{"apply", "ask", "stop"}}} {
		if f.value == nil {
			continue
		}
		if *f.into = *f.value; !slices.Contains(f.words, *f.value) {
			return a, diag.Errorf("Invalid flag value", "-%s must be one of %s, and not %q.", f.name, strings.Join(f.words, ", "),
				diag.Visible(*f.value))
		}
	}
	if o.Kinds != nil {
		for word := range strings.SplitSeq(*o.Kinds, ",") {
			if word == otherPath || word == wholeMachine || word == purge {
				a.Other, a.machine, a.Purge = a.Other || word == otherPath, a.machine || word == wholeMachine, a.Purge || word == purge
				continue
			}
			if !slices.Contains(approveWords(), word) {
				return a, diag.Errorf("Invalid flag value", "%q is not a kind of change. -approve takes kinds, separated by commas: %s.",
					diag.Visible(word), strings.Join(approveWords(), ", "))
			}
			a.kinds = append(a.kinds, plan.Change(word))
		}
	}
	if o.Auto {
		if a.confirm == "once" || a.confirm == "resource" || a.confirm == "action" {
			return a, diag.Errorf("Conflicting flags",
				"-auto-approve turns prompts off, and -confirm=%s turns them on. Remove one of them.", a.confirm)
		}
		a.confirm = Never
	}
	if a.kinds != nil && a.confirm == Never {
		return a, diag.Errorf("Conflicting flags",
			"-approve approves some kinds of change, and -auto-approve all of them. Remove one of them.")
	}
	return a, nil
}

// OfPlan reads -approve of a plan command. A plan prompts for nothing, so only the words are
// allowed that change what is planned.
func OfPlan(kinds *string) (other, purges bool, err error) {
	if kinds == nil {
		return false, false, nil
	}
	for word := range strings.SplitSeq(*kinds, ",") {
		switch word {
		case otherPath:
			other = true
		case purge:
			purges = true
		default:
			return false, false, diag.Errorf("Invalid flag value", "-approve=%s has no meaning for a plan, which changes nothing: it "+
				"takes -approve=%s and -approve=%s only. The other kinds are for apply.",
				diag.Visible(word), otherPath, purge)
		}
	}
	return other, purges, nil
}

// Mode returns the mode in effect: when apply prompts.
func (a Approval) Mode() string {
	switch {
	case a.confirm != "":
		return a.confirm
	case a.saved && a.kinds == nil:
		return Never
	}
	return "once"
}

// open lists the kinds of change in a plan that are not approved yet, in the order of
// approvable, with their resources.
func (a Approval) open(p *plan.Plan, prior state.Snapshot) []string {
	var open []string
	kinds := p.Kinds()
	if a.continues(p) {
		kinds[plan.Deferred] = append(kinds[plan.Deferred], p.LaterDeclared()...)
	}
	if slices.Contains(a.kinds, repair.Kind) {
		for kind, addrs := range kinds {
			kinds[kind] = slices.DeleteFunc(addrs, func(addr string) bool {
				return repair.Answered(p.Resources[addr], prior.Resources[addr])
			})
		}
	}
	for _, kind := range approvable() {
		addrs := kinds[plan.Change(kind)]
		if len(addrs) == 0 || slices.Contains(a.kinds, plan.Change(kind)) || kind == string(plan.Deferred) && a.answersForDeferred() {
			continue
		}
		open = append(open, fmt.Sprintf("%s (%s)", kind, words.List(addrs, 5)))
	}
	if addrs := newGrants(p, prior); len(addrs) > 0 && !a.machine {
		open = append(open, fmt.Sprintf("%s (%s)", wholeMachine, words.List(addrs, 5)))
	}
	return open
}

// answersForDeferred reports whether the options decide about deferred resources: these
// can only turn out to be created or updated.
func (a Approval) answersForDeferred() bool {
	return a.deferred == "apply" || a.deferred == "stop" ||
		slices.Contains(a.kinds, plan.Create) && slices.Contains(a.kinds, plan.Update)
}

// UI prompts a person.
type UI interface {
	Printf(format string, args ...any)
	Confirm(ctx context.Context, question string, whole bool) (bool, error)
	Question(context.Context, apply.Question) (apply.Answer, error)
}

// Approve finds out whether a plan may be applied, and sets in o what apply has to prompt for
// while it runs. If a question would be needed and there is nobody to answer, it returns an
// error now, before anything is run.
func (a Approval) Approve(ctx context.Context, ui UI, p *plan.Plan, prior state.Snapshot, dir string, o *apply.Options) error {
	if !a.Other {
		if err := RefuseOtherPaths(p, dir); err != nil {
			return err
		}
	}
	if err := a.purges(p); err != nil {
		return err
	}
	o.Kinds = a.kinds
	o.Deferred = map[string]apply.Deferred{"apply": apply.DeferredApply, "ask": apply.DeferredAsk, "stop": apply.DeferredStop}[a.deferred]
	mode := a.Mode()
	switch {
	case a.deferred != "" || mode == Never:
	case a.kinds != nil:
		o.Deferred = apply.DeferredByKinds
	default:
		o.Deferred = apply.DeferredAskBeyond
	}
	o.Confirm = map[string]apply.Confirm{"resource": apply.ConfirmResource, "action": apply.ConfirmAction}[mode]
	if a.ask {
		o.Ask = ui.Question
	}
	grants := newGrants(p, prior)
	if !p.HasChanges() && len(grants) == 0 {
		return nil
	}
	open := a.open(p, prior)
	if !a.ask {
		return a.nobody(p, open)
	}
	onTheWay := mode != "once" && (mode == Never || a.machine || len(grants) == 0)
	if onTheWay || a.kinds != nil && len(open) == 0 {
		return nil
	}
	ui.Printf("\n")
	question := "Apply this plan?"
	if a.kinds != nil {
		question = "-approve does not cover: " + strings.Join(open, ", ") + ".\nApply this plan?"
	}
	if n := p.Summary.DestroyAdopted; n > 0 {
		question = fmt.Sprintf("%s: %d.\n%s", "Not created by deployster, and destroyed by this plan", n, question)
	}
	if len(grants) > 0 {
		question = askAbout(grants) + question
	}
	destroys := p.Summary.Destroy+p.Summary.Replace+p.Summary.Expected.Replace > 0
	yes, err := ui.Confirm(ctx, question, destroys)
	if err == nil && !yes {
		err = diag.Errorf(notApproved, "Nothing was changed.")
	}
	return err
}

// nobody refuses a plan that needs an answer: there is no terminal to ask on.
func (a Approval) nobody(p *plan.Plan, open []string) error {
	why := "there is no terminal to prompt on, or -input=false forbids it"
	switch mode := a.Mode(); {
	case a.deferred == "ask" && (len(p.LeftOpen()) > 0 || a.continues(p)):
		return diag.Errorf(required, "-deferred=ask needs answers about what this plan cannot show yet (%s), and %s. Nothing "+
			"was changed. Use -deferred=apply or -deferred=stop.", words.List(append(p.LeftOpen(), p.LaterDeclared()...), 5), why)
	case mode == Never, a.kinds != nil && len(open) == 0:
		return nil
	case a.kinds != nil:
		return diag.Errorf(required, "-approve does not cover: %s, and %s. Nothing was changed. Name these kinds as well, or "+
			"apply on a terminal.", strings.Join(open, ", "), why)
	case mode != "once":
		return diag.Errorf(required, "-confirm=%s needs answers during the apply, and %s. Nothing was changed.", mode, why)
	}
	save := []string{"deployster", "plan"}
	if p.Selection.Destroy {
		save = append(save, "-destroy")
	}
	for _, addr := range p.Selection.Targets {
		save = append(save, words.Shell("-target="+addr))
	}
	for _, addr := range p.Selection.Excludes {
		save = append(save, words.Shell("-exclude="+addr))
	}
	return diag.Errorf(required, "Apply needs approval, and %s. Nothing was changed. Use `-auto-approve`, or save a plan "+
		"with `%s -out=plan.bin` and apply that.", why, strings.Join(save, " "))
}
