package place

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"deployster/internal/base/durable"
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
	ctx, cancel := context.WithTimeout(context.Background(), reading)
	defer cancel()
	list, err := b.log.Announced(ctx)
	return list, b.word(err)
}

func (b *remote) Withdraw(id string) error {
	ctx, cancel := context.WithTimeout(context.Background(), reading)
	defer cancel()
	return b.word(b.log.Withdraw(ctx, id))
}
