package apply

import "deployster/plan"

// failedReplace is ResourceReport.Failed of what was destroyed only.
const failedReplace = "replace"

// isGone reports whether what is there of a resource was destroyed, to be made
// again.
func (r *run) isGone(addr string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.gone[addr]
}

// endedBefore reports whether a run of this plan that died had destroyed what was
// there: what is there now is not the old thing any more.
func (r *run) endedBefore(addr string) bool {
	hash, done := r.died.Done[addr]
	if done && hash == "" {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.gone[addr] = true
	}
	return done
}

// halfReplaced says of those that were destroyed and whose turn to be made again
// did not come that they are not there now: nobody may take them for done.
func (r *run) halfReplaced(report *Report) {
	made := map[string]bool{}
	for _, out := range r.ended {
		made[out.addr] = made[out.addr] || !out.old
	}
	for addr, res := range report.Resources {
		step := r.plan.Resources[addr]
		ended := !made[addr] && (res.Status == OK || res.Status == Skipped)
		if step.Change == plan.Replace && (ended || res.Status == NotStarted && r.gone[addr]) {
			res.Status, res.Failed = Error, failedReplace
			res.Reason = "it was destroyed, and its turn to be made again did not come: it is not there now. Plan again to make it"
		}
	}
}
