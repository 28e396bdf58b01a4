package typecache

import (
	"deployster/config"
	"deployster/internal/app/images"
	"deployster/internal/app/workspace"
	"deployster/internal/runtime/runner/imagestore"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/protocol"
)

// Types are the types of which earlier commands have kept the answers to init.
type Types struct {
	Client *typeclient.Client // checks configs against their schemas; it runs nothing

	lock *config.Lock
}

// New returns the types that are known in a workspace.
func New(w *workspace.Workspace) (*Types, error) {
	lock, err := images.ReadLock(w.Dir)
	if err != nil {
		return nil, err
	}
	o := typeclient.Options{Version: w.Version, Workspace: w.Dir, Inits: workspace.NewInitCache(w.Dir)}
	return &Types{Client: typeclient.New(o), lock: lock}, nil
}

// Kept returns the type of a target by its reference and its settings.
func (t *Types) Kept(of typeclient.Target) (protocol.Type, bool) {
	return t.Client.Kept(typeclient.Target{Reference: of.Reference, Digest: pinned(t.lock, of.Reference), Settings: of.Settings})
}

// pinned returns the digest of an image from its name or the lock file; "" = neither has
// one, and only the image store can resolve the name.
func pinned(lock *config.Lock, reference string) string {
	full, digest, err := imagestore.FullName(reference)
	if err != nil || digest != "" || lock == nil {
		return digest
	}
	return lock.Images[full]
}
