package vault

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"deployster/internal/base/diag"
	"deployster/internal/runtime/runner/answers"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/protocol"
)

// closing is how long all leases together may take to be given back.
const closing = time.Minute

// Leases are the secrets that their images have opened: they are renewed in time and given back at the end, which Close does.
// It is safe for concurrent use.
type Leases struct {
	warn func(*diag.Diagnostic)
	now  func() time.Time

	mu    sync.Mutex
	open  map[string]*lease // by what it was opened with
	all   []*lease
	ended bool
}

// lease is one secret that was opened.
type lease struct {
	client Client
	target typeclient.Target
	ty     protocol.Type
	config []byte
	stop   context.CancelFunc // ends its renewals
	done   chan struct{}      // closed when no renewal runs any more

	mu sync.Mutex
	is answers.Secret
}

// NewLeases returns Leases; warn is called with what could not be renewed or given back.
func NewLeases(warn func(*diag.Diagnostic)) *Leases {
	return &Leases{warn: warn, now: time.Now, open: map[string]*lease{}}
}

// read returns what a secret image prints. What it has opened with the same image, environment and config is used again while
// it lasts.
func (l *Leases) read(ctx context.Context, c Client, t typeclient.Target, ty protocol.Type, config []byte) (answers.Secret, error) {
	key, err := json.Marshal([]any{t.Address, ty.Digest, t.Settings.Env, json.RawMessage(config)})
	if err != nil {
		return answers.Secret{}, err
	}
	l.mu.Lock()
	one := l.open[string(key)]
	l.mu.Unlock()
	if one != nil {
		if s := one.secret(); s.Expires.IsZero() || l.now().Before(s.Expires) {
			return untilRenewed(s), nil
		}
		l.forget(string(key), one)
	}
	s, err := c.ReadSecret(ctx, t, ty, config)
	if err != nil || s.Lease == nil {
		return s, err
	}
	renewing, stop := context.WithCancel(context.WithoutCancel(ctx))
	one = &lease{client: c, target: t, ty: ty, config: config, is: s, stop: stop, done: make(chan struct{})}
	l.mu.Lock()
	l.all = append(l.all, one)
	if l.open[string(key)] = one; l.ended {
		stop()
	}
	l.mu.Unlock()
	go l.renew(renewing, string(key), one)
	return untilRenewed(s), nil
}

// untilRenewed returns a secret that is read again once it is renewed: if that has failed, it is opened again.
func untilRenewed(s answers.Secret) answers.Secret {
	if s.Expires.IsZero() {
		s.Expires = s.Renew
	}
	return s
}

func (one *lease) secret() answers.Secret {
	one.mu.Lock()
	defer one.mu.Unlock()
	return one.is
}

// forget has a secret opened again when it is read next.
func (l *Leases) forget(key string, one *lease) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open[key] == one {
		delete(l.open, key)
	}
}

// renew renews a lease whenever that is due, until ctx ends. One that could not be renewed is not used again.
func (l *Leases) renew(ctx context.Context, key string, one *lease) {
	defer close(one.done)
	for {
		s := one.secret()
		if s.Renew.IsZero() {
			return
		}
		timer := time.NewTimer(s.Renew.Sub(l.now()))
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
		next, err := one.client.RenewSecret(ctx, one.target, one.ty, one.config, s.Lease)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			l.forget(key, one)
			l.failed("A secret could not be renewed", one, err)
			return
		}
		one.mu.Lock()
		if one.is.Renew, one.is.Expires = next.Renew, next.Expires; next.Lease != nil {
			one.is.Lease = next.Lease
		}
		one.mu.Unlock()
	}
}

// Close gives all leases back. One that cannot be given back is reported: it ends by itself, when its service ends it.
func (l *Leases) Close() {
	l.mu.Lock()
	l.ended = true
	all := l.all
	l.all, l.open = nil, map[string]*lease{}
	l.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), closing)
	defer cancel()
	var given sync.WaitGroup
	for _, one := range all {
		given.Go(func() {
			one.stop()
			<-one.done
			if err := one.client.CloseSecret(ctx, one.target, one.ty, one.config, one.secret().Lease); err != nil {
				l.failed("A secret could not be closed", one, err)
			}
		})
	}
	given.Wait()
}

func (l *Leases) failed(summary string, one *lease, err error) {
	for _, d := range diag.From(summary, err) {
		l.warn(diag.Warningf(summary, "%s: %s It remains valid until its service ends it.", one.target.Address, d.Detail))
	}
}
