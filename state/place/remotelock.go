package place

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"deployster/internal/base/diag"
	"deployster/internal/base/sharedlog"
)

// noLock is the lock of a reader: what it reads never changes.
type noLock struct{}

func (noLock) Unlock() error { return nil }

// claimed is the lock of a writer.
type claimed struct {
	claim *sharedlog.Claim
	shown *sharedlog.Shown // the presence of the claim on this machine
}

// Claim returns the id of the claim.
func (l claimed) Claim() string { return l.claim.ID() }

// Turn returns a number that grows with each claim of the log.
func (l claimed) Turn() uint64 { return l.claim.View().Tip.N }

// Holds queries the store whether the claim still holds the log.
func (l claimed) Holds() error {
	_, err := l.claim.Append(sharedlog.Entry{Kind: sharedlog.KindAlive})
	return err
}

// Unlock releases the log. If it cannot reach the store, the claim expires; on this machine at once.
func (l claimed) Unlock() error {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	_ = l.claim.Close(ctx)
	l.shown.End(!errors.Is(l.claim.Err(), sharedlog.ErrTaken))
	return nil
}

func (b *remote) Lock(ctx context.Context, exclusive bool, o Options) (Lock, error) {
	if !exclusive {
		return noLock{}, nil
	}
	id, by := sharedlog.NewID(), sharedlog.By{Command: o.Command, PID: os.Getpid(), Host: host(), Machine: b.place.Machine,
		User: o.User, CI: o.CI}
	shown := b.place.Claims.Show(id, b.place.URL)
	claim, err := b.log.Open(ctx, sharedlog.Options{Claim: id, Wait: o.Wait, Take: b.place.Take, Dead: b.place.Claims.Dead,
		Probe: true, By: by, Salvage: o.Salvage,
		Holds: func(n uint64) error { return shown.Holds(n, by) },
		Waiting: func(v *sharedlog.View) {
			if o.Waiting != nil {
				o.Waiting(inUseBy(v))
			}
		}})
	if err != nil {
		shown.End(diag.Is[*sharedlog.LeftError](err))
		if held, ok := errors.AsType[*sharedlog.HeldError](err); ok {
			return nil, b.lockError(held.View, o.Wait)
		}
		if cause := context.Cause(ctx); cause != nil {
			return nil, cause
		}
		return nil, b.word(err)
	}
	lock := claimed{claim: claim, shown: shown}
	if err := b.endEarlier(ctx, claim, o); err != nil {
		return nil, errors.Join(err, lock.Unlock())
	}
	b.place.Claims.Sweep(b.place.URL)
	b.claim = claim
	b.see(claim.View())
	return lock, nil
}

// endEarlier ends the processes of this machine that had the state before. The log refuses what they record, but they could still
// start what they have recorded, or remove what shows how an action ended.
func (b *remote) endEarlier(ctx context.Context, claim *sharedlog.Claim, o Options) error {
	killed, err := b.place.Claims.EndEarlier(ctx, b.place.URL, claim.View().Tip.N, claim.Took())
	for _, h := range killed {
		if o.Ended != nil {
			o.Ended(diag.Visible(h.By.String()))
		}
	}
	if alive, ok := errors.AsType[*sharedlog.AliveError](err); ok {
		return diag.Because(err, "An earlier holder of the state still runs",
			"%s: %s. It could still act on this machine. Nothing was changed. End that process, then repeat the command.", b.place.URL,
			diag.Visible(alive.Error()))
	}
	return err
}

// AtLarge reports whether the holder whose journal was read had not released the state:
// its actions may still run on that machine, even if its process is dead.
func (b *remote) AtLarge() bool {
	return b.claim.Took() != "" || b.view.TakenOver()
}

// inUseBy describes who holds a log.
func inUseBy(v *sharedlog.View) string {
	return fmt.Sprintf("%s since %s, last answered %s ago, claim %s", diag.Visible(v.Tip.By.String()), v.Tip.Since.Format(time.RFC3339),
		v.LastHeard(time.Now()).Round(time.Second), diag.Visible(v.Tip.Claim))
}

func (b *remote) lockError(v *sharedlog.View, waited time.Duration) error {
	todo := "Wait until that has ended: -lock-timeout 5m does it for you"
	if waited > 0 {
		todo = fmt.Sprintf("Gave up waiting after %s. Wait longer", waited)
	}
	gone := b.log.Timing.Gone
	return diag.Because(fmt.Errorf("%w: %w", ErrLocked, &sharedlog.HeldError{View: v}), "The state is locked",
		"%s is in use by %s. %s. A waiting command takes it over after %s without an answer. `deployster state unlock %s` ends that "+
			"claim now: its holder can record nothing more.", b.place.URL, inUseBy(v), todo, gone, diag.Visible(v.Tip.Claim))
}

// word words an error of a store for the user.
func (b *remote) word(err error) error {
	var moved *sharedlog.MovedError
	var taken *sharedlog.TakenError
	url := b.place.URL
	switch {
	case err == nil || diag.Is[*diag.Diagnostic](err):
		return err
	case errors.As(err, &moved):
		return diag.Because(err, "The state has moved",
			"%s is at %s now. Change the manifest or -state. Nothing was changed.", url, diag.Visible(moved.To))
	case errors.As(err, &taken):
		return diag.Because(err, "The state was taken over",
			"%s: by %s, at %s. This command starts nothing new, and what it records from now on is %s.",
			url, diag.Visible(taken.By.String()), taken.At.Format(time.RFC3339), b.keptIn())
	case errors.Is(err, sharedlog.ErrNoLocks):
		return diag.Because(err, "This store does not hold locks", "%s: %s. Nothing was changed. Keep the state in another store.", url,
			err)
	case errors.Is(err, sharedlog.ErrNewer):
		return diag.Because(fmt.Errorf("%w: %w", ErrNewer, err), "The state was written by a newer deployster",
			"%s: %s. Nothing was changed.", url, err)
	case errors.Is(err, sharedlog.ErrDamaged):
		return diag.Because(fmt.Errorf("%w: %w", ErrDamaged, err), "The state is damaged",
			"%s: %s. Nothing was changed. `deployster state copies` lists the earlier states that can be read, `deployster state restore "+
				"SERIAL` makes one of them the state, and `deployster state push -force FILE` puts a file there. Both keep the open "+
				"actions that can be read.", url, err)
	case errors.Is(err, sharedlog.ErrDenied):
		return diag.Because(err, "The store of the state refuses", "%s: %s. Check its permissions and its address.", url,
			diag.Visible(err.Error()))
	case errors.Is(err, os.ErrNotExist):
		return err
	}
	return diag.Because(err, "The state cannot be reached", "%s: %s. Nothing new is started. What was recorded meanwhile is %s.", url,
		diag.Visible(err.Error()), b.keptIn())
}

// keptIn describes where the records are that the log does not have.
func (b *remote) keptIn() string {
	if b.pending == nil {
		return "nothing"
	}
	return "in " + b.pending.Path() + ", and is merged by the next command here"
}
