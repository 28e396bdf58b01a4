package files

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"deployster/machine/internal/access"
	"deployster/protocol/dirwatch"
)

// watcher has one use of inotify for everything that this process watches.
var watcher dirwatch.Watcher

// Watch reports changes at a path of the machine until ctx ends. Directories above it need
// not exist: what is watched is then the first name on the way that does not.
func Watch(ctx context.Context, m *access.Machine, path string, tell func(detail string)) error {
	for {
		next := firstMissing(m.Path(path))
		moved := func() bool { return firstMissing(m.Path(path)) != next }
		var armed atomic.Bool
		here, stop := context.WithCancel(ctx)
		err := watcher.Watch(here, next, func(detail string) {
			armed.Store(true)
			tell(detail)
			if moved() {
				stop()
			}
		})
		stop()
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case !armed.Load() && !moved():
			return err
		}
		// Otherwise a directory came or went, and it is watched again.
	}
}

// firstMissing returns the path itself if its directory exists, or else the first path above
// it whose directory does.
func firstMissing(path string) string {
	for parent := filepath.Dir(path); parent != path && !exists(parent); parent = filepath.Dir(path) {
		path = parent
	}
	return path
}

func exists(directory string) bool {
	info, err := os.Stat(directory)
	return err == nil && info.IsDir()
}

// WatchFollowed is Watch for a path whose links are followed: it reports changes of each
// link on the way too.
func WatchFollowed(ctx context.Context, m *access.Machine, path string, tell func(detail string)) error {
	for {
		way, err := chain(m, path)
		if err != nil {
			return err
		}
		here, stop := context.WithCancel(ctx)
		err = watchAll(here, m, way, func(detail string) {
			tell(detail)
			if now, err := chain(m, path); err != nil || !slices.Equal(now, way) {
				stop()
			}
		})
		moved := here.Err() != nil
		stop()
		if ctx.Err() != nil || !moved {
			return err
		}
	}
}

// watchAll watches several paths, and calls tell only once it watches them all.
func watchAll(ctx context.Context, m *access.Machine, paths []string, tell func(detail string)) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var unarmed atomic.Int32
	unarmed.Store(int32(len(paths)))
	ended := make(chan error, len(paths))
	for _, path := range paths {
		go func() {
			var arm sync.Once
			ended <- Watch(ctx, m, path, func(detail string) {
				arm.Do(func() { unarmed.Add(-1) })
				if unarmed.Load() == 0 {
					tell(detail)
				}
			})
		}()
	}
	err := <-ended
	stop()
	for range paths[1:] {
		<-ended
	}
	return err
}
