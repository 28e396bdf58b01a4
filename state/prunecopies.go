package state

import (
	"context"
	"errors"
)

// PruneCopies removes the copies of a state with lower serials than the given one, and returns
// how many: for example those with a password that was changed since. The serial is at most
// that of the present state.
func PruneCopies(ctx context.Context, place Place, before uint64, o Options) (removed int, err error) {
	at, err := storageOf(place, o.Keys)
	if err != nil {
		return 0, err
	}
	lock, err := at.Lock(ctx, true, o.lock())
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	now, err := at.snapshot()
	if err != nil {
		return 0, err
	}
	if before > now.Serial {
		return 0, refuse(nil, "No such serial", "The state has the serial %d, so no copy is before %d. Nothing was changed. `deployster "+
			"state copies` lists the serials.", now.Serial, before)
	}
	list, err := at.copyList()
	if err != nil {
		return 0, err
	}
	for _, c := range list {
		if c.Serial >= before {
			continue
		}
		if err := at.RemoveCopy(c.Serial); err != nil {
			return removed, refuse(err, "Cannot remove a copy of the state", "%s: %s.", at.CopyName(c.Serial), err)
		}
		removed++
	}
	return removed, nil
}
