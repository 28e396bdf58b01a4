package transfer

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/containerd/containerd/v2/core/remotes"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"deployster/internal/runtime/runner/imagestore"
)

const (
	meterEvery = 100 * time.Millisecond
	// StallAfter is how long a registry may send nothing.
	StallAfter = time.Minute
)

var ErrStalled = errors.New("the registry has sent nothing for a minute")

// Meter counts the fetched bytes, reports the progress of a pull, and cancels an attempt
// that receives nothing any more.
type Meter struct {
	ref  string
	tell func(imagestore.Progress)

	Fetched atomic.Int64 // bytes from the network, over all attempts
	done    atomic.Int64 // bytes of this attempt's layers, including those that were here already
	last    atomic.Int64 // time of the last received bytes, in nanoseconds

	mu    sync.Mutex // guards the fields below, and the order of the reports
	at    imagestore.Phase
	total int64
	err   error
	pause time.Duration
}

func NewMeter(ref string, tell func(imagestore.Progress)) *Meter {
	if tell == nil {
		tell = func(imagestore.Progress) {}
	}
	return &Meter{ref: ref, tell: tell}
}

func (m *Meter) Phase(p imagestore.Phase) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.at = p
	m.report()
}

// report reports the progress; the caller holds the lock.
func (m *Meter) report() {
	p := imagestore.Progress{Reference: m.ref, Phase: m.at, Done: min(m.done.Load(), m.total), Total: m.total}
	if m.at == imagestore.Retrying || m.at == imagestore.Failed {
		p.Reason, p.Pause = pullReason(m.err), m.pause
	}
	m.tell(p)
}

// Begin sets the number of bytes to fetch.
func (m *Meter) Begin(total int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.done.Store(0)
	m.total, m.at = total, imagestore.Downloading
	m.report()
}

func (m *Meter) Retrying(err error, pause time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.at, m.err, m.pause = imagestore.Retrying, err, pause
	m.report()
}

func (m *Meter) End(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.at, m.err = imagestore.Done, err
	if err != nil {
		m.at = imagestore.Failed
	}
	m.report()
}

// Watch reports the progress of an attempt while it receives content from the network,
// and cancels the context when nothing comes. The returned function ends both.
func (m *Meter) Watch(ctx context.Context) (context.Context, func()) {
	watched, cancel := context.WithCancelCause(ctx)
	m.last.Store(time.Now().UnixNano())
	done := make(chan struct{})
	go func() {
		ticker := time.NewTicker(meterEvery)
		defer ticker.Stop()
		for {
			select {
			case <-done:
				return
			case now := <-ticker.C:
				m.mu.Lock()
				if m.at == imagestore.Downloading {
					m.report()
				}
				m.mu.Unlock()
				if now.Sub(time.Unix(0, m.last.Load())) > StallAfter {
					cancel(ErrStalled)
				}
			}
		}
	}()
	var once sync.Once
	return watched, func() { once.Do(func() { close(done) }) }
}

// Stalled returns ErrStalled in place of "context canceled" if the registry stalled.
func Stalled(ctx context.Context, err error) error {
	if err != nil && errors.Is(context.Cause(ctx), ErrStalled) {
		return ErrStalled
	}
	return err
}

// Fetcher counts what a fetcher fetches.
type Fetcher struct {
	remotes.Fetcher
	Meter *Meter
}

func (f Fetcher) Fetch(ctx context.Context, d ocispec.Descriptor) (io.ReadCloser, error) {
	f.Meter.last.Store(time.Now().UnixNano())
	body, err := f.Fetcher.Fetch(ctx, d)
	if err != nil {
		return nil, err
	}
	f.Meter.last.Store(time.Now().UnixNano())
	counted := &meteredReader{ReadCloser: body, meter: f.Meter}
	if seeker, ok := body.(io.Seeker); ok {
		return struct {
			io.ReadCloser
			io.Seeker
		}{counted, meteredSeeker{counted, seeker}}, nil
	}
	return counted, nil
}

type meteredReader struct {
	io.ReadCloser
	meter *Meter
	at    int64
}

func (r *meteredReader) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	if n > 0 {
		r.at += int64(n)
		r.meter.Fetched.Add(int64(n))
		r.meter.done.Add(int64(n))
		r.meter.last.Store(time.Now().UnixNano())
	}
	return n, err
}

// meteredSeeker counts the bytes that a seek skips because they are here already.
type meteredSeeker struct {
	counted *meteredReader
	seeker  io.Seeker
}

func (s meteredSeeker) Seek(offset int64, whence int) (int64, error) {
	at, err := s.seeker.Seek(offset, whence)
	if err == nil {
		s.counted.meter.done.Add(at - s.counted.at)
		s.counted.at = at
	}
	return at, err
}
