package sharedlog

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
)

// View is the content of a log at one moment. It never changes.
type View struct {
	Tip     Entry  // the last entry; N = 0: the log is empty
	State   Entry  // the last one of the kind state; N = 0: there is none
	Journal []byte // the records that follow the state
	Run     string // the run that wrote these records

	// Salvaged reports that the log is damaged, and that this is what of it can be read: Journal has gaps.
	Salvaged bool

	marks []string         // keys of the marks
	hash  string           // of the tip
	read  map[uint64]Entry // the state and all later entries, without bodies
	taken bool
}

// TakenOver reports whether a holder that had appended journal records was taken over since
// the last state was written. The one who took over may have ended before it wrote a state.
func (v *View) TakenOver() bool { return v.taken }

// Held reports whether a claim holds the log. The tip names it.
func (v *View) Held() bool {
	return v.Tip.N > 0 && v.Tip.Kind != KindClose && v.Tip.Kind != KindMoved
}

// MovedTo returns where the log has moved to; "" = it has not moved.
func (v *View) MovedTo() string {
	if v.Tip.Kind != KindMoved {
		return ""
	}
	return v.Tip.To
}

// LastHeard returns how long ago the holder wrote its last entry, by the two machines' clocks.
func (v *View) LastHeard(now time.Time) time.Duration { return max(now.Sub(v.Tip.Time), 0) }

// errAgain reports that an entry was compacted while the log was read.
var errAgain = errors.New("the log was compacted meanwhile")

// View reads the log. It changes nothing, and does not block writers.
func (l *Log) View(ctx context.Context) (v *View, err error) {
	err = l.again(ctx, func() (err error) {
		v, err = l.view(ctx, nil, l.Kept)
		return err
	})
	return v, err
}

// viewSince is View for writers, without reading the entries of an earlier view again; nil = there is none.
func (l *Log) viewSince(ctx context.Context, before *View) (v *View, err error) {
	err = l.again(ctx, func() (err error) {
		v, err = l.view(ctx, before, "")
		return err
	})
	return v, err
}

// again repeats a read until none of its entries was compacted meanwhile.
func (l *Log) again(ctx context.Context, read func() error) error {
	const attempts = 100
	for try := 1; ; try++ {
		err := read()
		if !errors.Is(err, errAgain) {
			return err
		}
		if try == attempts {
			return fmt.Errorf("%w: entries that the last one names are gone", ErrDamaged)
		}
		if err := l.Clock.Sleep(ctx, l.firstWait()); err != nil {
			return err
		}
	}
}

// StateAt returns the number of the last entry of the kind state; 0 = there is none. It
// costs less than View.
func (l *Log) StateAt(ctx context.Context) (at uint64, err error) {
	err = l.again(ctx, func() error {
		at = 0
		t, err := l.tops(ctx)
		if err != nil || t.last == 0 {
			return err
		}
		tip, data, err := l.entry(ctx, t.last)
		if err == nil {
			err = t.fits(data)
		}
		if at = tip.StateAt; tip.Kind == KindState {
			at = tip.N
		}
		return err
	})
	return at, err
}

func (l *Log) view(ctx context.Context, before *View, kept Kept) (*View, error) {
	t, err := l.tops(ctx)
	if err != nil {
		return nil, err
	}
	last := t.last
	if last == 0 {
		return &View{}, nil
	}
	if v := viewOf(kept.entries(t), t); v != nil {
		return v, nil
	}
	tip, data, err := l.entry(ctx, last)
	if err == nil {
		err = t.fits(data)
	}
	if err != nil {
		return nil, err
	}
	first := max(tip.StateAt, 1)
	if tip.StateAt > last {
		return nil, fmt.Errorf("%w: by %s, the state is at %d", ErrDamaged, logKey(last), tip.StateAt)
	}
	v, goesOn := &View{read: map[uint64]Entry{}}, before != nil && first <= before.Tip.N && before.Tip.N <= last
	if goesOn && before.Tip.N == last && before.hash == hash(data) {
		return before, nil
	}
	if goesOn && before.Tip.N < last {
		v, first = before.copy(), before.Tip.N+1
	}
	objects := make([][]byte, last-first+1)
	list := make([]Entry, len(objects))
	list[len(list)-1], objects[len(list)-1] = tip, data
	group, gctx := errgroup.WithContext(ctx)
	group.SetLimit(16)
	for n := first; n < last; n++ {
		group.Go(func() (err error) {
			list[n-first], objects[n-first], err = l.entry(gctx, n)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	if at := v.extend(list, objects, t); at > 0 {
		return nil, l.broken(ctx, last, at)
	}
	if before == nil {
		kept.keepEntries(t, objects)
	}
	return v, nil
}

// extend adds the entries of objects to the view, the last of which is the tip. It returns the number of an entry that
// does not continue the one before; 0 = there is none.
func (v *View) extend(list []Entry, objects [][]byte, t tops) (broken uint64) {
	for i, e := range list {
		if v.hash != "" && e.Prev != v.hash {
			return e.N
		}
		v.hash = hash(objects[i])
		v.take(e)
	}
	v.Tip, v.marks = list[len(list)-1], t.marks
	v.Tip.Body = nil
	return 0
}

// viewOf returns the view of objects that are all entries from the state on; nil = they are not.
func viewOf(objects [][]byte, t tops) *View {
	first := t.last + 1 - uint64(len(objects))
	var list []Entry
	for i, data := range objects {
		e, err := decode(first+uint64(i), data)
		if err != nil {
			return nil
		}
		list = append(list, e)
	}
	v := &View{read: map[uint64]Entry{}}
	if len(list) == 0 || first != max(list[len(list)-1].StateAt, 1) || v.extend(list, objects, t) > 0 {
		return nil
	}
	return v
}

// copy returns a view that can be extended.
func (v *View) copy() *View {
	next := *v
	next.Journal, next.read = slices.Clip(v.Journal), maps.Clone(v.read)
	return &next
}

// broken returns the error for an entry that does not continue the one before. Either the log
// is damaged, or it grew while it was read: then the entry before was compacted, and a late
// writer has put its own entry in the gap.
func (l *Log) broken(ctx context.Context, last, at uint64) error {
	keys, err := l.list(ctx, logPrefix)
	if err != nil {
		return err
	}
	for _, key := range keys {
		if number(key, logPrefix) > last {
			return errAgain
		}
	}
	return fmt.Errorf("%w: %s does not continue the one before", ErrDamaged, logKey(at))
}

// take adds the next entry to the view.
func (v *View) take(e Entry) {
	switch e.Kind {
	case KindState:
		v.State, v.Journal, v.Run, v.taken = e, nil, "", false
	case KindJournal:
		v.Journal, v.Run = append(v.Journal, e.Body...), e.Run
	case KindOpen:
		v.taken = v.taken || e.Takes != "" && len(v.Journal) > 0
	}
	e.Body = nil
	v.read[e.N] = e
}

// entry reads one entry; errAgain = it does not exist any more.
func (l *Log) entry(ctx context.Context, n uint64) (Entry, []byte, error) {
	data, err := l.get(ctx, logKey(n))
	if errors.Is(err, fs.ErrNotExist) {
		return Entry{}, nil, errAgain
	}
	if err != nil {
		return Entry{}, nil, err
	}
	e, err := decode(n, data)
	return e, data, err
}
