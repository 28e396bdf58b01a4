package state

import (
	"context"
	"errors"
	"sync"
	"syscall"
)

// The free disk space that must be reserved before an action starts, in bytes: for the outcome of each running action, and for the
// state files written afterwards. An outcome is a code and a reason, which may be six times as long in JSON, and what the action
// returns, which is Start.Returns.
const (
	roomEach   = 6*maxReason + 4<<10
	roomShared = 1 << 20
	maxReason  = 8 << 10
)

// rooms is the disk space that is reserved for the outcomes of running actions, so that no action runs whose outcome could not be
// recorded. The lock of the journal protects it.
type rooms struct {
	of    map[[2]string]int64 // by address and action
	sum   int64
	freed sync.Cond // broadcast when room is given back, or nothing can be recorded any more
}

// room returns the size of the outcome of an action that returns at most so many bytes.
func (j *Journal) room(returns int64) int64 {
	if j.stream != nil {
		returns += returns/3 + 4 // in base64
	}
	return roomEach + returns
}

// AwaitRoom reserves the disk space for the outcome of an action that returns at most so many bytes. If there is too little, it waits
// until running actions have ended and given theirs back. It fails if none runs, or when ctx ends.
func (j *Journal) AwaitRoom(ctx context.Context, addr, action string, returns int64) error {
	stop := context.AfterFunc(ctx, func() {
		j.mu.Lock()
		defer j.mu.Unlock()
		j.rooms.freed.Broadcast()
	})
	defer stop()
	j.mu.Lock()
	defer j.mu.Unlock()
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		err := j.reserve(addr, action, returns)
		if err == nil {
			return nil
		}
		if !errors.Is(err, syscall.ENOSPC) || len(j.rooms.of) == 0 {
			return j.broken(err)
		}
		j.rooms.freed.Wait()
	}
}

// reserve reserves the room of an action, unless that is done.
func (j *Journal) reserve(addr, action string, returns int64) error {
	at := [2]string{addr, action}
	if _, done := j.rooms.of[at]; done {
		return nil
	}
	room := j.room(returns)
	if err := j.log.Reserve(j.rooms.sum + room + roomShared); err != nil {
		return err
	}
	j.rooms.of[at] = room
	j.rooms.sum += room
	return nil
}

// giveBack returns the room of an action, for others.
func (j *Journal) giveBack(addr, action string) {
	at := [2]string{addr, action}
	j.rooms.sum -= j.rooms.of[at]
	delete(j.rooms.of, at)
	j.rooms.freed.Broadcast()
}

// GiveUp returns the room of an action whose end this run does not record.
func (j *Journal) GiveUp(addr, action string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.giveBack(addr, action)
}

// spare reports an error if a record would take the room of running actions. The outcome of an action has room of its own.
func (j *Journal) spare(r record, size int) error {
	if len(j.rooms.of) == 0 || r.Kind == kindEnded || r.Kind == kindPut && (r.Put.Answer != nil || r.Put.NotBegun) {
		return nil
	}
	return j.log.Reserve(int64(size) + j.rooms.sum)
}
