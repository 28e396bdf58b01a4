package cli

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/urfave/cli/v2"

	"deployster/apply"
	"deployster/config"
	"deployster/containerd"
	"deployster/internal/base/diag"
	"deployster/internal/runner"
	"deployster/internal/runner/typeclient"
	"deployster/plan"
	"deployster/state"
)

func applyCommand(e Env) *cli.Command {
	return &cli.Command{
		Name:      "apply",
		Usage:     "do what a saved plan says, or plan, ask, and do it",
		ArgsUsage: "[PLAN | PATH ...]",
		Description: "With a saved plan it asks nothing, and needs no manifests. Without, it shows the plan and asks.\n" +
			"Exit codes: 0 done, 1 error, 130 interrupted.",
		Flags:  slices.Concat(varFlags(), selectionFlags(), refreshFlags(), applyFlags(), requireFlags(), eventFlags()),
		Action: func(c *cli.Context) error { return runApply(c, e, false) },
	}
}

func destroyCommand(e Env) *cli.Command {
	return &cli.Command{
		Name:        "destroy",
		Usage:       "remove everything that the state file knows: the plan of an empty manifest",
		Description: "What a type cannot remove is forgotten. Exit codes: 0 done, 1 error, 130 interrupted.",
		Flags:       slices.Concat(selectionFlags(), applyFlags(), eventFlags()),
		Action:      func(c *cli.Context) error { return runApply(c, e, true) },
	}
}

func applyFlags() []cli.Flag {
	return append(approvalFlags(), []cli.Flag{
		&cli.BoolFlag{Name: "keep-going", Usage: "after a failure go on with what does not depend on it"},
		&cli.StringFlag{Name: "report", Usage: "write what was done to `FILE`, as JSON"},
		parallelismFlag(), inputFlag(), compactFlag(),
	}...)
}

// task is one apply: what is to be done, with what.
type task struct {
	plan     *plan.Plan
	manifest *config.Manifest
	client   *typeclient.Client
	policy   policy
	report   *reporter
	approval approval
	options  apply.Options // of what was agreed upon
}

func runApply(c *cli.Context, e Env, destroy bool) (err error) {
	s, err := newSession(c, e)
	if err != nil {
		return err
	}
	defer s.close()
	t := task{report: &reporter{session: s, file: c.String("report")}}
	if err := t.report.begin(); err != nil {
		return err
	}
	defer func() { err = t.report.end(t.plan, err, recover()) }()
	return s.runApply(c, destroy, &t)
}

// runApply does so; whatever becomes of it, there will be a report.
func (s *session) runApply(c *cli.Context, destroy bool, t *task) (err error) {
	saved := !destroy && s.isPlanFile(c)
	if t.policy, err = s.policy(c); err == nil && !saved {
		err = t.policy.savedOnly(c.Command.Name)
	}
	if err == nil {
		t.approval, err = s.approval(c, saved)
	}
	switch {
	case err != nil:
		return err
	case destroy && c.NArg() > 0:
		return diag.Errorf("Wrong command line", "destroy takes no arguments: it removes everything that the state file knows.")
	case destroy:
		t.manifest, err = s.replay(config.Sources{Workspace: s.dir, Dir: s.dir, Replay: true}, nil, s.started)
	case saved:
		err = s.savedTask(c, t)
	default:
		t.manifest, err = s.manifest(c)
	}
	if err != nil {
		return err
	}
	path := s.statePath(c, t.manifest)
	if destroy {
		path = s.statePathAround(c)
	}
	store, err := state.Open(c.Context, state.File(path), s.stateOptions(c, c.Command.Name))
	if err != nil {
		return err
	}
	defer func() { _ = store.Close() }() // the lock goes with the process anyway
	if warning := state.Unreliable(state.File(path)); warning != nil {
		s.err.Diagnostic(warning)
	}
	s.tell(store.Recovery())
	if saved {
		if err := apply.Check(t.plan, store.Snapshot()); err != nil {
			return err
		}
	}
	if err := s.open(c.Context, c); err != nil {
		return err
	}
	if saved {
		for _, step := range t.plan.Resources {
			s.vault.add(plan.Secrets(step.Config, step.Sensitive))
		}
	}
	if err := s.adopt(c.Context, store, t.plan); err != nil {
		return err
	}
	if saved {
		s.tellResumed(t.plan, store.Snapshot())
		// The plan has pinned more than a lock file does.
		t.client = s.client(store.Snapshot(), t.plan.Images, newSupply(s.runtime, t.manifest, nil))
		if err := apply.CheckPlugs(t.plan); err != nil {
			return err
		}
		if err := s.imagesHere(c.Context, t.plan); err != nil {
			return err
		}
		if t.approval.mode() != "never" {
			s.out.Plan(t.plan)
		}
	} else if err := s.decide(c, store.Snapshot(), t); err != nil {
		return err
	}
	if err := t.approval.approve(c.Context, s, t.plan, &t.options); err != nil {
		return err
	}
	err = s.carryOut(c, store, t)
	s.clearBeside(state.Clear(state.File(path)))
	return err
}

