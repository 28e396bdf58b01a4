package cli

import (
	"context"
	"maps"
	"path/filepath"
	"slices"

	"github.com/urfave/cli/v2"

	"deployster/config"
	"deployster/containerd"
	"deployster/internal/base/diag"
	"deployster/internal/base/durable"
	"deployster/internal/runner/typeclient"
	"deployster/internal/ui/render"
	"deployster/state"
)

func initCommand(e Env) *cli.Command {
	return &cli.Command{
		Name:      "init",
		Usage:     "bring in the images of all types, and pin their digests in the lock file",
		ArgsUsage: "[PATH ...]",
		Description: "From then on plan and apply refuse an image that is not the pinned one. Keep " + config.LockName + " under version control.\n" +
			"Without a lock file nothing is pinned but in a saved plan.",
		Flags: slices.Concat(varFlags(), []cli.Flag{
			&cli.BoolFlag{Name: "upgrade", Usage: "pin what the names mean now, in the registries and here, in the place of what is pinned"},
		}),
		Action: func(c *cli.Context) error { return runInit(c, e) },
	}
}

func runInit(c *cli.Context, e Env) error {
	s, err := newSession(c, e)
	if err != nil {
		return err
	}
	defer s.close()
	m, err := s.manifest(c)
	if err != nil {
		return err
	}
	images, err := s.supply(m)
	if err != nil {
		return err
	}
	if err := s.open(c.Context, c); err != nil {
		return err
	}
	images.runtime, images.writing, images.upgrade = s.runtime, true, c.Bool("upgrade")
	pins, err := images.all(c.Context)
	if err != nil {
		return err
	}
	if pins, err = s.otherImages(c.Context, m, images, pins); err != nil {
		return err
	}
	return s.writeLock(images.lock, pins)
}

// otherImages asks every image what it is, and so brings in those that it
// wants to be run in beside itself.
func (s *session) otherImages(ctx context.Context, m *config.Manifest, images *supply, pins map[string]string) (map[string]string, error) {
	client := s.client(state.Snapshot{}, pins, images)
	var diags diag.Diagnostics
	for _, r := range m.Resources() {
		_, err := client.Init(ctx, typeclient.Target{Address: r.Address, Reference: r.TypeRef, Settings: r.Settings, Pull: r.Pull, Verify: r.Verify})
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil {
			diags = append(diags, images.at(r, diag.From("Cannot initialise "+r.TypeRef, err))...)
		}
	}
	if diags.HasErrors() {
		return nil, s.hidden(diags)
	}
	all := maps.Clone(pins)
	maps.Copy(all, client.Images())
	return all, nil
}

// writeLock writes the lock file, if it changes, and says what changed.
func (s *session) writeLock(old *config.Lock, pins map[string]string) error {
	before := map[string]string{}
	if old != nil {
		before = old.Images
	}
	now := &config.Lock{Images: map[string]string{}}
	for name, digest := range pins {
		if _, inName, err := containerd.FullName(name); err != nil || inName == "" {
			now.Images[name] = digest // what has its digest in its name is pinned by that
		}
	}
	for _, name := range slices.Sorted(maps.Keys(now.Images)) {
		switch was, ok := before[name]; {
		case !ok:
			s.out.Printf("%s %s = %s\n", render.Green("+"), name, now.Images[name])
		case was != now.Images[name]:
			s.out.Printf("%s %s = %s\n    it was %s\n", render.Yellow("~"), name, now.Images[name], was)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(before)) {
		if now.Images[name] == "" {
			s.out.Printf("%s %s\n", render.Red("-"), name)
		}
	}
	if old != nil && maps.Equal(before, now.Images) {
		s.out.Printf("All images are here, and %s is up to date.\n", config.LockName)
		return nil
	}
	if err := durable.WriteFile(filepath.Join(s.dir, config.LockName), now.Bytes(), 0o644); err != nil {
		return diag.Errorf("Cannot write the lock file", "%s.", err)
	}
	s.out.Printf("Wrote %s. Keep it under version control.\n", config.LockName)
	return nil
}
