package stage

import (
	"context"

	"deployster/config"
	"deployster/internal/app/clients"
	"deployster/internal/app/command"
	"deployster/internal/app/draft"
	"deployster/internal/app/hosts"
	"deployster/internal/app/policy"
	"deployster/internal/app/unsettled"
	"deployster/plan"
	"deployster/plan/verdict"
)

// Drafted is a plan with what it was made from.
type Drafted struct {
	Connected
	Plan    *plan.Plan
	Clients clients.Clients
	Left    map[string]string // what the plan leaves out because of hosts, with the reasons

	expanded *config.Manifest // with what became known during planning
}

// Draft makes a plan, has policies judge it, and shows its progress and its warnings.
func Draft(ctx context.Context, c command.Command, n Connected, parallelism int, o policy.Overrides) (Drafted, error) {
	judge, err := n.judge(c).Of(n.Manifest, o)
	if err != nil {
		return Drafted{}, err
	}
	end := c.UI.Begin("Planning", len(n.Manifest.Resources()))
	defer end()
	in := n.Inputs(parallelism)
	in.OnlyShown = n.OnlyShown && judge.None()
	p, asked, diags, err := n.Planner(c).Plan(ctx, in)
	if n.Former != nil {
		diags, err = n.Former.Explain(diags, err)
	}
	if err != nil {
		return Drafted{}, err
	}
	end()
	if diags.HasErrors() {
		if ctx.Err() != nil {
			return Drafted{}, context.Cause(ctx)
		}
		if p != nil {
			c.UI.Plan(p)
		}
		return Drafted{}, c.Work.Secrets.Diagnostics(diags)
	}
	c.Work.Diagnostics(diags)
	if n.Former != nil {
		err = n.Former.Fits(p, n.Prior, asked)
	}
	if err == nil {
		err = judge.Plan(ctx, p)
	}
	if err != nil {
		return Drafted{}, err
	}
	return Drafted{Connected: n, Plan: p, Clients: asked}, nil
}

// Expand gives a drafted plan the manifest that an apply evaluates.
func Expand(d Drafted) (Drafted, error) {
	var err error
	if d.expanded, err = draft.Expanded(d.Manifest, d.Plan); err != nil {
		return Drafted{}, err
	}
	d.Left = hosts.Left(d.Plan, d.Open)
	return d, nil
}

// Denied returns the error about a plan that policies deny; nil = none does.
func (d Drafted) Denied() error { return verdict.Refuse(d.Plan.Policies) }

// judge returns what has policies judge plans.
func (n Connected) judge(c command.Command) policy.Judge {
	return policy.Judge{Command: c, Machine: n.Machine, Places: n.Places, Prior: n.Prior, Destroy: n.Selection.Destroy || n.Former != nil}
}

// DraftBy is Drafted for a plan that was made in another way, for a repair. Policies judge it.
func DraftBy(ctx context.Context, c command.Command, n Connected, p *plan.Plan, expanded *config.Manifest, asked clients.Clients,
	left map[string]string) (Drafted, error) {
	judge, err := n.judge(c).Of(n.Manifest, policy.Overrides{})
	if err == nil {
		err = judge.Plan(ctx, p)
	}
	return Drafted{Connected: n, Plan: p, Clients: asked, Left: left, expanded: expanded}, err
}

// Resume prepares the run of a saved plan, and refuses it if a policy denies it that the environment requires here. The plan
// pins more images than a lock file does.
func Resume(ctx context.Context, c command.Command, n Connected, show bool) (Drafted, error) {
	p := n.Saved
	unsettled.Resumed(c.Work, p, n.Prior)
	d := Drafted{Connected: n, Plan: p, Clients: n.Planner(c).Saved(n.Manifest, n.Prior, p), expanded: n.Manifest, Left: hosts.Left(p,
		n.Open)}
	d.left.Keep(p, d.Left)
	if err := n.Planner(c).Has(ctx, p); err != nil {
		return Drafted{}, err
	}
	if show {
		c.UI.Plan(p)
	}
	return d, n.judge(c).Saved(ctx, p)
}

// HeldBack refuses a plan that acts on a resource on which another machine may still act.
func HeldBack(d Drafted) error { return unsettled.HeldBack(d.Place, d.Plan, d.Prior) }
