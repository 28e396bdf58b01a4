package files

import (
	"context"
	"sync"
)

// WatchAll watches several sources, until ctx ends or one of them fails. The first report comes
// when all are watched.
func WatchAll(ctx context.Context, tell func(detail string), sources ...func(context.Context, func(detail string)) error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var mu sync.Mutex
	armed := 0
	ended := make(chan error, len(sources))
	for _, source := range sources {
		first := true
		go func() {
			ended <- source(ctx, func(detail string) {
				mu.Lock()
				defer mu.Unlock()
				switch {
				case first:
					first = false
					if armed++; armed == len(sources) {
						tell("")
					}
				case armed == len(sources):
					tell(detail)
				}
			})
		}()
	}
	err := <-ended
	stop()
	for range len(sources) - 1 {
		<-ended
	}
	return err
}
