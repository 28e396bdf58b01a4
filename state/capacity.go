package state

import (
	"context"

	"deployster/state/capacity"
)

// AwaitSpace reserves the disk space for the outcome of an action that returns at most that many bytes. If there is too little, it waits
// until running actions have ended and given theirs back. It fails if none runs, or when ctx ends.
func (j *Journal) AwaitSpace(ctx context.Context, addr, action string, returns int64) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	err := j.capacity.Await(ctx, addr, action, capacity.Size(returns, j.stream != nil))
	if err != nil && ctx.Err() == nil {
		return j.broken(err)
	}
	return err
}

// GiveUp returns the space of an action whose end this run does not record.
func (j *Journal) GiveUp(addr, action string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.capacity.GiveBack(addr, action)
}

// hasReservation reports whether a record is the outcome of an action, which has space reserved.
func (r record) hasReservation() bool {
	return r.Kind == kindEnded || r.Kind == kindPut && (r.Put.Answer != nil || r.Put.NotBegun)
}
