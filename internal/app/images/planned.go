package images

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"

	"deployster/internal/base/diag"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/imagestore"
	"deployster/plan"
	"deployster/protocol"
)

// use is one name by which a plan runs an image, and the signature that the image must carry.
type use struct {
	name   string // full
	verify *runner.Verify
}

// Ensure fetches the images of a saved plan that are missing here. It refuses the plan,
// before anything is run, if one cannot be fetched or is not signed as its type requires.
func Ensure(ctx context.Context, r Runtime, p *plan.Plan) error {
	if p.Selection.RefreshOnly {
		return nil // it queries only what is in doubt, and runs no action
	}
	used, remote := imagesOf(p), remoteOf(p)
	for _, digest := range slices.Sorted(maps.Keys(used)) {
		if err := ensure(ctx, r, p, digest, used[digest], remote[digest]); err != nil {
			return err
		}
	}
	return nil
}

// imagesOf returns the images that a plan runs, by digest, those with signatures first. It
// includes those of the state file: a destroy resolves no name.
func imagesOf(p *plan.Plan) map[string][]use {
	used := map[string][]use{}
	add := func(name, digest string, v *runner.Verify) {
		full := fullName(name)
		if !slices.ContainsFunc(used[digest], func(u use) bool { return u.name == full && sameVerify(u.verify, v) }) {
			used[digest] = append(used[digest], use{full, v})
		}
	}
	for name, digest := range p.Images {
		add(name, digest, nil)
	}
	eachUse(p, func(s *plan.Step, name, digest string) { add(name, digest, s.Verify) })
	for _, ty := range p.Others {
		add(ty.Reference, ty.Digest, nil)
	}
	for _, uses := range used {
		slices.SortFunc(uses, func(a, b use) int {
			return cmp.Or(cmp.Compare(keysOf(b.verify), keysOf(a.verify)), cmp.Compare(a.name, b.name))
		})
	}
	return used
}

// eachUse calls do for each image that a step of a plan runs.
func eachUse(p *plan.Plan, do func(s *plan.Step, name, digest string)) {
	of := func(s *plan.Step) {
		do(s, s.Type, cmp.Or(s.Init.Digest, p.Images[fullName(s.Type)])) // its init may not have been run yet
		for _, name := range otherImages(s) {
			if digest, pinned := p.Images[fullName(name)]; pinned {
				do(s, name, digest)
			}
		}
	}
	for _, step := range p.Resources {
		if step.Change() != plan.Forget || step.Gone() {
			of(step)
		}
		if step.Old() != nil {
			of(step.Old())
		}
	}
}

// remoteOf returns the digests of the images that a plan runs in clusters alone.
func remoteOf(p *plan.Plan) map[string]bool {
	remote := map[string]bool{}
	eachUse(p, func(s *plan.Step, _, digest string) {
		before, known := remote[digest]
		remote[digest] = (before || !known) && s.Settings.Host.InCluster()
	})
	return remote
}

func fullName(name string) string {
	if full, _, err := imagestore.FullName(name); err == nil {
		return full
	}
	return name
}

// keysOf returns one text that identifies the demands on a signature.
func keysOf(v *runner.Verify) string {
	if v == nil {
		return ""
	}
	return v.Repository + "\x00" + string(v.Keys)
}

// otherImages returns the images that a step runs in addition to its own.
func otherImages(s *plan.Step) (list []string) {
	commands := []*protocol.Command{&s.Init.StateAction, s.Init.WatchAction, s.Init.DiscoverAction, s.Init.ValidateAction,
		s.Init.Worker}
	for _, a := range s.Answer().Actions {
		commands = append(commands, &a.Command)
	}
	if s.Answer().Shutdown != nil {
		commands = append(commands, &s.Answer().Shutdown.Command)
	}
	for _, c := range commands {
		if c != nil && c.Image != "" {
			list = append(list, c.Image)
		}
	}
	return list
}

// ensure searches for one image here, and fetches it by one of its names. It checks all
// signatures before it fetches the image without one. The state does not record whether
// an image of an entry came from a registry. A remote image is here without its layers too.
func ensure(ctx context.Context, r Runtime, p *plan.Plan, digest string, uses []use, remote bool) error {
	err := runner.ErrNoImage
	if !remote {
		_, err = r.Resolve(ctx, digest)
	}
	here, tried := err == nil, ""
	if err != nil && !errors.Is(err, runner.ErrNoImage) {
		return gone(uses[0].name, digest, "", err)
	}
	for _, u := range uses {
		packed := !remote && p.Images[u.name] == digest && !slices.Contains(p.Pulled, u.name)
		if u.verify == nil && (here || packed) {
			continue
		}
		_, err := r.Obtain(ctx, runner.Wanted{Reference: imagestore.WithDigest(u.name, digest), Verify: u.verify, Remote: remote})
		switch {
		case err == nil:
			here = true
			continue
		case errors.Is(err, context.Canceled), here:
			return err
		}
		if d, ok := errors.AsType[*diag.Diagnostic](err); ok {
			tried = " It could not be fetched again: " + d.Detail
		}
		if u.verify != nil {
			return gone(u.name, digest, tried, err)
		}
	}
	if here {
		return nil
	}
	return gone(uses[0].name, digest, tried, err)
}

// gone is the error about an image that cannot be obtained.
func gone(name, digest, tried string, err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	return diag.Errorf("An image of the plan is not on this machine", "The plan runs %s as %s, which is not on this machine.%s Pull or "+
		"import it, or plan again with the images of this machine.", name, digest, tried)
}
