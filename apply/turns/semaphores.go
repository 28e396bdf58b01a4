package turns

import (
	"context"

	"deployster/config"
)

// Semaphores limit how many resources run actions at a time. Each channel has a place
// for every slot of its semaphore.
type Semaphores map[string]chan struct{}

// NewSemaphores returns the declared semaphores, with all places free.
func NewSemaphores(declared []config.Semaphore) Semaphores {
	all := Semaphores{}
	for _, s := range declared {
		all[s.Name] = make(chan struct{}, s.Slots)
	}
	return all
}

// Take waits for a place in each semaphore of a resource. The semaphores are sorted, so no
// two resources wait for each other. When ctx ends first, Take holds no place and returns
// nil. A resource that is not declared needs no place.
func (s Semaphores) Take(ctx context.Context, r *config.Resource) (free func()) {
	var names []string
	if r != nil {
		names = r.Semaphores
	}
	taken := 0
	free = func() {
		for _, name := range names[:taken] {
			<-s[name]
		}
	}
	for _, name := range names {
		select {
		case s[name] <- struct{}{}:
			taken++
		case <-ctx.Done():
			free()
			return nil
		}
	}
	return free
}
