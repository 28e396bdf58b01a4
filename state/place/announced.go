package place

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"deployster/internal/base/durable"
	"deployster/internal/base/sharedlog"
)

// announced is the directory next to a state file that has what other projects announce to it.
func (f localFile) announced() string { return f.state + ".announced" }

const announcedSuffix = ".json"

func (f localFile) Announce(id string, data []byte) error {
	if err := os.Mkdir(f.announced(), 0o700); err == nil {
		err = durable.SyncDir(filepath.Dir(f.state))
		if err != nil {
			return err
		}
	} else if !errors.Is(err, os.ErrExist) {
		return err
	}
	return durable.WriteFile(filepath.Join(f.announced(), id+announcedSuffix), data, 0o600)
}

// Announced ignores files with other names: half-written ones announce nothing yet.
func (f localFile) Announced() (map[string][]byte, error) {
	entries, err := os.ReadDir(f.announced())
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	list := map[string][]byte{}
	for _, e := range entries {
		id, ours := strings.CutSuffix(e.Name(), announcedSuffix)
		if !ours || strings.HasPrefix(id, ".") {
			continue
		}
		data, err := os.ReadFile(filepath.Join(f.announced(), e.Name()))
		if errors.Is(err, os.ErrNotExist) { // withdrawn between the two calls
			continue
		}
		if err != nil {
			return nil, err
		}
		list[id] = data
	}
	return list, nil
}

func (f localFile) Withdraw(id string) error {
	return durable.Remove(filepath.Join(f.announced(), id+announcedSuffix))
}

func (b *remote) Announce(id string, data []byte) error {
	ctx, cancel := context.WithTimeout(context.Background(), reading)
	defer cancel()
	return b.word(b.log.Announce(ctx, id, data))
}

func (b *remote) Announced() (map[string][]byte, error) {
	if a := b.place.ahead.Swap(nil); a != nil && b.claim == nil {
		<-a.done
		return a.list, b.word(a.err)
	}
	list, err := announced(b.log)
	return list, b.word(err)
}

func announced(l *sharedlog.Log) (map[string][]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), reading)
	defer cancel()
	return l.Announced(ctx)
}

// ahead is what is announced to a state, which is read while the state is, for the next call of Announced. What arrives is in the state
// before it is withdrawn; so who reads both concurrently misses no more than who reads them a moment earlier.
type ahead struct {
	done chan struct{}
	list map[string][]byte
	err  error
}

// readAhead reads what is announced in the background.
func (p *Remote) readAhead(l *sharedlog.Log) {
	a := &ahead{done: make(chan struct{})}
	p.ahead.Store(a)
	go func() {
		defer close(a.done)
		a.list, a.err = announced(l)
	}()
}

func (b *remote) Withdraw(id string) error {
	ctx, cancel := context.WithTimeout(context.Background(), reading)
	defer cancel()
	return b.word(b.log.Withdraw(ctx, id))
}
