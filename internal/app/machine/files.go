package machine

import (
	appartifacts "deployster/internal/app/artifacts"
	"deployster/internal/app/command"
	"deployster/internal/base/diag"
	"deployster/internal/runtime/artifact"
	artifactimages "deployster/internal/runtime/artifact/images"
	"deployster/internal/runtime/artifact/store"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/internal/ui/events"
)

// Files is the store of artifacts of a command, which is opened when it is first needed.
type Files struct {
	Store artifact.Store // nil = not opened
}

// Artifacts returns a client for artifacts, and the store of them.
func (m *Machine) Artifacts(c command.Command, types *typeclient.Client) (artifact.Client, artifact.Store) {
	client := artifactimages.New(artifactimages.Options{Types: types, Inspector: m.Runtime})
	if m.Files.Store == nil {
		m.Files.Store = appartifacts.Telling{Fetched: func(h artifact.Held) { c.Work.Events(events.OfFetched(h)) },
			Store: store.New(store.Options{Dir: m.Runtime.Artifacts(), Client: client, Command: "deployster", Max: m.options.MaxArtifacts,
				Hide: c.Work.Secrets.Hide})}
	}
	return client, m.Files.Store
}

// OpenFiles opens the store of artifacts for a command that works on nothing else, and runs no images.
func (m *Machine) OpenFiles() artifact.Store {
	return store.New(store.Options{Dir: m.Runtime.Artifacts(), Command: "deployster", Max: m.options.MaxArtifacts})
}

// Close closes the store of artifacts, which releases the files that it holds.
func (f *Files) Close(c command.Command) {
	if f.Store == nil {
		return
	}
	if err := f.Store.Close(); err != nil {
		for _, d := range diag.From("The store of artifacts", err) {
			d.Severity = diag.Warning
			c.Work.Warn(d)
		}
	}
	f.Store = nil
}
