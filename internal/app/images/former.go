package images

import (
	"context"
	"errors"
	"slices"
	"strings"

	"deployster/config"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/imagestore"
	"deployster/plan/plugs"
	"deployster/state"
)

// Former fetches the images that destroy resources that are no longer declared. It ignores
// errors: an image that is missing, or is not signed as required, fails when it is run.
func (rs *Resolver) Former(ctx context.Context, prior state.Snapshot, signed func(string) *runner.Verify) {
	declared := map[string]bool{}
	for _, r := range rs.manifest.Resources() {
		declared[r.Address] = true
	}
	for address, entry := range prior.Resources {
		if declared[address] || !rs.Wanted(address) || entry.OnRemove == "forget" || !strings.Contains(entry.Digest, ":") {
			continue
		}
		remote := entry.Settings.Host.InCluster()
		if _, err := rs.runtime.Resolve(ctx, entry.Digest); errors.Is(err, runner.ErrNoImage) {
			if full, _, err := imagestore.FullName(entry.Type); err == nil {
				_, _ = rs.runtime.Obtain(ctx, runner.Wanted{Reference: imagestore.WithDigest(full, entry.Digest),
					Verify: signed(entry.Type), Remote: remote})
			}
		}
	}
}

// Signed returns which signature an image that the state names must carry: that of the
// type block with this image, or else of any with another tag of it. Where these name
// several keys, a signature by any of them is enough.
func Signed(types []config.Type) func(reference string) *runner.Verify {
	return func(reference string) *runner.Verify {
		full := fullName(reference)
		of := func(same func(image string) bool) (list []config.Type) {
			for _, t := range types {
				if t.Image != "" && same(fullName(t.Image)) {
					list = append(list, t)
				}
			}
			return list
		}
		list := of(func(image string) bool { return image == full })
		if len(list) == 0 {
			list = of(func(image string) bool { return plugs.Untagged(image) == plugs.Untagged(full) })
		}
		var all *runner.Verify
		for _, t := range list {
			switch {
			case t.Verify == nil:
			case all == nil:
				all = new(*t.Verify)
			case t.Verify.Repository == all.Repository && !strings.Contains(string(all.Keys), string(t.Verify.Keys)):
				all.Keys = slices.Concat(all.Keys, []byte("\n"), t.Verify.Keys)
				all.KeyName += " or " + t.Verify.KeyName
			}
		}
		return all
	}
}
