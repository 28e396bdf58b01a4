package sharedlog

import (
	"context"
	"errors"
	"io/fs"
	"strings"
)

// announcedPrefix begins the keys of what others announce to the holders of a log, each by an id. They are next to the log, and no
// entry names them: who writes one needs no claim.
const announcedPrefix = "announced/"

// Announce keeps data for all who read the log from now on.
func (l *Log) Announce(ctx context.Context, id string, data []byte) error {
	err := l.patiently(ctx, l.Timing.Patience, func(ctx context.Context) error { return l.Store.Create(ctx, announcedPrefix+id, data) })
	if errors.Is(err, ErrExists) { // an answer of the store was lost: an id is used once
		err = nil
	}
	return err
}

// Announced returns what was announced and not withdrawn, by the ids.
func (l *Log) Announced(ctx context.Context) (map[string][]byte, error) {
	keys, err := l.list(ctx, announcedPrefix)
	if err != nil {
		return nil, err
	}
	list := map[string][]byte{}
	for _, key := range keys {
		data, err := l.get(ctx, key)
		if errors.Is(err, fs.ErrNotExist) { // withdrawn between the two calls
			continue
		}
		if err != nil {
			return nil, err
		}
		list[strings.TrimPrefix(key, announcedPrefix)] = data
	}
	return list, nil
}

// Withdraw removes what was announced under an id.
func (l *Log) Withdraw(ctx context.Context, id string) error {
	err := l.patiently(ctx, l.Timing.Patience, func(ctx context.Context) error { return l.Store.Delete(ctx, announcedPrefix+id) })
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return err
}
