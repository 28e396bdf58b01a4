package capacity

import (
	"context"
	"errors"
	"sync"
	"syscall"
)

// The free disk space that must be reserved before an action starts, in bytes: for the outcome of each running action, and for the
// state files written afterwards.
const (
	each   = 6*MaxReason + 4<<10
	shared = 1 << 20
)

// MaxReason is the largest size of the reason for which an action failed.
const MaxReason = 8 << 10

// Size returns the space for the outcome of an action that returns at most N bytes: a code, a reason, which may be six times as long
// in JSON, and what the action returns.
func Size(returns int64, encrypted bool) int64 {
	if encrypted {
		returns += returns/3 + 4 // in base64
	}
	return each + returns
}

// Log is a file in which space can be reserved for n more bytes than are written.
type Log interface{ Reserve(n int64) error }

// Reservations are the space that is reserved for running actions in a log. The lock that
// New gets protects them and what is written to the log: all methods but wake are called with it.
type Reservations struct {
	log      Log
	byAction map[[2]string]int64 // by address and action
	sum      int64
	released *sync.Cond // broadcast when space is given back
}

// New returns the reservations in a log.
func New(lock sync.Locker, log Log) *Reservations {
	return &Reservations{log: log, byAction: map[[2]string]int64{}, released: sync.NewCond(lock)}
}

// Await is Take, except that it waits while there is too little space and other actions have some. It fails when ctx ends.
func (r *Reservations) Await(ctx context.Context, addr, action string, size int64) error {
	for waits := false; ; waits = true {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		err := r.Take(addr, action, size)
		if err == nil || !errors.Is(err, syscall.ENOSPC) || len(r.byAction) == 0 {
			return err
		}
		if !waits {
			defer context.AfterFunc(ctx, r.wake)()
		}
		r.released.Wait()
	}
}

// wake has all that wait check again. Unlike the other methods, it is called without the lock.
func (r *Reservations) wake() {
	r.released.L.Lock()
	defer r.released.L.Unlock()
	r.released.Broadcast()
}

// Take reserves the space of an action, unless that is done.
func (r *Reservations) Take(addr, action string, size int64) error {
	at := [2]string{addr, action}
	if _, done := r.byAction[at]; done {
		return nil
	}
	if err := r.log.Reserve(r.sum + size + shared); err != nil {
		return err
	}
	r.byAction[at] = size
	r.sum += size
	return nil
}

// GiveBack frees the space of an action, for others.
func (r *Reservations) GiveBack(addr, action string) {
	at := [2]string{addr, action}
	r.sum -= r.byAction[at]
	delete(r.byAction, at)
	r.released.Broadcast()
}

// Spare returns an error if writing that many bytes would take the space of running actions.
func (r *Reservations) Spare(size int) error {
	if len(r.byAction) == 0 {
		return nil
	}
	return r.log.Reserve(int64(size) + r.sum)
}
