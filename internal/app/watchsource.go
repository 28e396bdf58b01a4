package app

import (
	"context"
	"errors"
	"fmt"

	"deployster/internal/app/watch"
	"deployster/internal/runtime/runner/watchclient"
)

// WatchSource implements watch.Source for an engine: with the programs of types that
// report changes.
type WatchSource struct {
	Client  *watchclient.Client
	Request func(ctx context.Context, addr string) (*watchclient.Request, error) // how a resource is watched
}

// NewWatchClient returns a client that runs such programs. It must be closed before the engine is.
func NewWatchClient(ctx context.Context, e *Engine) (*watchclient.Client, error) {
	runtime, err := e.Runtime(ctx)
	if err != nil {
		return nil, err
	}
	return watchclient.New(watchclient.Options{Launcher: runtime, Hide: e.Secrets.Hide, Log: e.Line}), nil
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
	case errors.Is(err, watchclient.ErrReplaced):
		return fmt.Errorf("%w: %w", watch.ErrAnew, err)
	}
	return err
}
