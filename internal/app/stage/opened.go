package stage

import (
	"context"
	"errors"

	"deployster/internal/app/command"
	"deployster/internal/app/remotes"
	"deployster/internal/app/savedplan"
	"deployster/internal/app/transfer"
	"deployster/internal/app/unsettled"
	"deployster/state"
)

// Opened is a manifest with the state that belongs to it.
type Opened struct {
	Loaded
	Prior state.Snapshot
	store *state.Store // to record in; nil = the state is only read
	// transfers are between this state and others: they are locked with it; nil = the state is only read.
	transfers *transfer.Locked
	left      transfer.Reasons // what nobody acts on because of other states
	close     func() error
}

// Close unlocks the state.
func (o Opened) Close() { _ = o.close() } // the lock goes with the process anyway

// Read reads a state without a lock, for a command that changes nothing.
func Read(ctx context.Context, c command.Command, l Loaded) (Opened, error) {
	prior, err := c.Work.ReadState(ctx, l.Place)
	if err == nil {
		prior, err = transfer.Await(c.Work, l.Place, prior)
	}
	return Opened{Loaded: l, Prior: prior, left: transfer.Foreseen(ctx, c.Work, l.Place, prior, l.Manifest),
		close: func() error { return nil }}, err
}

// Hold reads a state, and keeps others from changing it, unless the workspace takes no lock.
func Hold(ctx context.Context, c command.Command, l Loaded) (Opened, *state.Recovery, error) {
	held, err := c.Work.HoldState(ctx, l.Place, "plan")
	if err != nil {
		return Opened{}, nil, err
	}
	o := Opened{Loaded: l, Prior: held.Snapshot, close: held.Close}
	if c.Work.NoLock {
		o.close = func() error { return nil }
	}
	if o.Prior, err = transfer.Await(c.Work, l.Place, o.Prior); err == nil {
		o.left = transfer.Foreseen(ctx, c.Work, l.Place, o.Prior, l.Manifest)
		err = remotes.Check(c.Work, l.Place, o.Prior, l.Manifest.Sources().Remote)
	}
	if err != nil {
		o.Close()
		return Opened{}, nil, err
	}
	return o, held.Recovery, nil
}

// Lock opens a state to record in. It refuses a saved plan that does not fit the state.
func Lock(ctx context.Context, c command.Command, l Loaded, name string) (Opened, error) {
	o, err := Relock(ctx, c, l, name)
	if err != nil {
		return Opened{}, err
	}
	c.Work.WarnUnreliable(l.Place)
	if l.Saved != nil {
		err := savedplan.Fits(c.Work.Options, l.Saved, l.Place, o.Prior)
		if err == nil {
			err = o.transfers.Unknown(l.Saved)
		}
		if err != nil {
			o.Close()
			return Opened{}, err
		}
	}
	return o, nil
}

// Relock is Lock for a command that has opened the same state before.
func Relock(ctx context.Context, c command.Command, l Loaded, name string) (Opened, error) {
	options := c.Work.StateOptions(name)
	options.Author.SignedBy = l.SignedBy
	locked, err := transfer.Open(ctx, c.Work, l.Place, options, l.Manifest)
	if err != nil {
		return Opened{}, err
	}
	if err := remotes.Check(c.Work, l.Place, locked.Store.Snapshot(), l.Manifest.Sources().Remote); err != nil {
		locked.Close()
		return Opened{}, err
	}
	o := Opened{Loaded: l, Prior: locked.Snapshot(), store: locked.Store, transfers: locked, left: locked.Left()}
	o.close = func() error { locked.Close(); return nil }
	return o, nil
}

// Recorded returns the state as it is recorded by now.
func (o Opened) Recorded() state.Snapshot { return o.store.Snapshot() }

// Recovered warns of what an earlier run left behind in the state.
func Recovered(c command.Command, o Opened, r *state.Recovery) {
	unsettled.WarnLeft(c.Work, o.Place, r)
}

// Apart returns the words of what nobody acts on because of other states.
func (o Opened) Apart() map[string]string { return o.left.Words() }

// Current reports whether what the manifest uses of other states is still published.
func (o Opened) Current(c command.Command) (bool, error) {
	_, err := remotes.Fresh(c.Work, o.Manifest.Sources().Remote)
	if errors.Is(err, remotes.ErrChanged) {
		return false, nil
	}
	return err == nil, err
}
