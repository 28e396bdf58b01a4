package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"sync/atomic"
	"time"

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

// Run implements runner.Runner.
func (m *Machine) Run(ctx context.Context, s runner.Spec) (runner.Result, error) {
	s, err := m.mounted(s)
	if err != nil {
		return runner.Result{}, err
	}
	if s.Guard != "" {
		return m.runGuarded(ctx, s)
	}
	return m.Runner.Run(ctx, s)
}

// Launch implements runner.Launcher.
func (m *Machine) Launch(ctx context.Context, s runner.Spec) (runner.Process, error) {
	s, err := m.mounted(s)
	if err != nil {
		return nil, err
	}
	sources := runner.SourcesOf(s.Mounts)
	p, err := m.o.Launcher.Launch(ctx, s)
	if err != nil || len(sources) == 0 {
		return p, err
	}
	w := &compared{Process: p, done: make(chan struct{})}
	go w.compare(sources)
	return w, nil
}

// compared is a program that ends when the source of one of its mounts was replaced.
type compared struct {
	runner.Process
	done     chan struct{} // closed by Wait
	replaced atomic.Bool
}

func (c *compared) compare(sources runner.Sources) {
	tick := time.NewTicker(runner.SourcesEvery)
	defer tick.Stop()
	for {
		select {
		case <-c.done:
			return
		case <-tick.C:
		}
		if sources.Replaced() {
			c.replaced.Store(true)
			c.Kill()
			return
		}
	}
}

// Wait implements runner.Process. It is called once.
func (c *compared) Wait() (runner.Result, error) {
	defer close(c.done)
	res, err := c.Process.Wait()
	if c.replaced.Load() {
		err = runner.ErrReplaced
	}
	return res, err
}

// mounted replaces mounts of an artifact by mounts of the files that the client has sent.
func (m *Machine) mounted(s runner.Spec) (runner.Spec, error) {
	for i, mount := range s.Mounts {
		key, sub, ok := artifact.ParseMount(mount.Source)
		if !ok {
			continue
		}
		m.mu.Lock()
		dir := m.files[key]
		m.mu.Unlock()
		if dir == "" {
			return s, fmt.Errorf("the files of the artifact at %s were not sent here", mount.Target)
		}
		path, err := artifact.Sub(dir, sub)
		if err != nil {
			return s, fmt.Errorf("%q of the artifact at %s: %w", sub, mount.Target, err)
		}
		s.Mounts = slices.Clone(s.Mounts)
		s.Mounts[i] = runner.Mount{Source: path, Target: mount.Target, Own: true}
	}
	return s, nil
}
