package pins

import (
	"context"
	"errors"
	"maps"
	"slices"

	"deployster/config"
	"deployster/internal/app"
	"deployster/internal/app/images"
	"deployster/internal/app/machine"
	"deployster/internal/app/workspace"
	"deployster/internal/base/diag"
	"deployster/internal/runtime/runner/imagestore"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/state"
)

// Init fetches the images of all types, and pins their digests in the lock file. With
// upgrade it pins the current digests of their names. host names the host on which images
// answer init; "" = here, or on a host of each. It returns the changes of the lock file, and whether it was written.
func Init(ctx context.Context, e *app.Engine, in workspace.Inputs, upgrade bool, host string) (changes []images.LockChange,
	written bool, err error) {
	if err := e.HoldLockFile(ctx, "init"); err != nil {
		return nil, false, err
	}
	modules := e.Workspace.Modules.Pin(ctx, upgrade)
	m, err := e.Workspace.Manifest(ctx, in)
	if err != nil {
		return nil, false, err
	}
	lock, err := images.ReadLock(e.Workspace.Dir)
	if err != nil {
		return nil, false, err
	}
	at, err := e.Machine(ctx)
	if err != nil {
		return nil, false, err
	}
	if at.NotHere() != nil {
		if m, err = app.Located(ctx, e, m); err != nil {
			return nil, false, err
		}
	}
	resolver := images.NewResolver(at.Runtime, m, lock)
	resolver.Pin, resolver.Upgrade = true, upgrade
	pins, err := resolver.All(ctx)
	if err != nil {
		return nil, false, err
	}
	for _, m := range resolver.Moved() {
		e.Workspace.Note("%[1]s is now %[2]s (locked); the current build is kept as %[3]s. To use it: `deployster image tag %[3]s "+
			"%[1]s`, "+
			"then `deployster init -upgrade`.", m.Name, m.Now, imagestore.WithDigest(m.Name, m.Was))
	}
	if pins, err = otherImages(ctx, e, at, m, resolver, pins, host); err != nil {
		return nil, false, err
	}
	if changes, written, err = images.WriteLock(e.Workspace.Dir, lock, pins, modules.Pins()); err != nil {
		return changes, written, err
	}
	moved, err := upgradePins(ctx, e, in, upgrade)
	return append(changes, moved...), written || len(moved) > 0, err
}

// otherImages queries every image for its init answer, and so fetches the other images in
// which its commands run.
func otherImages(ctx context.Context, e *app.Engine, at *machine.Machine, m *config.Manifest, resolver *images.Resolver,
	pins map[string]string, host string) (map[string]string, error) {
	if host != "" {
		h, err := app.Host(ctx, e, m, host)
		if err != nil {
			return nil, err
		}
		at = at.InitOn(h)
	}
	client := at.Client(e.Command(), at.Places, state.Snapshot{}, pins, resolver)
	var diags diag.Diagnostics
	noted := map[string]bool{} // types that no machine could be queried for
	for _, r := range slices.Concat(m.Resources(), m.Unattended().Lookups()) {
		if r.Publish != nil {
			continue // it uses no image but its own
		}
		_, err := client.Init(ctx, typeclient.Target{Address: r.Address, Reference: r.TypeRef, Settings: r.Settings, Pull: r.Pull,
			Verify: r.Verify})
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if nowhere, is := errors.AsType[*typeclient.NowhereError](err); is && host == "" {
			if !noted[r.TypeRef] {
				e.Workspace.Note("No machine can run the init of %s: %s. Its configs are checked once one can; `deployster init "+
					"-host=NAME` runs it on another host.", r.TypeRef, nowhere.Why())
			}
			noted[r.TypeRef] = true
		} else if err != nil {
			diags = append(diags, resolver.At(r, diag.From("Cannot initialise "+r.TypeRef, err))...)
		}
	}
	diags = append(diags, secretImages(ctx, client, m)...)
	if diags.HasErrors() {
		return nil, e.Workspace.Secrets.Diagnostics(diags)
	}
	all := maps.Clone(pins)
	maps.Copy(all, client.Images())
	return all, nil
}

// secretImages queries the images of secret blocks for their schemas, by which validate checks configs. Where nothing can be
// run, plan and apply report this when they need a value.
func secretImages(ctx context.Context, client *typeclient.Client, m *config.Manifest) (diags diag.Diagnostics) {
	for _, s := range m.Unattended().Secrets() {
		ty, err := client.Describe(ctx, typeclient.Target{Address: "secret." + s.Name, Reference: s.Image, Settings: s.Settings,
			Pull: s.Pull, Verify: s.Verify})
		switch {
		case diag.Is[*typeclient.NowhereError](err) || ctx.Err() != nil:
		case err == nil && ty.Secret == nil:
			err = diag.Errorf("The image reads no secrets", "The answer of image %s to init lacks \"secret\".", diag.Visible(s.Image))
			fallthrough
		case err != nil:
			for _, d := range diag.From("Cannot initialise "+s.Image, err) {
				diags = append(diags, m.Diagnose(d, &s.Range))
			}
		}
	}
	return diags
}
