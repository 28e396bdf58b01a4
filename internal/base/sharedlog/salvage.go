package sharedlog

import (
	"context"
	"errors"
	"io/fs"
	"slices"
)

// Salvage reads what can be read of a log that is damaged. Its tip has the highest number that was ever used, as far as that is known, so
// that no number is used again. If the entry with that number cannot be read, the log counts as held.
func (l *Log) Salvage(ctx context.Context) (*View, error) {
	t, keys, err := l.listTops(ctx)
	if err != nil {
		return nil, err
	}
	v := &View{read: map[uint64]Entry{}, marks: t.marks, Salvaged: true}
	var numbers []uint64
	for _, key := range keys {
		if n := number(key, logPrefix); n > 0 {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	for _, n := range numbers {
		data, err := l.get(ctx, logKey(n))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		e, err := decode(n, data)
		if errors.Is(err, ErrDamaged) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if e.Kind == KindClose && len(e.States) > 0 && v.State.N < e.StateAt { // the entry with the state cannot be read
			v.take(Entry{N: e.StateAt, Kind: KindState, States: e.States})
		}
		v.take(e)
		v.Tip, v.hash = e, hash(data)
		v.Tip.Body = nil
	}
	if top := max(t.last, t.mark.n); v.Tip.N < top {
		v.Tip.N, v.Tip.Kind, v.Tip.ID = top, KindOpen, ""
	}
	return v, nil
}

// viewOr reads the log, or what can be read of it if it is damaged and salvage is set.
func (l *Log) viewOr(ctx context.Context, before *View, salvage bool) (*View, error) {
	v, err := l.viewSince(ctx, before)
	if salvage && errors.Is(err, ErrDamaged) {
		return l.Salvage(ctx)
	}
	return v, err
}
