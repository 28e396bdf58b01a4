package sharedstate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"deployster/internal/app/workspace"
	"deployster/internal/base/diag"
	"deployster/internal/base/durable"
	"deployster/internal/base/sharedlog"
	"deployster/state"
	stateplace "deployster/state/place"
)

// StateStatus is what is known of a state and its user: what `state status -json` prints.
type StateStatus struct {
	State     string      `json:"state"` // its URL, or the path of its file
	Serial    uint64      `json:"serial"`
	Lineage   string      `json:"lineage,omitempty"`
	Resources int         `json:"resources"`
	Size      int64       `json:"size"` // in bytes, as it is stored
	Encrypted bool        `json:"encrypted,omitempty"`
	InUse     *StateInUse `json:"in_use,omitempty"`  // absent = by no command
	AtWork    []OpenWork  `json:"at_work,omitempty"` // actions without a recorded end; unknown if no command uses the state
	Pending   []string    `json:"pending,omitempty"` // files of this machine with records that the next command adds to the state
	MovedTo   string      `json:"moved_to,omitempty"`
}

// OpenWork is an action that was started, and whose end is not recorded.
type OpenWork struct {
	Address string    `json:"address"`
	Action  string    `json:"action"`
	Host    string    `json:"host,omitempty"` // the host that it runs on; absent = the machine that started it
	Since   time.Time `json:"since"`
}

// StateInUse is the command that uses a state.
type StateInUse struct {
	By    string    `json:"by"`
	Claim string    `json:"claim,omitempty"` // the claim to give to `state unlock`
	Since time.Time `json:"since,omitzero"`
	Heard time.Time `json:"heard,omitzero"` // when the last entry was written, by the clock of its machine
	// EndedWithoutClose reports that the command has ended, or was silent for so long that it can be
	// taken over, and has not released the state.
	EndedWithoutClose bool `json:"ended_without_close,omitempty"`
}

// Status returns the condition of the state, and its user. It changes nothing.
func Status(ctx context.Context, w *workspace.Workspace) (StateStatus, error) {
	place := w.StatePlaceAround()
	status := StateStatus{State: place.String()}
	remote, shared := place.(*state.Remote)
	if shared {
		log, err := remote.Log()
		if err != nil {
			return status, err
		}
		view, err := log.View(ctx)
		if err != nil {
			return status, remote.Word(err)
		}
		if status.MovedTo = view.MovedTo(); status.MovedTo != "" {
			return status, nil
		}
		if view.Held() {
			tip := view.Tip
			status.InUse = &StateInUse{By: tip.By.String(), Claim: tip.Claim, Since: tip.Since, Heard: tip.Time,
				EndedWithoutClose: remote.Claims.Dead(tip.Claim) || view.LastHeard(time.Now()) > log.Timing.Gone}
		}
		if len(view.State.States) > 0 {
			status.Encrypted, status.Size = view.State.States[0].Encrypted, int64(view.State.States[0].Size)
		}
	} else {
		if who, inUse := stateplace.InUse(place); inUse {
			status.InUse = &StateInUse{By: who}
		}
		if info, err := os.Stat(place.String()); err == nil { // state.Load below reports its errors
			status.Size = info.Size()
		}
	}
	snapshot, _, err := state.Load(place, w.Keys)
	if err != nil {
		return status, err
	}
	status.Serial, status.Lineage, status.Resources = snapshot.Serial, snapshot.Lineage, len(snapshot.Resources)
	status.AtWork = openWork(snapshot)
	if shared {
		status.Pending = sharedlog.Left(remote.Pending, snapshot.Lineage)
	}
	return status, nil
}

// openWork lists the actions whose end is not recorded, by address.
func openWork(s state.Snapshot) (list []OpenWork) {
	for _, addr := range s.Unknown() {
		u := s.Unsettled[addr]
		for _, a := range u.Open() {
			w := OpenWork{Address: addr, Action: a.Action, Since: a.Started}
			if host := s.Host(addr); host != nil {
				w.Host = host.Name
			}
			list = append(list, w)
		}
	}
	return list
}

// Claimable returns the state if it has claims, which can be ended: a file has none.
func Claimable(w *workspace.Workspace) (*state.Remote, error) {
	place := w.StatePlaceAround()
	if remote, ok := place.(*state.Remote); ok {
		return remote, nil
	}
	return nil, diag.Errorf("Nothing to unlock", "The state is the file %s, and a file has no claims. Its lock goes with its process: end "+
		"that process. `deployster state status` names it.", place)
}

// Unlock ends a claim on the state: its holder can record nothing more.
func Unlock(ctx context.Context, w *workspace.Workspace, claim string) error {
	remote, err := Claimable(w)
	if err != nil {
		return err
	}
	log, err := remote.Log()
	if err != nil {
		return err
	}
	view, err := log.View(ctx)
	if err != nil {
		return remote.Word(err)
	}
	if !view.Held() || view.Tip.Claim != claim {
		now := "it is free"
		if view.Held() {
			now = "the claim is " + diag.Visible(view.Tip.Claim)
		}
		return diag.Errorf("No such claim", "%s has no claim %s: %s. Nothing was changed. `deployster state status` prints its "+
			"holder.", remote,
			diag.Visible(claim), now)
	}
	remote.Take = claim
	store, err := w.OpenState(ctx, remote, "state unlock")
	if err != nil {
		return err
	}
	return store.Close()
}

