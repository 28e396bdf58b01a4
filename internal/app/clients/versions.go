package clients

import (
	"context"

	"deployster/config"
	"deployster/internal/app/images"
	"deployster/internal/app/versions"
	"deployster/internal/runtime/artifact"
	"deployster/plan/artifacts"
	"deployster/plan/subject"
	"deployster/state"
)

// Versions returns a Service for the versions of the artifacts that a manifest declares. It fetches their images
// when it needs them.
func (s Source) Versions(m *config.Manifest, prior state.Snapshot) (*versions.Service, error) {
	resolver, err := s.Machine.Resolver(s.Command.Work.Dir, m)
	if err != nil {
		return nil, err
	}
	lock, err := images.ReadLock(s.Command.Work.Dir)
	if err != nil {
		return nil, err
	}
	passing, err := passing(m, prior)
	if err != nil {
		return nil, err
	}
	client, files := s.Machine.Artifacts(s.Command, s.Client(prior, images.Set{Pins: map[string]string{}, Resolver: resolver}))
	return versions.New(versions.Options{Dir: s.Command.Work.Dir, Manifest: m, Prior: prior, Lock: lock, Store: files, Passing: passing,
		Open: func(ctx context.Context, wanted func(string) bool) (artifact.Client, error) {
			resolver.Wanted = wanted
			_, err := resolver.All(ctx)
			return client, err
		}}), nil
}

// passing returns which versions have passed what artifacts name in passed, by the names of these artifacts.
func passing(m *config.Manifest, prior state.Snapshot) (map[string]artifacts.Passing, error) {
	if len(artifacts.PassedBy(m.Artifacts())) == 0 {
		return nil, nil
	}
	present := subject.New(m, prior, subject.Selection{})
	if diags := present.Begin(); diags.HasErrors() {
		return nil, diags
	}
	return artifacts.PassingOf(m, present.Prior), nil
}
