package cli

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/urfave/cli/v2"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/base/durable"
	"deployster/internal/base/encryption"
	"deployster/internal/runner/typeclient"
	"deployster/plan"
	"deployster/plan/planfile"
	"deployster/state"
)

// defaultParallelism is how many resources are worked on at one time.
const defaultParallelism = 10

// defaultInWorkers is the same for resources whose type has a worker: what is in
// flight there costs no container, and facts that are recorded together are
// synced once.
const defaultInWorkers = 80

func planCommand(e Env) *cli.Command {
	return &cli.Command{
		Name:      "plan",
		Usage:     "ask every image what is really there, and show what apply would do",
		ArgsUsage: "[PATH ...]",
		Description: "PATH names manifests or directories of them; the default is the working directory.\n" +
			"Exit codes: 0 done, 1 error, and with -detailed-exitcode 2 when there is something to do.",
		Flags: slices.Concat(varFlags(), selectionFlags(), refreshFlags(), []cli.Flag{
			&cli.StringFlag{Name: "out", Usage: "save the plan to `FILE`, for `deployster apply FILE`"},
			&cli.StringFlag{Name: "sign-key", Usage: "sign the saved plan with the ed25519 key in `FILE`"},
			&cli.BoolFlag{Name: "detailed-exitcode", Usage: "exit 2 when there is something to do"},
			parallelismFlag(), inputFlag(), compactFlag(), explainFlag(),
		}, eventFlags()),
		Action: func(c *cli.Context) error { return runPlan(c, e) },
	}
}

func compactFlag() cli.Flag {
	return &cli.BoolFlag{Name: "compact", Usage: "show each resource in one line"}
}

func parallelismFlag() cli.Flag {
	return &cli.IntFlag{Name: "parallelism", Value: defaultParallelism, Usage: "work on `N` resources at one time",
		Action: func(_ *cli.Context, n int) error {
			if n < 1 {
				return diag.Errorf("Wrong command line", "-parallelism must be at least 1.")
			}
			return nil
		}}
}

// inWorkers is how many resources are worked on at one time that have a worker;
// who says how many has said it for all, and it is 0.
func inWorkers(c *cli.Context) int {
	if c.IsSet("parallelism") {
		return 0
	}
	return defaultInWorkers
}

func runPlan(c *cli.Context, e Env) error {
	s, err := newSession(c, e)
	if err != nil {
		return err
	}
	defer s.close()
	key, err := s.signKey(c)
	if err != nil {
		return err
	}
	m, err := s.manifest(c)
	if err != nil {
		return err
	}
	held, err := state.ReadShared(c.Context, state.File(s.statePath(c, m)), s.stateOptions(c, "plan"))
	if err != nil {
		return err
	}
	defer func() { _ = held.Close() }() // the lock goes with the process anyway
	if err := s.keys.Ready(); err != nil {
		return err
	}
	s.tell(held.Recovery)
	if err := s.open(c.Context, c); err != nil {
		return err
	}
	if err := s.warnUnsettled(c.Context, held.Snapshot); err != nil {
		return err
	}
	p, _, err := s.build(c, m, held.Snapshot)
	if err != nil {
		return err
	}
	s.release()
	if err := s.planOrWhy(c, p, m, held.Snapshot); err != nil {
		return err
	}
	file := c.String("out")
	if file != "" {
		if err := s.save(p, file, key); err != nil {
			return err
		}
		s.ui.Printf("\nSaved. To do exactly this: deployster apply %s\n", file)
	}
	s.tellPlan(p, file)
	if c.Bool("detailed-exitcode") && p.HasChanges() {
		return exitStatus(exitChanges)
	}
	return nil
}

// build brings in the images and makes a plan, and shows the warnings that came
// with it.
func (s *session) build(c *cli.Context, m *config.Manifest, prior state.Snapshot) (*plan.Plan, *typeclient.Client, error) {
	ctx, selection := c.Context, selectionOf(c)
	chosen, diags := plan.Chosen(m, prior, selection)
	if diags.HasErrors() {
		return nil, nil, diags
	}
	end := s.ui.Begin("Planning", len(m.Resources()))
	defer end()
	images, err := s.supply(m)
	if err != nil {
		return nil, nil, err
	}
	images.wanted = chosen
	pins, err := images.all(ctx)
	if err != nil {
		return nil, nil, err
	}
	images.former(ctx, prior)
	client := s.client(prior, pins, images)
	p, diags := plan.Build(ctx, m, prior, client, plan.Options{Version: Version, Workspace: s.dir,
		Selection: selection, Parallelism: c.Int("parallelism"), InWorkers: inWorkers(c), Now: s.started, Progress: s.planning, Secret: s.vault.add, FromRegistry: images.fromRegistry})
	end()
	if diags.HasErrors() {
		if ctx.Err() != nil {
			return nil, nil, context.Cause(ctx)
		}
		if p != nil {
			s.out.Plan(p)
		}
		return nil, nil, s.hidden(diags)
	}
	s.err.Diagnostics(s.hidden(diags))
	return p, client, nil
}

// save writes a plan file. It may hold secrets, so it is the owner's alone.
func (s *session) save(p *plan.Plan, file string, key ed25519.PrivateKey) error {
	var content bytes.Buffer
	err := s.replaceable(file)
	if err == nil {
		err = planfile.WriteSigned(&content, p, key)
	}
	var written []byte
	if err == nil {
		written, err = s.keys.Seal(encryption.Plan, content.Bytes())
	}
	if err == nil {
		err = durable.WriteFileHere(s.path(file), written, 0o600)
	}
	if err != nil {
		return diag.Errorf("Cannot save the plan", "%s: %s.", file, err)
	}
	return nil
}

// replaceable refuses what a result must not take the place of: a device, a
// directory, a manifest.
func (s *session) replaceable(file string) error {
	info, err := os.Lstat(s.path(file))
	switch {
	case filepath.Ext(file) == ".hcl":
		return fmt.Errorf("its name is that of a manifest, which it would replace")
	case err == nil && info.Mode()&os.ModeSymlink != 0:
		return fmt.Errorf("it is a symbolic link, which somebody else may have put there. Name the file itself, or remove the link")
	case err == nil && !info.Mode().IsRegular():
		return fmt.Errorf("it is there already, and is no regular file")
	}
	return nil
}

// readPlan reads a plan file, and says who signed it; nil = nobody. The file is
// read once, so that what was checked is what is used.
func (s *session) readPlan(file string) (*plan.Plan, *planfile.Signature, error) {
	content, err := os.ReadFile(s.path(file))
	if err != nil {
		return nil, nil, diag.Errorf("Cannot read the plan file", "%s.", err)
	}
	if encryption.Is(content) {
		s.keysAround()
		if content, err = s.keys.Open(encryption.Plan, file, content); err != nil {
			return nil, nil, err
		}
	}
	p, signature, err := planfile.ReadSigned(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		for _, d := range diag.From("Damaged plan file", err) {
			d.Detail = file + ": " + d.Detail
			return nil, nil, d
		}
	}
	return p, signature, nil
}

// isManifest reports whether a file's name is that of a manifest.
func isManifest(name string) bool {
	ext := filepath.Ext(name)
	return ext == ".hcl" || ext == ".json"
}

// isPlanFile reports whether the only argument of apply or show is a saved plan
// and not a manifest.
func (s *session) isPlanFile(c *cli.Context) bool {
	if c.NArg() != 1 {
		return false
	}
	name := c.Args().First()
	if isManifest(name) {
		return false
	}
	info, err := os.Stat(s.path(name))
	return err == nil && !info.IsDir()
}
