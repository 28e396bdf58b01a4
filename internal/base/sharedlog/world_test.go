package sharedlog_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"deployster/internal/base/sharedlog"
)

// bubble is the clock of a test in testing/synctest.
type bubble struct{}

var beginning = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

func (bubble) Now() time.Duration { return time.Since(beginning) }

func (bubble) Sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}

var errLost = errors.New("the answer was lost")

// turns is the store as a process sees it: each call waits for its turn, and chance
// decides whether its answer comes.
type turns struct{ p *process }

func (s turns) turn(name string, do func()) {
	c := &call{process: s.p.number, name: fmt.Sprintf("%d %s", s.p.number, name), do: do, done: make(chan struct{})}
	s.p.mu.Lock()
	s.p.waiting = append(s.p.waiting, c)
	s.p.mu.Unlock()
	<-c.done
}

func (s turns) Create(_ context.Context, key string, data []byte) (err error) {
	w := s.p.world
	data = slices.Clone(data)
	s.turn("create "+key, func() {
		switch w.rnd.IntN(14) {
		case 0: // the answer is lost
			_, err = w.create(key, data), errLost
		case 1: // the request comes later, or never
			err = errLost
			w.late = append(w.late, func() {
				if w.create(key, data) == nil {
					w.Late++
				}
			})
		case 2: // a library has tried again by itself
			_ = w.create(key, data)
			err = w.create(key, data)
		default:
			err = w.create(key, data)
		}
	})
	return err
}

func (s turns) Get(_ context.Context, key string) (data []byte, err error) {
	s.turn("get "+key, func() { data, err = s.p.get(key) })
	return data, err
}

func (s turns) List(_ context.Context, prefix string) (keys []string, err error) {
	s.turn("list "+prefix, func() { keys = s.p.list(prefix) })
	return keys, nil
}

func (s turns) Delete(_ context.Context, key string) error {
	s.turn("delete "+key, func() { s.p.delete(key) })
	return nil
}

func (turns) Close() error { return nil }

// plain is the store for those who need no chance.
type plain struct{ *world }

func (s plain) Create(_ context.Context, key string, data []byte) error {
	s.one.Lock()
	defer s.one.Unlock()
	return s.create(key, data)
}

func (s plain) Get(_ context.Context, key string) ([]byte, error) {
	s.one.Lock()
	defer s.one.Unlock()
	return s.get(key)
}

func (s plain) List(_ context.Context, prefix string) ([]string, error) {
	s.one.Lock()
	defer s.one.Unlock()
	return s.list(prefix), nil
}

func (s plain) Delete(_ context.Context, key string) error {
	s.one.Lock()
	defer s.one.Unlock()
	s.delete(key)
	return nil
}

func (plain) Close() error { return nil }

func (w *world) create(key string, data []byte) error {
	if _, there := w.objects[key]; there {
		return sharedlog.ErrExists
	}
	w.objects[key] = data
	line, _, _ := strings.Cut(string(data), "\n")
	w.trace = append(w.trace, fmt.Sprintf("create %s %.300s", key, line))
	var e sharedlog.Entry
	if strings.HasPrefix(key, "log/") && json.Unmarshal([]byte(line), &e) == nil {
		w.created(e)
	}
	return nil
}

// created notes who has opened the log, and what came after a takeover.
func (w *world) created(e sharedlog.Entry) {
	if e.Kind != sharedlog.KindOpen {
		if last := w.closed[e.N-1]; last == e.Claim {
			w.fail("%s came after its claim was closed: nobody could open the log", e.Kind)
		}
		if e.Kind == sharedlog.KindClose {
			w.closed[e.N] = e.Claim
		}
		if w.after(e.Claim) {
			w.stale[e.ID] = true
		}
		return
	}
	if w.newest() != fmt.Sprintf("log/%016d", e.N) {
		w.Void++
		return // it came too late
	}
	w.opens = append(w.opens, opening{e.N, e.Claim})
}

// newest is the key of the entry with the highest number.
func (w *world) newest() (key string) {
	for _, k := range w.list("log/0") {
		key = k
	}
	return key
}

func (w *world) get(key string) ([]byte, error) {
	if data, there := w.objects[key]; there {
		return data, nil
	}
	return nil, fs.ErrNotExist
}

func (w *world) list(prefix string) (keys []string) {
	for key := range w.objects {
		if strings.HasPrefix(key, prefix) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

func (w *world) delete(key string) {
	if _, there := w.objects[key]; there {
		w.trace = append(w.trace, "delete "+key)
		w.Compacted++
		delete(w.objects, key)
	}
}
