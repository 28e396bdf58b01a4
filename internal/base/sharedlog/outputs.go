package sharedlog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
)

// outputsPrefix begins the keys of what the holders of a log publish for readers of other projects, by serial. It is next to
// the log, and no entry names it: who may read only these objects can read nothing else.
const outputsPrefix = "outputs/"

func outputsKey(serial uint64) string { return fmt.Sprintf("%s%016d", outputsPrefix, serial) }

// Outputs returns what was published last; fs.ErrNotExist = nothing. It does not read the log.
func (l *Log) Outputs(ctx context.Context) (data []byte, err error) {
	const attempts = 20
	for try := 1; ; try++ {
		keys, err := l.list(ctx, outputsPrefix)
		if err != nil {
			return nil, err
		}
		if len(keys) == 0 {
			return nil, fs.ErrNotExist
		}
		data, err := l.get(ctx, slices.Max(keys))
		if !errors.Is(err, fs.ErrNotExist) || try == attempts {
			return data, err
		}
		if err := l.Clock.Sleep(ctx, l.firstWait()); err != nil { // replaced between the two calls
			return nil, err
		}
	}
}

// Publish makes data what is published of a serial, which the log must have as its state, and removes all earlier.
func (c *Claim) Publish(serial uint64, data []byte) error {
	if len(data) > partSize {
		return fmt.Errorf("%w: %d bytes, of at most %d", ErrDenied, len(data), partSize)
	}
	ctx, key := context.WithoutCancel(c.ctx), outputsKey(serial)
	keys, err := c.log.list(ctx, outputsPrefix)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(keys, func(other string) bool { return other >= key }) {
		if err := c.again(ctx, key, keys, data); err != nil {
			return err
		}
	}
	err = c.log.patiently(ctx, c.patience(), func(ctx context.Context) error { return c.log.Store.Create(ctx, key, data) })
	if errors.Is(err, ErrExists) { // an answer of the store was lost
		err = nil
	}
	if err != nil {
		return err
	}
	c.log.remove(ctx, slices.DeleteFunc(keys, func(other string) bool { return other >= key }))
	return nil
}

// again removes what is published of a serial in another form, and of later ones, which are of a state that was lost: only who
// still holds the log knows that.
func (c *Claim) again(ctx context.Context, key string, keys []string, data []byte) error {
	if _, err := c.Append(Entry{Kind: KindAlive}); err != nil {
		return err
	}
	for _, other := range keys {
		if other < key {
			continue
		}
		if other == key {
			if there, err := c.log.get(ctx, key); err == nil && bytes.Equal(there, data) {
				continue
			}
		}
		err := c.log.patiently(ctx, c.patience(), func(ctx context.Context) error { return c.log.Store.Delete(ctx, other) })
		if err != nil {
			return err
		}
	}
	return nil
}

// Unpublish removes everything that is published.
func (c *Claim) Unpublish() error {
	ctx := context.WithoutCancel(c.ctx)
	keys, err := c.log.list(ctx, outputsPrefix)
	if err != nil {
		return err
	}
	for _, key := range keys {
		err := c.log.patiently(ctx, c.patience(), func(ctx context.Context) error { return c.log.Store.Delete(ctx, key) })
		if err != nil {
			return err
		}
	}
	return nil
}
