package check

import (
	"sync"

	"deployster/config"
	"deployster/internal/app/typecache"
	"deployster/internal/app/workspace"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/protocol"
)

// Types are the types of a root, and what their images have reported. Its methods are safe for concurrent use.
type Types struct {
	Valid bool // the manifests were: the settings of their types are known

	known    *typecache.Types
	settings map[string]runner.Settings // by the name of the type block

	mu   sync.Mutex
	kept map[[2]string]*protocol.Type // by image and type block; nil = nothing is kept
}

// typesOf returns the types of a manifest, nil if it is not valid; nil = what is kept of them cannot be read.
func typesOf(w *workspace.Workspace, m *config.Manifest) *Types {
	known, err := typecache.New(w)
	if err != nil {
		return nil // the check has reported it
	}
	t := &Types{Valid: m != nil, known: known, settings: map[string]runner.Settings{}, kept: map[[2]string]*protocol.Type{}}
	if m == nil {
		return t
	}
	for _, declared := range m.Types().All() {
		if _, twice := t.settings[declared.Name]; !twice {
			t.settings[declared.Name] = declared.Settings
		}
	}
	return t
}

// Kept returns what an image has reported when it was last run here, with the settings of the type block that names
// it; "" = none does. nil = nothing is kept of it.
func (t *Types) Kept(image, block string) *protocol.Type {
	if t == nil || image == "" {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	key := [2]string{image, block}
	found, ok := t.kept[key]
	if !ok {
		if ty, is := t.known.Kept(typeclient.Target{Reference: image, Settings: t.settings[block]}); is {
			found = &ty
		}
		t.kept[key] = found
	}
	return found
}
