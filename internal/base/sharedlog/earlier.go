package sharedlog

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"deployster/internal/base/proc"
)

// How long an earlier holder may take to end by itself, and to end when it is killed.
const (
	endsAlone  = time.Second
	endsKilled = 10 * time.Second
)

// AliveError reports that an earlier holder of a log on this machine is alive, and could not be ended.
type AliveError struct {
	Holder Holder
	Err    error
}

func (e *AliveError) Error() string {
	return fmt.Sprintf("%s had the log before, still runs, and cannot be ended: %s", e.Holder.By, e.Err)
}

// Unwrap returns the cause.
func (e *AliveError) Unwrap() error { return e.Err }

// EndEarlier ends the processes of this machine that held a log before its entry n was made, and still run: such a process may be
// suspended between the record of an action and its start, which nothing else can prevent. took is a claim that may name the log
// otherwise; "" = none. It returns the processes that it killed. When the error is nil, none of the earlier ones can act any more.
func (p Presence) EndEarlier(ctx context.Context, log string, n uint64, took string) (killed []Holder, err error) {
	for _, claim := range append(p.claims(log), took) {
		_, h := p.read(filepath.Base(claim))
		if h.N == 0 || h.N >= n || h.PID == os.Getpid() && h.Namespace == namespace() {
			continue
		}
		// Its process may be about to end, or to find out that another was faster.
		if p.ended(ctx, claim, h, endsAlone) {
			continue
		}
		if err := h.kill(); err != nil {
			return killed, &AliveError{h, err}
		}
		within := endsKilled
		if h.gone() {
			within = endsAlone
		}
		if !p.ended(ctx, claim, h, within) {
			return killed, &AliveError{h, fmt.Errorf("its claim %s is not free %s after it was killed", claim, within)}
		}
		killed = append(killed, h)
	}
	return killed, nil
}

// ended reports whether a process ends within a time, or holds nothing any more. The lock of its file proves it, and the process
// table that all other locks of the process are free too.
func (p Presence) ended(ctx context.Context, claim string, h Holder, within time.Duration) bool {
	for end := time.Now().Add(within); ; time.Sleep(10 * time.Millisecond) {
		if _, now := p.read(claim); now.N != h.N || p.Dead(claim) && h.gone() {
			return true
		}
		if _, err := os.Stat(filepath.Join(string(p), claim)); errors.Is(err, os.ErrNotExist) {
			return true
		}
		if ctx.Err() != nil || time.Now().After(end) {
			return false
		}
	}
}

// gone reports whether the process has ended, as far as it can be seen from here.
func (h Holder) gone() bool {
	now := proc.Of(h.PID)
	return h.Namespace != namespace() || now.Ended() || now.Started != h.Started
}

// kill kills the process, and no other that has its number by now.
func (h Holder) kill() error {
	if h.Namespace != namespace() {
		return errors.New("it runs in another container, or in another process id namespace")
	}
	return h.end()
}
