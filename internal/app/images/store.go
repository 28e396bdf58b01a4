package images

import (
	"context"
	"errors"
	"maps"
	"slices"

	"golang.org/x/sync/errgroup"

	"deployster/internal/app/workspace"
	"deployster/internal/base/diag"
	"deployster/internal/runtime/runner/imagestore"
	"deployster/state"
)

// parallelPulls is how many images are pulled concurrently.
const parallelPulls = 4

// Pull fetches images from their registries. It returns those that were fetched, also
// when others failed.
func Pull(ctx context.Context, s Store, references []string) ([]imagestore.Image, error) {
	infos, errs := make([]imagestore.Image, len(references)), make([]error, len(references))
	var group errgroup.Group
	group.SetLimit(parallelPulls)
	for i, ref := range references {
		group.Go(func() error {
			infos[i], errs[i] = s.Pull(ctx, ref)
			return nil
		})
	}
	_ = group.Wait() // each has its own error
	var pulled []imagestore.Image
	for i, err := range errs {
		if err == nil {
			pulled = append(pulled, infos[i])
		}
	}
	if ctx.Err() != nil {
		return pulled, ctx.Err()
	}
	return pulled, errors.Join(errs...)
}

// Needed returns the digests of the images that a workspace needs: those of the state and
// lock files, and those that the names in the manifests refer to.
func Needed(ctx context.Context, r Runtime, w *workspace.Workspace, command string) (map[string]bool, error) {
	keep := map[string]bool{}
	held, err := w.HoldState(ctx, w.StatePlaceAround(), command)
	if err != nil {
		return nil, err
	}
	defer func() { _ = held.Close() }() // it was only read
	keepRecorded(held.Snapshot, keep)
	lock, err := ReadLock(w.Dir)
	if err != nil {
		return nil, err
	}
	if lock != nil {
		for _, digest := range lock.Images {
			keep[digest] = true
		}
		for _, pin := range lock.Modules {
			keep[pin.Digest] = true // of a repository it is "", which no image has
		}
	}
	m, err := w.Reader().Needed()
	if m == nil || err != nil {
		return keep, err
	}
	for _, res := range slices.Concat(m.Resources(), typesOfArtifacts(m)) {
		if image, err := r.Resolve(ctx, res.TypeRef); err == nil {
			keep[image.Digest] = true
		}
	}
	return keep, nil
}

// keepRecorded adds the digests of the images that a state needs: those of its resources,
// and those that fetch its artifacts.
func keepRecorded(s state.Snapshot, keep map[string]bool) {
	for _, entry := range s.Resources {
		keep[entry.Digest] = true
		for _, deposed := range entry.Deposed {
			keep[deposed.Digest] = true
		}
	}
	for _, a := range s.Artifacts {
		keep[a.Recipe.Digest] = true
	}
	for _, pin := range s.Pins {
		keep[pin.Recipe.Digest] = true
	}
}

// Remove removes images. It refuses those whose digest is in keep, and removes the others
// nevertheless.
func Remove(ctx context.Context, s Store, references []string, keep map[string]bool) ([]imagestore.Image, error) {
	var refused []error
	references = slices.DeleteFunc(slices.Clone(references), func(ref string) bool {
		image, err := s.Resolve(ctx, ref)
		needed := err == nil && keep[image.Digest]
		if needed {
			refused = append(refused, diag.Errorf("The image "+ref+" is needed", "The state, the lock file or a manifest here refers to "+
				"it (%s). -force removes it nevertheless.", image.Digest))
		}
		return needed
	})
	removed, err := s.Remove(ctx, references)
	return removed, errors.Join(append(refused, err)...)
}

// Prune removes images that were shown as unused, by all of their names. Conditions may have
// changed while a person decided: a name that refers to another image now stays, and so
// does an image that the workspace needs now.
func Prune(ctx context.Context, s Store, w *workspace.Workspace, shown []imagestore.Image) ([]imagestore.Image, error) {
	keep, err := Needed(ctx, s, w, "image prune")
	if err != nil {
		return nil, err
	}
	unused, err := s.Unused(ctx, keep, true)
	if err != nil {
		return nil, err
	}
	names := map[string]bool{}
	for _, i := range unused {
		if slices.ContainsFunc(shown, func(was imagestore.Image) bool { return was.Name == i.Name && was.Digest == i.Digest }) {
			names[i.Name] = true
		}
	}
	return s.Remove(ctx, slices.Sorted(maps.Keys(names)))
}
