package stateedit

import (
	"context"
	"maps"
	"slices"
	"time"

	"deployster/config"
	"deployster/internal/app/workspace"
	"deployster/internal/base/diag"
	"deployster/internal/base/natural"
	"deployster/internal/base/words"
	"deployster/state"
	"deployster/state/actions"
	"deployster/state/moves"
)

// Restore makes a kept copy the current state again.
func Restore(ctx context.Context, w *workspace.Workspace, serial uint64) (*state.RestoreResult, error) {
	return state.Restore(ctx, w.StatePlaceAround(), serial, w.StateOptions("state restore"))
}

// PruneCopies removes the kept state files before a serial, and returns how many.
func PruneCopies(ctx context.Context, w *workspace.Workspace, before uint64) (int, error) {
	return state.PruneCopies(ctx, w.StatePlaceAround(), before, w.StateOptions("state copies"))
}

// Copies lists the earlier state files that are kept.
func Copies(w *workspace.Workspace) ([]state.Copy, error) {
	return state.Copies(w.StatePlaceAround(), w.Keys)
}

// Reencrypt rewrites the state file and its copies as the encryption block of the
// manifests declares, and returns how many files it wrote.
func Reencrypt(ctx context.Context, w *workspace.Workspace) (written int, err error) {
	place := w.StatePlaceAround()
	store, err := w.OpenState(ctx, place, "state reencrypt")
	if err != nil {
		return 0, err
	}
	defer func() { _ = store.Close() }() // the lock goes with the process anyway
	names, left, err := store.Reencrypt()
	if err != nil {
		return 0, err
	}
	for _, name := range slices.Sorted(maps.Keys(left)) {
		w.Warn(diag.Warningf("A copy was not changed", "%s cannot be read: %s", name, left[name]))
	}
	w.WarnClear(place)
	return len(names), nil
}

// HistoryRun is one run in the history of a state.
type HistoryRun struct {
	At     time.Time  `json:"at"` // when it began
	Status string     `json:"status"`
	By     actions.By `json:"by,omitzero"` // none = it is not known
	Plan   string     `json:"plan"`        // the id of the plan
	Run    string     `json:"run"`
	Serial uint64     `json:"serial,omitempty"` // of the state with this run; none = it is not known
}

// History returns the runs that a state names, the newest first.
func History(s state.Snapshot) []HistoryRun {
	list := []HistoryRun{}
	for _, a := range slices.Backward(s.Applied) {
		list = append(list, HistoryRun{At: a.At, Status: string(a.Status), By: a.By, Plan: a.Plan, Run: a.Run, Serial: a.Serial})
	}
	return list
}

// Remembered returns the resources of the state at or below some addresses, sorted. This
// includes resources that only have actions and were never valid. An address that covers
// no resource is an error. Without addresses it returns all.
func Remembered(snapshot state.Snapshot, addresses []string) ([]string, error) {
	all := slices.AppendSeq(slices.Collect(maps.Keys(snapshot.Resources)), maps.Keys(snapshot.Unsettled))
	natural.Sort(all)
	if all = slices.Compact(all); len(addresses) == 0 {
		return all, nil
	}
	return among(all, addresses)
}

// among returns those of the known addresses that the given ones cover.
func among(known, spellings []string) ([]string, error) {
	addresses, err := config.ParseAddresses(spellings)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, addr := range addresses {
		before := len(out)
		for _, there := range known {
			if moves.Covers(addr, there) {
				out = append(out, there)
			}
		}
		if len(out) == before {
			return nil, diag.Errorf("No such resource in the state",
				"The state has no %s.%s `deployster state list` lists all addresses.", diag.Visible(addr), words.DidYouMean(addr, known))
		}
	}
	natural.Sort(out)
	return slices.Compact(out), nil
}

// EntryDocument is what `state show -json` prints: an entry, empty when the resource was
// never valid, and its unsettled actions.
type EntryDocument struct {
	state.Entry
	Unsettled *actions.Unsettled `json:"unsettled,omitempty"`
}
