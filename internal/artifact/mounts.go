package artifact

import (
	"context"
	"fmt"
	"sync"

	"deployster/internal/base/diag"
)

// Mounts finds the files that mounts show: it knows by which order each key is brought in.
// It is safe for concurrent use.
type Mounts struct {
	Store Store

	mu     sync.Mutex
	orders map[string]Order
}

// Know takes note of an order, and gives its key for MountSource.
func (m *Mounts) Know(o Order) (key string, err error) {
	if key, err = o.Recipe.Key(); err != nil {
		return "", err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.orders == nil {
		m.orders = map[string]Order{}
	}
	m.orders[key] = o
	return key, nil
}

// Path returns the place of files, or of what is at a path below their root. They are
// brought in where they are not here, and stay until the store is closed.
func (m *Mounts) Path(ctx context.Context, key, sub string) (string, error) {
	m.mu.Lock()
	o, known := m.orders[key]
	m.mu.Unlock()
	if !known {
		return "", diag.Errorf("The files of an artifact are not known",
			"Neither the manifest nor the state says how to get the artifact that a resource mounts. Plan again.")
	}
	held, err := m.Store.Fetch(ctx, o)
	if err != nil {
		return "", err
	}
	path, err := Sub(held.Dir, sub)
	if err != nil {
		return "", diag.Because(err, "A path is not in the files of an artifact", "artifact.%s, version %s: %s",
			o.Name, diag.Visible(o.Recipe.Version.String()), diag.Visible(fmt.Sprintf("%q: %s", sub, err)))
	}
	return path, nil
}
