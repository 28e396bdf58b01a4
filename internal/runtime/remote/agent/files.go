package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"slices"

	"deployster/internal/runtime/artifact"
	"deployster/internal/runtime/artifact/tree"
	"deployster/internal/runtime/remote"
	"deployster/internal/runtime/runner"
)

// Bring implements remote.Place. The files stay at least until the client's connection ends. A
// version of an artifact that was fetched twice may have other files the second time: each client
// sees the files that it has sent, and not those that another client has sent for the same key.
func (m *Machine) Bring(ctx context.Context, f remote.Files, archive io.Reader) error {
	sum := sha256.Sum256([]byte(f.Key + " " + f.Tree))
	kept := hex.EncodeToString(sum[:])
	held, err := m.o.Files.Receive(ctx, kept, f.Name, f.Tree, func(dir string) error { return tree.Unpack(ctx, archive, dir) })
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.files[f.Key] = held.Dir
	return nil
}

// Run implements runner.Runner. It replaces mounts of an artifact by mounts of the
// files that the client has sent.
func (m *Machine) Run(ctx context.Context, s runner.Spec) (runner.Result, error) {
	for i, mount := range s.Mounts {
		key, sub, ok := artifact.ParseMount(mount.Source)
		if !ok {
			continue
		}
		m.mu.Lock()
		dir := m.files[key]
		m.mu.Unlock()
		if dir == "" {
			return runner.Result{}, fmt.Errorf("the files of the artifact at %s were not sent here", mount.Target)
		}
		path, err := artifact.Sub(dir, sub)
		if err != nil {
			return runner.Result{}, fmt.Errorf("%q of the artifact at %s: %w", sub, mount.Target, err)
		}
		s.Mounts = slices.Clone(s.Mounts)
		s.Mounts[i] = runner.Mount{Source: path, Target: mount.Target, Own: true}
	}
	return m.Runner.Run(ctx, s)
}
