package sharedlog

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
)

// partSize is the largest size of an object in a store. A larger state is split into several.
const partSize = 8 << 20

func partKey(object string, part int) string { return fmt.Sprintf("%s.%03d", object, part) }

func splitPart(key string) (object, part string) {
	at := strings.LastIndexByte(key, '.')
	if at < 0 {
		return key, ""
	}
	return key[:at], key[at+1:]
}

// Put stores the bytes of a state. They become the state, or an earlier version of it,
// once an entry names them.
func (c *Claim) Put(serial uint64, data []byte, encrypted bool) (State, error) {
	c.mu.Lock()
	n := c.n
	c.mu.Unlock()
	sum := sha256.Sum256(data)
	s := State{Serial: serial, Object: fmt.Sprintf("%s%016d-%s", statePrefix, n, NewID()), SHA256: hex.EncodeToString(sum[:]),
		Size: len(data), At: time.Now().UTC().Truncate(time.Second), Encrypted: encrypted}
	for part := 0; part == 0 || len(data) > 0; part++ {
		if err := c.Err(); err != nil {
			return s, err // no entry could name it, and Append has waited for the store already
		}
		piece := data[:min(len(data), partSize)]
		data = data[len(piece):]
		key := partKey(s.Object, part)
		err := c.log.patiently(context.WithoutCancel(c.ctx), c.patience(), func(ctx context.Context) error {
			err := c.log.Store.Create(ctx, key, piece)
			if errors.Is(err, ErrExists) {
				return nil // ours: the name is random, and the store's answer was lost
			}
			return err
		})
		if err != nil {
			return s, err
		}
	}
	return s, nil
}

// Fetch reads the bytes of a state. It fails if they are not the bytes that were stored.
func (l *Log) Fetch(ctx context.Context, s State) ([]byte, error) {
	pieces := make([][]byte, max(1, (s.Size+partSize-1)/partSize))
	group, gctx := errgroup.WithContext(ctx)
	group.SetLimit(4)
	for part := range pieces {
		group.Go(func() (err error) {
			key, want := partKey(s.Object, part), min(partSize, s.Size-part*partSize)
			if pieces[part], err = l.get(gctx, key); err == nil && len(pieces[part]) != want {
				err = fmt.Errorf("%w: %s has %d bytes, and had %d", ErrDamaged, key, len(pieces[part]), want)
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	data := slices.Concat(pieces...)
	if !s.has(data) {
		return nil, fmt.Errorf("%w: %s is not what was stored", ErrDamaged, s.Object)
	}
	return data, nil
}

// FetchPresent is Fetch of the present state for readers, who may have kept it.
func (l *Log) FetchPresent(ctx context.Context, s State) ([]byte, error) {
	data, kept := l.Kept.state(s)
	if kept {
		return data, nil
	}
	data, err := l.Fetch(ctx, s)
	if err == nil {
		l.Kept.keepState(data)
	}
	return data, err
}
