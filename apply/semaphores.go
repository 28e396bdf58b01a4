package apply

import (
	"context"

	"deployster/config"
)

// semaphores limit how many resources run actions at a time. Each channel has a place
// for every slot of its semaphore.
type semaphores map[string]chan struct{}

func newSemaphores(declared []config.Semaphore) semaphores {
	all := semaphores{}
	for _, s := range declared {
		all[s.Name] = make(chan struct{}, s.Slots)
	}
	return all
}

// take waits for a place in each semaphore of a resource. The semaphores are sorted, so no
// two resources wait for each other. When ctx ends first, take holds no place and returns
// nil. A resource that is not declared needs no place.
func (s semaphores) take(ctx context.Context, r *config.Resource) (free func()) {
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