// MoveState moves the state to another place. A mark stays at the old place, so that no
// second state can begin there: before the mark only the state at the old place can be used,
// and after it only the one at the new place. After an interruption it can be run again. It
// returns how many earlier states moved with it.
func MoveState(ctx context.Context, w *workspace.Workspace, to string) (int, error) {
	from, target := w.StatePlaceAround(), w.Place(to)
	if from.String() == target.String() {
		return 0, diag.Errorf("State already moved", "The state is at %s already.", from)
	}
	old, err := w.OpenState(ctx, from, "state move")
	if moved, ok := errors.AsType[*sharedlog.MovedError](err); ok && moved.To == target.String() {
		return finishMove(ctx, w, from, target, err)
	}
	if err != nil {
		return 0, err
	}
	defer func() { _ = old.Close() }() // the lock goes with the process anyway
	if old.Snapshot().Lineage == "" {
		none := diag.Errorf("No state", "There is no state at %s.", from)
		if _, _, err := state.Load(target); errors.Is(err, state.ErrArrives) { // what was marked here was removed by hand
			return finishMove(ctx, w, from, target, none)
		}
		return 0, none
	}
	if err := mayLeave(old.Snapshot(), from, target); err != nil {
		return 0, err
	}
	there, err := openArriving(ctx, w, target)
	if err != nil {
		return 0, err
	}
	defer func() { _ = there.Close() }()
	copies, stay, err := there.TakeOver(old)
	if err != nil {
		return 0, err
	}
	if len(stay) > 0 {
		w.Warn(diag.Warningf("Earlier states were not moved",
			"%s: %v cannot be read, are later than the state, or are more than %s keeps.", from, stay, target))
	}
	if err := leave(old, from, target); err != nil {
		return 0, err
	}
	if err := there.BringAnnounced(from); err != nil {
		return 0, err
	}
	return copies, there.Arrived()
}

// openArriving opens the state at a place also when it is being moved there.
func openArriving(ctx context.Context, w *workspace.Workspace, place state.Place) (*state.Store, error) {
	o := w.StateOptions("state move")
	o.Arriving = true
	return workspace.OpenStateWith(ctx, w, place, o)
}

// finishMove finishes a move that was interrupted after the old place was marked. If the
// state at the new place did not come from the old one, it returns otherwise.
func finishMove(ctx context.Context, w *workspace.Workspace, from, target state.Place, otherwise error) (int, error) {
	found, err := from.Find()
	if err != nil {
		return 0, err
	}
	there, err := openArriving(ctx, w, target)
	if err != nil {
		return 0, err
	}
	defer func() { _ = there.Close() }()
	if there.Snapshot().ArrivesFrom != found.State {
		return 0, otherwise
	}
	if err := there.BringAnnounced(from); err != nil {
		return 0, err
	}
	if err := there.Arrived(); err != nil {
		return 0, err
	}
	copies, err := state.Copies(target, w.Keys)
	return max(len(copies)-1, 0), err
}

// mayLeave refuses to move a state into a file while an action may still run on another
// machine: only with a store could that machine still report how the action ended.
func mayLeave(s state.Snapshot, from, to state.Place) error {
	_, shared := to.(*state.Remote)
	held := s.OnHold(from)
	if shared || len(held) == 0 {
		return nil
	}
	return diag.Errorf("An action may still run on another machine",
		"%s cannot be moved to a file while the outcome of %s is unknown. Nothing was changed. Run `deployster apply` on that machine, "+
			"or `deployster resolve -as=failed '%s'` when that machine is lost for good.", from, strings.Join(held, ", "), held[0])
}

// leave marks the old place of a state that has moved.
func leave(old *state.Store, from, to state.Place) error {
	if _, shared := from.(*state.Remote); shared {
		return old.MovedTo(to.String())
	}
	// The file is replaced, and exists at any time: without it a second state could begin.
	err := old.MovedTo(to.String())
	if err == nil {
		err = putAside(from.String())
	}
	if err == nil {
		err = durable.WriteFile(from.String(), stateplace.Mark{Format: state.Format, MovedTo: to.String()}.Bytes(), 0o600)
	}
	if err != nil {
		return diag.Errorf("Cannot mark the old state", "%s: %s. The state was not moved, and the copy at %s cannot be used. Repeat the "+
			"command.",
			from, err, to)
	}
	return nil
}

// putAside copies the content of a state file to a file next to it, unless an earlier try has done so.
func putAside(path string) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	aside := path + ".moved"
	switch there, err := os.ReadFile(aside); {
	case errors.Is(err, os.ErrNotExist):
	case err == nil && bytes.Equal(there, content):
		return nil
	default:
		aside = fmt.Sprintf("%s.moved-%d", path, time.Now().Unix())
	}
	return durable.WriteFileHere(aside, content, 0o600)
}
