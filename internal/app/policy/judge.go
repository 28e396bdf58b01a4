package policy

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"deployster/config"
	"deployster/internal/app/command"
	"deployster/internal/app/images"
	"deployster/internal/app/machine"
	"deployster/internal/app/workspace"
	"deployster/internal/base/diag"
	"deployster/internal/base/parallel"
	"deployster/internal/runtime/remote/router"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/plan"
	"deployster/plan/verdict"
	"deployster/state"
)

// Judge has policies judge the plans of a command.
type Judge struct {
	Command command.Command
	Machine *machine.Machine
	Places  *router.Places
	Prior   state.Snapshot
	Destroy bool // the manifests are not planned: their policies are those of the workspace
}

// ready is a policy that can judge, with the manifest that declares it.
type ready struct {
	config.Policy
	manifest *config.Manifest
	required bool
}

// Policies are the policies that judge the plans of a command, sorted by name.
type Policies struct {
	judge     Judge
	list      []ready
	overrides Overrides
}

// None reports whether no policy judges.
func (p Policies) None() bool { return len(p.list) == 0 }

// Of returns the policies of a manifest and those that the environment requires.
func (j Judge) Of(m *config.Manifest, o Overrides) (Policies, error) {
	p, err := j.required()
	if err != nil {
		return p, err
	}
	if j.Destroy {
		if m, err = j.Command.Work.Reader().Policies(); err != nil {
			return p, err
		}
	}
	p.overrides = o
	for _, one := range policiesOf(m) {
		if slices.ContainsFunc(p.list, func(r ready) bool { return r.Name == one.Name }) {
			return p, m.Diagnose(diag.Errorf("The policy is required already",
				"%s names a file that has the policy %s, which no manifest can "+
					"set. Give this one another name.", workspace.RequirePolicy, one.Name), &one.Range)
		}
		p.list = append(p.list, ready{one, m, false})
	}
	slices.SortFunc(p.list, func(a, b ready) int { return cmp.Compare(a.Name, b.Name) })
	return p, o.fit(p.list)
}

func policiesOf(m *config.Manifest) []config.Policy {
	if m == nil {
		return nil
	}
	return m.Policies().List
}

// required returns the policies that the environment requires.
func (j Judge) required() (Policies, error) {
	m, err := j.Command.Work.Reader().RequiredPolicies()
	p := Policies{judge: j}
	for _, one := range policiesOf(m) {
		p.list = append(p.list, ready{one, m, true})
	}
	return p, err
}

// Plan judges a plan, which gets the verdicts.
func (p Policies) Plan(ctx context.Context, pl *plan.Plan) error {
	verdicts, err := p.verdicts(ctx, pl)
	if err != nil || len(verdicts) == 0 {
		return err
	}
	for i, v := range verdicts {
		verdicts[i].Override = p.overrides.of(v, p.judge.Command.Work)
		verdicts[i] = verdicts[i].Decided()
	}
	pl.Policies = verdicts
	pl.ID = plan.Fingerprint(pl)
	return nil
}

// Saved refuses a saved plan that a policy denies which the environment requires here. The decisions of who planned
// about these policies count.
func (j Judge) Saved(ctx context.Context, pl *plan.Plan) error {
	p, err := j.required()
	if err != nil {
		return err
	}
	verdicts, err := p.verdicts(ctx, pl)
	for i, v := range verdicts {
		for _, before := range pl.Policies {
			if before.Required && before.Name == v.Name {
				verdicts[i].Override = before.Override
			}
		}
	}
	return cmp.Or(err, verdict.Refuse(verdicts))
}

// verdicts returns what all policies find about a plan.
func (p Policies) verdicts(ctx context.Context, pl *plan.Plan) ([]verdict.Policy, error) {
	if len(p.list) == 0 {
		return nil, nil
	}
	document, err := Document(pl, p.judge.Command.Work.Secrets)
	if err != nil {
		return nil, err
	}
	return p.find(ctx, document)
}

// find returns what all policies find about the JSON of a plan.
func (p Policies) find(ctx context.Context, document []byte) ([]verdict.Policy, error) {
	work := p.judge.Command.Work
	value, err := config.NewPlanValue(document)
	if err != nil {
		return nil, err
	}
	clients := map[*config.Manifest]*typeclient.Client{}
	for _, r := range p.list {
		if r.Type != "" && clients[r.manifest] == nil {
			if clients[r.manifest], err = p.judge.client(r); err != nil {
				return nil, err
			}
		}
	}
	list := parallel.Map(p.list, func(r ready) verdict.Policy {
		v, err := r.verdict(ctx, clients[r.manifest], document, value)
		if err != nil {
			v.Results = failed(work, err)
		}
		return v.Decided()
	})
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return list, nil
}

// client returns what runs the images of the policies of a manifest. A lock file pins those of the workspace.
func (j Judge) client(r ready) (*typeclient.Client, error) {
	resolver := images.NewResolver(j.Machine.Runtime, r.manifest, nil)
	if !r.required {
		var err error
		if resolver, err = j.Machine.Resolver(j.Command.Work.Dir, r.manifest); err != nil {
			return nil, err
		}
	}
	return j.Machine.Client(j.Command, j.Places, j.Prior, nil, resolver), nil
}

// verdict returns what one policy finds. An error reports that it cannot judge.
func (r ready) verdict(ctx context.Context, c *typeclient.Client, document json.RawMessage, value config.PlanValue) (verdict.Policy,
	error) {
	v := verdict.Policy{Name: r.Name, Level: r.Level, Required: r.required, Image: r.Type, Timed: r.Timed}
	if r.Type == "" {
		found, diags := r.manifest.Policies().Judge(r.Policy, value)
		for _, f := range found {
			v.Results = append(v.Results, verdict.Result{Severity: verdict.Error, Message: f.Message, Address: f.Address})
		}
		return v, diags.Err()
	}
	t := typeclient.Target{Address: "policy." + r.Name, Reference: r.Type, Settings: r.Settings.Settings, Pull: r.Settings.Pull,
		Verify: r.Settings.Verify, StateTimeout: r.Settings.Timeouts.State}
	ty, err := c.Init(ctx, t)
	if err != nil {
		return v, err
	}
	v.Digest, t.Digest = ty.Digest, ty.Digest
	if wrong := c.CheckConfig(ty, r.Config.Value, nil); ty.Policy != nil && len(wrong) > 0 {
		return v, diag.Errorf("Invalid config", "The config of the policy does not match its image's config_schema: %s",
			wrong[0].Sentence())
	}
	v.Results, err = c.Judge(ctx, t, ty, r.Config.Value, document)
	return v, err
}

// failed returns the results of a policy that cannot judge: it denies what it would deny.
func failed(w *workspace.Workspace, err error) (list []verdict.Result) {
	for _, d := range w.Secrets.Diagnostics(diag.From("It cannot judge the plan", err)) {
		if d.Severity != diag.Error {
			continue
		}
		text := d.Summary + ": " + strings.Join(strings.Fields(d.Detail), " ")
		if d.Range != nil {
			text = d.Range.String() + ": " + text
		}
		list = append(list, verdict.Result{Severity: verdict.Error, Message: text})
	}
	return list
}
