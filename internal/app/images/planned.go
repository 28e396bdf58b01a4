package images

import (
	"context"
	"errors"
	"maps"
	"slices"

	"deployster/internal/base/diag"
	"deployster/internal/runner"
	"deployster/internal/runner/imagestore"
	"deployster/plan"
)

// Ensure fetches the images of a saved plan that are gone, and refuses the plan where
// one cannot be had, before anything is run.
func Ensure(ctx context.Context, r Runtime, p *plan.Plan) error {
	if p.Selection.RefreshOnly {
		return nil // it asks only what is in doubt, and runs no action
	}
	used := imagesOf(p)
	for _, digest := range slices.Sorted(maps.Keys(used)) {
		if err := ensure(ctx, r, p, digest, used[digest]); err != nil {
			return err
		}
	}
	return nil
}

// imagesOf gives the images that a plan runs, by digest, each with its full names: also
// those of the state file, as what is destroyed resolves no name.
func imagesOf(p *plan.Plan) map[string][]string {
	used := map[string][]string{}
	add := func(name, digest string) {
		if full, _, err := imagestore.FullName(name); err == nil {
			name = full
		}
		if !slices.Contains(used[digest], name) {
			used[digest] = append(used[digest], name)
		}
	}
	for name, digest := range p.Images {
		add(name, digest)
	}
	for _, step := range p.Resources {
		if step.Change != plan.Forget || step.Gone() {
			add(step.Type, step.Init.Digest)
		}
		if step.Old != nil {
			add(step.Old.Type, step.Old.Init.Digest)
		}
	}
	for _, ty := range p.Others {
		add(ty.Reference, ty.Digest)
	}
	for _, names := range used {
		slices.Sort(names)
	}
	return used
}

// ensure looks for one image, and fetches it by one of its names. Of an image of the
// state file nobody has noted whether it came from a registry.
func ensure(ctx context.Context, r Runtime, p *plan.Plan, digest string, names []string) error {
	_, err := r.Resolve(ctx, digest)
	if err == nil {
		return nil
	}
	tried := ""
	for _, name := range names {
		if !errors.Is(err, runner.ErrNoImage) || p.Images[name] == digest && !slices.Contains(p.Pulled, name) {
			continue
		}
		_, failed := r.Obtain(ctx, runner.Wanted{Reference: imagestore.WithDigest(name, digest)})
		if failed == nil {
			return nil
		}
		if errors.Is(failed, context.Canceled) {
			return failed
		}
		if d, ok := errors.AsType[*diag.Diagnostic](failed); ok {
			tried = " It could not be fetched again: " + d.Detail
		}
	}
	if errors.Is(err, context.Canceled) {
		return err
	}
	return diag.Errorf("plan is stale: an image is gone",
		"The plan runs %s as %s, and that is not here any more.%s Bring it in again, or plan again with what is here.", names[0], digest, tried)
}
