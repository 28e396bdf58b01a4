package events

import "deployster/apply"

// Watch is something that happened to `deployster watch` as a whole.
type Watch struct {
	Status    string `json:"status"` // started, reloaded, reload_failed, held, released, converged, unconverged, stopping
	Resources int    `json:"resources"`
	ByEvents  int    `json:"by_events"` // that a process watches
	ByPoll    int    `json:"by_poll"`
	Drifted   int    `json:"drifted"` // drifted or gone
	Failed    int    `json:"failed"`  // could not be asked
	Holder    string `json:"holder,omitempty"`
}

// ResourceWatch is something that was found of a resource.
type ResourceWatch struct {
	Resource string  `json:"resource"`
	Status   string  `json:"status"` // a word of drift, or flapping, known, not_approved, not_watched, missed, noisy
	Was      string  `json:"was,omitempty"`
	Why      string  `json:"why,omitempty"` // it was looked at: start, event, poll, repair, dependency, again
	Detail   string  `json:"detail,omitempty"`
	Next     float64 `json:"next_seconds,omitempty"` // until it may be repaired
}

// WatchProcess is what became of a process that watches a resource.
type WatchProcess struct {
	Resource string  `json:"resource"`
	Status   string  `json:"status"` // running or ended
	Restart  float64 `json:"restart_seconds,omitempty"`
	Reason   string  `json:"reason,omitempty"`
}

// RepairStarted says that a repair begins, in a run of its own.
type RepairStarted struct {
	Resources []string `json:"resources"`
}

// RepairEnded says how a repair ended.
type RepairEnded struct {
	Resources []string     `json:"resources"`
	Status    apply.Status `json:"status"`
}
