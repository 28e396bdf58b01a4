package systemd

import (
	"context"
	"sync"

	"deployster/machine/internal/files"
)

// watchFiles reports changes of a unit, and of files, until ctx ends. The first report comes when
// all are watched.
func (k control) watchFiles(ctx context.Context, e *events, unit string, paths []string, tell func(detail string)) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var mu sync.Mutex
	armed, all := 0, len(paths)+1
	each := func() func(string) {
		first := true
		return func(detail string) {
			mu.Lock()
			defer mu.Unlock()
			if first {
				first = false
				if armed++; armed < all {
					return
				}
				detail = ""
			}
			if armed == all {
				tell(detail)
			}
		}
	}
	ended := make(chan error, all)
	go func(tell func(string)) { ended <- e.watch(ctx, unit, tell) }(each())
	for _, path := range paths {
		go func(tell func(string)) { ended <- files.Watch(ctx, k.machine, path, tell) }(each())
	}
	err := <-ended // one that fails ends all
	stop()
	for range all - 1 {
		<-ended
	}
	return err
}
