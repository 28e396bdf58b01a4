package repairs

import (
	"context"

	"deployster/internal/app/draft"
	"deployster/internal/base/diag"
	"deployster/state"
)

// Newer returns the artifacts among names whose newest version came after the recorded one, with that version. A
// version that is listed in the place of the recorded one may be older, and is not among them.
func (k Keeper) Newer(ctx context.Context, s *Source, prior state.Snapshot, names []string) (map[string]string, error) {
	service, err := k.planner().Versions(s.Manifest, prior)
	if err != nil {
		return nil, err
	}
	checks, err := service.Check(ctx, names, draft.DefaultParallelism)
	newer := map[string]string{}
	for _, c := range checks.Artifacts {
		if c.Pinned == "" && !c.Unlisted && c.Moves() {
			newer[c.Name] = c.Newest.String()
		}
	}
	return newer, err
}

// Followable returns an error if one of names is not an artifact whose version may change.
func (k Keeper) Followable(s *Source, prior state.Snapshot, names []string) error {
	service, err := k.planner().Versions(s.Manifest, prior)
	if err != nil {
		return err
	}
	for _, name := range names {
		where, err := service.Pinned(name)
		if err != nil {
			return err
		}
		if where != "" {
			return diag.Errorf("A pinned artifact is followed", "-follow names artifact.%s, which is pinned in the %s: its version never "+
				"changes. Remove the pin, or do not follow it.", name, where)
		}
	}
	return nil
}
