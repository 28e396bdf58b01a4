package unsettled

import (
	"maps"
	"slices"
	"time"

	"deployster/internal/app/workspace"
	"deployster/internal/base/diag"
	"deployster/plan"
	"deployster/plan/repair"
	"deployster/state"
	stateplace "deployster/state/place"
)

// HeldBack refuses a plan that acts on a resource on which another machine, which has
// lost the state, may still act. A resource that is VALID and needs no action is allowed.
func HeldBack(place state.Place, p *plan.Plan, prior state.Snapshot) error {
	var diags diag.Diagnostics
	held := repair.OnHold(p, prior, place)
	for _, addr := range slices.Sorted(maps.Keys(held)) {
		if step := p.Resources[addr]; step.Change() == plan.Valid && step.Certainty != plan.MayChange {
			continue
		}
		at := held[addr]
		u := prior.Unsettled[at]
		for _, a := range u.Open() {
			d := diag.Errorf("An action may still run on another machine",
				"%q was started at %s by %s, which lost the state to another run and has not answered since. It is skipped here. Run "+
					"`deployster apply` there to find its outcome; or when that machine is lost for good: `deployster resolve -as=failed "+
					"'%s'`. -exclude='%s' plans the rest.", a.Action, a.Started.Format(time.RFC3339), diag.Visible(u.By.String()), at, addr)
			d.Address = addr
			diags = append(diags, d)
		}
	}
	return diags.Err()
}

// Elsewhere reports whether only another machine knows how the actions of a resource
// ended. A host answers whichever machine has the state.
func Elsewhere(place state.Place, s state.Snapshot, addr string) bool {
	remote, shared := place.(*state.Remote)
	return shared && s.Unsettled[addr].By.Machine != remote.Machine && s.Host(addr) == nil
}

// WarnLeft warns of what an earlier run left behind, or that a run is in progress.
func WarnLeft(w *workspace.Workspace, place state.Place, r *state.Recovery) {
	if r == nil {
		return
	}
	if who, inUse := stateplace.InUse(place); inUse {
		w.Warn(diag.Warningf("An apply is in progress", "%s is in use by %s. This plan may no longer fit when that has ended.", place, who))
		return
	}
	w.Warn(r.Warning())
}
