package remotes

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"deployster/apply/fresh"
	"deployster/config"
	"deployster/internal/app/workspace"
	"deployster/internal/base/diag"
	"deployster/state"
)

// Reads returns what is used of other states as a state records it, by their names.
func Reads(w *workspace.Workspace, used map[string]config.RemoteState) map[string]state.Read {
	reads := map[string]state.Read{}
	for _, r := range used {
		name := w.Place(r.URL).String()
		if was, twice := reads[name]; !twice || was.Serial < r.Serial { // two blocks may name one state
			reads[name] = state.Read{Lineage: r.Lineage, Serial: r.Serial}
		}
	}
	return reads
}

// Check refuses outputs that are older than those that an apply of this state has used, those of another state at the same place, and
// the state itself as another one.
func Check(w *workspace.Workspace, own state.Place, prior state.Snapshot, used map[string]config.RemoteState) error {
	for _, name := range slices.Sorted(maps.Keys(used)) {
		r := used[name]
		place := w.Place(r.URL).String()
		if place == own.String() {
			return diag.Errorf("One state", "remote_state.%s names the state of this project. Use its resources directly.", name)
		}
		was, known := prior.Read[place]
		switch {
		case known && was.Lineage != r.Lineage:
			return another(name, place, r.Lineage, was.Lineage)
		case known && r.Serial < was.Serial:
			return older(name, place, r.Serial, was.Serial)
		}
	}
	return nil
}

func older(name, place string, serial, used uint64) error {
	return diag.Errorf("Older outputs than those that were used", "remote_state.%s: %s publishes the serial %d, and this project has used "+
		"serial %d already. Nothing was changed. An earlier version may have been restored there: apply in that project, until its "+
		"serial is higher.", name, place, serial, used)
}

func another(name, place, lineage, used string) error {
	return diag.Errorf("Another state than the one that was used", "remote_state.%s: %s has the lineage %s, and this project has used the "+
		"state with the lineage %s at that place. Nothing was changed. If the other project has begun another state, accept that with "+
		"`deployster state rm '%s'`: it forgets which outputs were used.", name, diag.Visible(place), lineage, used, diag.Visible(place))
}

// ErrChanged reports that what was used of another state is published no more as it was.
var ErrChanged = errors.New("used outputs of another state have changed")

func stale(why, todo string) error {
	return &diag.Caused{Diagnostic: fresh.Stale(why, todo), Cause: ErrChanged}
}

// Fresh reads again what a plan uses of other states. It refuses the plan if a used output has another value or cannot be read,
// and returns warnings.
func Fresh(w *workspace.Workspace, used map[string]config.RemoteState) (warnings diag.Diagnostics, err error) {
	for _, name := range slices.Sorted(maps.Keys(used)) {
		was := used[name]
		now, err := w.Remotes().Read(was.URL, nil)
		if err != nil {
			return nil, err
		}
		place := w.Place(was.URL).String()
		if now.Lineage == was.Lineage && now.Serial < was.Serial {
			return nil, older(name, place, now.Serial, was.Serial)
		}
		if now.Lineage != was.Lineage {
			return nil, stale(fmt.Sprintf("%s is another state now", place), "The plan uses its outputs. Plan again.")
		}
		if changed := changes(was, now); len(changed) > 0 {
			return nil, stale(fmt.Sprintf("%s of remote_state.%s changed after it was made", strings.Join(changed, ", "), name),
				fmt.Sprintf("It was made with the serial %d of %s, which has the serial %d now. Plan again.", was.Serial, place,
					now.Serial))
		}
		if now.Status != string(state.StatusOK) && now.Serial != was.Serial {
			warnings = append(warnings, config.IncompleteRemote(name, now))
		}
	}
	return warnings, nil
}

// Changed reads once more what an apply has used, and returns warnings about what is published by now.
func Changed(w *workspace.Workspace, used map[string]config.RemoteState) (list diag.Diagnostics) {
	for _, name := range slices.Sorted(maps.Keys(used)) {
		was := used[name]
		now, err := w.Remotes().Read(was.URL, nil)
		if err != nil {
			list = append(list, diag.Warningf("The outputs of another state were not read again", "remote_state.%s: %s", name,
				text(err)))
			continue
		}
		if changed := changes(was, now); len(changed) > 0 || now.Lineage != was.Lineage {
			list = append(list, diag.Warningf("The outputs of another state changed during the apply", "remote_state.%s: %s. This apply "+
				"has used the serial %d, and %s has the serial %d now. Plan again.", name, what(changed), was.Serial, w.Place(was.URL),
				now.Serial))
		}
	}
	return list
}

func what(changed []string) string {
	if len(changed) == 0 {
		return "it is another state now"
	}
	return strings.Join(changed, ", ") + " changed"
}

func text(err error) string {
	if d, worded := errors.AsType[*diag.Diagnostic](err); worded {
		return d.Summary + ": " + d.Detail
	}
	return err.Error()
}

// changes returns the names of the used outputs that have other values, sorted.
func changes(was, now config.RemoteState) (list []string) {
	for name, o := range was.Outputs {
		if n, published := now.Outputs[name]; !published || !bytes.Equal(n.Value, o.Value) || n.Sensitive != o.Sensitive {
			list = append(list, name)
		}
	}
	for _, name := range was.Missing {
		if _, published := now.Outputs[name]; published {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}