// savedTask reads a saved plan and the manifests in it.
func (s *session) savedTask(c *cli.Context, t *task) error {
	if len(variableFlags(c)) > 0 {
		return diag.Errorf("Wrong command line", "A saved plan holds the values of its variables: -var and -var-file cannot change them. Plan again with other values.")
	}
	if !selectionOf(c).IsZero() {
		return diag.Errorf("Wrong command line", "A saved plan says itself what it is about: -target, -exclude, -replace and -refresh cannot change it. Plan again with them.")
	}
	file := c.Args().First()
	p, signature, err := s.readPlan(file)
	if err == nil {
		err = t.policy.check(file, p, signature)
	}
	if err != nil {
		return err
	}
	t.plan = p
	t.manifest, err = s.replay(p.Sources, p.Variables, p.Created)
	return err
}

// decide plans, and shows the plan.
func (s *session) decide(c *cli.Context, prior state.Snapshot, t *task) error {
	var err error
	if t.plan, t.client, err = s.build(c, t.manifest, prior); err != nil {
		return err
	}
	if len(t.plan.Instances) > 0 {
		var diags diag.Diagnostics
		if t.manifest, diags = t.manifest.With(t.plan.Instances); diags.HasErrors() {
			return diags
		}
	}
	s.out.Plan(t.plan)
	s.tellPlan(t.plan, "")
	return t.policy.checkDigest(t.plan)
}

// imagesHere refuses a plan whose images are gone, before anything is run.
func (s *session) imagesHere(ctx context.Context, p *plan.Plan) error {
	if p.Selection.RefreshOnly {
		return nil // it runs none
	}
	images, named := maps.Clone(p.Images), slices.Collect(maps.Values(p.Images))
	for _, step := range p.Resources {
		if !slices.Contains(named, step.Init.Digest) && step.Change != plan.Forget {
			images[step.Type] = step.Init.Digest // of the state file: what is destroyed resolves no name
		}
	}
	for _, ref := range slices.Sorted(maps.Keys(images)) {
		digest := images[ref]
		_, err := s.runtime.Resolve(ctx, digest)
		if errors.Is(err, runner.ErrNoImage) && slices.Contains(p.Pulled, ref) {
			_, err = s.runtime.Obtain(ctx, runner.Wanted{Reference: containerd.WithDigest(ref, digest)})
		}
		if errors.Is(err, context.Canceled) {
			return err
		} else if err != nil {
			return diag.Errorf("plan is stale: an image is gone",
				"The plan runs %s as %s, and that is not here any more.%s Bring it in again, or plan again with what is here.", ref, digest, whyNot(err))
		}
	}
	return nil
}

// whyNot says why an image could not be fetched again, if that was tried.
func whyNot(err error) string {
	var tried *diag.Diagnostic
	if !errors.As(err, &tried) {
		return ""
	}
	return " It could not be fetched again: " + tried.Detail
}
