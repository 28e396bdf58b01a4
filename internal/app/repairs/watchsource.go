package repairs

import (
	"context"
	"errors"
	"fmt"

	"deployster/internal/app/watch"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/watchclient"
)

// WatchSource implements watch.Source: with the programs of types that
// report changes.
type WatchSource struct {
	Client  *watchclient.Client
	Request func(ctx context.Context, addr string) (*watchclient.Request, error) // how a resource is watched
}

// NewWatchClient returns a client that runs such programs. It must be closed before the machine is.
func (k Keeper) NewWatchClient() *watchclient.Client {
	return watchclient.New(watchclient.Options{Launcher: k.Machine.Places, Hide: k.Command.Work.Secrets.Hide, Log: k.Command.Line})
}

// Watch implements watch.Source.
func (s WatchSource) Watch(ctx context.Context, addr string, tell func(watch.SourceEvent)) error {
	r, err := s.Request(ctx, addr)
	if err != nil {
		return err
	}
	err = s.Client.Watch(ctx, r, func(e watchclient.Event) { tell(watch.SourceEvent(e)) })
	switch {
	case errors.Is(err, watchclient.ErrCrowded):
		return fmt.Errorf("%w: %w", watch.ErrPolled, err)
	case errors.Is(err, runner.ErrReplaced):
		return fmt.Errorf("%w: %w", watch.ErrAnew, err)
	}
	return err
}
