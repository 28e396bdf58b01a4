package rounds

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"deployster/apply/turns"
	"deployster/internal/app/approval"
	"deployster/internal/app/command"
	"deployster/internal/app/policy"
	"deployster/internal/app/stage"
	"deployster/internal/base/diag"
	"deployster/internal/base/words"
	"deployster/plan"
	"deployster/plan/reason"
)

// Rounds are the later rounds of an apply.
type Rounds struct {
	Command     command.Command
	Approval    approval.Approval
	Override    policy.Overrides
	Run         stage.RunOptions
	Waves       turns.Waves // of hosts, in each round
	Unreachable bool        // an unreachable host is an error
}

// Continue carries out the later rounds of a run, as long as there are some and they are approved. The run knows what is left, and why.
func (r Rounds) Continue(ctx context.Context, ran stage.Ran) stage.Ran {
	for ran.Plan.Continues() {
		next, why, err := r.next(ctx, ran)
		if err == nil && why == "" {
			if ran, err = ran.Next(ctx, r.Command, next.approved, next.run); err == nil {
				continue
			}
			why = "its round could not start"
		}
		return ran.Leave(why, err)
	}
	return ran
}

// Next is the plan of the next round, approved.
type Next struct {
	approved stage.Approved
	run      stage.RunOptions
}

// next returns the next round, or why there is none: the words for what is left, and an error if it is one.
func (r Rounds) next(ctx context.Context, ran stage.Ran) (next Next, why string, err error) {
	if err := interrupted(ctx); err != nil {
		return next, "interrupted before its turn", err
	}
	if !ran.Whole() {
		return next, "a dependency of it was not applied", nil
	}
	approves, why := r.Approval.Round(ran.Plan)
	if why != "" {
		return next, why, nil
	}
	d, err := r.draft(ctx, ran)
	if stopped := interrupted(ctx); stopped != nil {
		return next, "interrupted before its turn", stopped
	}
	if err != nil {
		return next, "its round could not be planned", ofRound(err)
	}
	if !resolves(ran.Plan, d.Plan) {
		return next, "the values of its keys are still unknown", nil
	}
	d.Plan.ID = ran.NextID()
	r.Command.UI.Printf("\n%s\n\n", strings.Join(known(ran.Plan, d.Plan), "\n"))
	r.Command.UI.Plan(d.Plan)
	r.Command.Planned(d.Plan, "")
	next.run = r.Run
	if err = stage.HeldBack(d); err == nil {
		next.run.Waves, err = stage.Schedule(d, r.Waves)
	}
	if err != nil {
		return next, "its round could not start", ofRound(err)
	}
	next.approved, err = stage.Approve(ctx, r.Command, d, approves)
	switch {
	case err == nil:
		return next, "", nil
	case interrupted(ctx) != nil:
		return next, "interrupted at the approval prompt", interrupted(ctx)
	case approval.Missing(err):
		return next, "its round was not approved", nil
	}
	return next, "its round could not start", ofRound(err)
}

// draft plans the next round, without what a round never does: what would be destroyed, replaced or forgotten is left.
func (r Rounds) draft(ctx context.Context, ran stage.Ran) (d stage.Drafted, err error) {
	held := map[string]*reason.Reason{}
	for {
		n, err := ran.Again(ctx, r.Command, r.Unreachable)
		if err != nil {
			return d, err
		}
		left := maps.Clone(held)
		maps.Copy(left, n.Selection.Unreached)
		n.Selection.Unreached = left
		if d, err = stage.Draft(ctx, r.Command, n, r.Run.Parallelism, r.Override); err != nil {
			return d, err
		}
		more := ends(d.Plan)
		if len(more) == 0 {
			return stage.Expand(d)
		}
		maps.Copy(held, more)
	}
}

// ends returns the resources with which a plan does more than to create or update them, with the reasons to leave them.
func ends(p *plan.Plan) map[string]*reason.Reason {
	held := map[string]*reason.Reason{}
	for addr, step := range p.Resources {
		kind := step.Kind()
		switch {
		case step.Replaces != "" || step.Expected() == plan.Replace:
			kind = plan.Replace
		case kind != plan.Replace && kind != plan.Destroy && kind != plan.Forget:
			continue
		}
		held[addr] = reason.New(reason.NeverInRound, string(kind))
	}
	return held
}

// resolves reports whether the instances of a block that a plan has deferred are known in the next one: so rounds end.
func resolves(before, now *plan.Plan) bool { return len(resolved(before, now)) > 0 }

func resolved(before, now *plan.Plan) []string {
	return slices.DeleteFunc(before.LaterOf(plan.LaterBlock), func(addr string) bool {
		_, still := now.Later[addr]
		return still
	})
}

// known lists whose instances are known now, in words.
func known(before, now *plan.Plan) []string {
	list := resolved(before, now)
	for i := range list {
		list[i] = diag.Visible(list[i])
	}
	return []string{"The instances of " + words.List(list, 10) + " are known now. The next round:"}
}

// interrupted returns why nothing new may begin; nil = it may.
func interrupted(ctx context.Context) error {
	if ctx.Err() == nil {
		return nil
	}
	return errors.Join(context.Canceled, context.Cause(ctx))
}

// ofRound returns an error about a round: what came before it was done.
func ofRound(err error) error {
	list := diag.From("The next round was not started", err)
	for i, d := range list {
		about := *d
		about.Detail = strings.ReplaceAll(about.Detail, "Nothing was changed.", "No action of this round was run.")
		list[i] = &about
	}
	return list
}
