package workspace

import (
	"errors"
	"os"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/base/encryption"
	"deployster/internal/base/sharedlog"
	"deployster/internal/runtime/stores"
	"deployster/state"
)

// Remotes reads what other states publish.
type Remotes struct {
	options Options
	named   config.Encryption // what the manifests name of keys
	place   func(name string) state.Place
}

// Remotes returns what reads the outputs of other states.
func (w *Workspace) Remotes() Remotes { return Remotes{w.Options, w.named, w.Place} }

// Read reads what another state publishes, without a lock. The url may be the path of its file. keys are those that a manifest
// names; nil = those that the manifests of the workspace name, if these have been read, and else those of the environment alone.
func (r Remotes) Read(url string, keys *config.Encryption) (config.RemoteState, error) {
	if stores.IsURL(url) {
		if err := stores.Check(url); err != nil {
			return config.RemoteState{}, err
		}
	}
	named := r.named
	if keys != nil {
		named = *keys
	}
	ring := encryption.New(encryption.AsFound, func() (encryption.Keys, error) { return loadKeys(r.options, named) })
	place := r.place(url)
	d, err := state.LoadOutputs(place, ring)
	if errors.Is(err, os.ErrNotExist) {
		return config.RemoteState{}, notPublished(place, ring)
	}
	if err != nil {
		return config.RemoteState{}, err
	}
	found := config.RemoteState{URL: url, Lineage: d.Lineage, Serial: d.Serial, Status: string(d.Status),
		Outputs: map[string]config.RemoteOutput{}}
	for name, o := range d.Outputs {
		found.Outputs[name] = config.RemoteOutput{Value: o.Value, Sensitive: o.Sensitive}
	}
	return found, nil
}

// notPublished returns the error for a state that publishes nothing.
func notPublished(place state.Place, keys *encryption.Keyring) error {
	_, _, err := state.Load(place, keys)
	if moved, is := errors.AsType[*sharedlog.MovedError](err); is {
		return diag.Because(err, "The other state has moved", "%s is at %s now. Change the url of the remote_state.", place,
			diag.Visible(moved.To))
	}
	return diag.Because(os.ErrNotExist, "No outputs are published",
		"%s publishes no outputs. Mark those that other projects may read with export = true in that project, and apply there.", place)
}
