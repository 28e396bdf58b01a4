package events

import "deployster/apply"

// Watch reports a change in the status of `deployster watch` as a whole.
type Watch struct {
	Status    string `json:"status"` // started, reloaded, reload_failed, held, released, new_version, converged, unconverged, stopping
	Resources int    `json:"resources"`
	ByEvents  int    `json:"by_events"` // the number of resources that a process watches
	ByPoll    int    `json:"by_poll"`
	Drifted   int    `json:"drifted"` // the number of resources that have drifted or are gone
	Failed    int    `json:"failed"`  // the number of resources whose read failed
	Holder    string `json:"holder,omitempty"`
}

// ResourceWatch reports a finding about a resource.
type ResourceWatch struct {
	Resource string  `json:"resource"`
	Status   string  `json:"status"` // a word of drift, or flapping, known, not_approved, not_watched, missed, noisy
	Was      string  `json:"was,omitempty"`
	Why      string  `json:"why,omitempty"` // why it was checked: start, event, poll, repair, dependency, again
	Detail   string  `json:"detail,omitempty"`
	Next     float64 `json:"next_seconds,omitempty"` // the time until it may be repaired
}

// WatchProcess reports a change of a process that watches a resource.
type WatchProcess struct {
	Resource string  `json:"resource"`
	Status   string  `json:"status"` // running or ended
	Restart  float64 `json:"restart_seconds,omitempty"`
	Reason   string  `json:"reason,omitempty"`
}

// RepairStarted reports that a repair begins, in a run of its own.
type RepairStarted struct {
	Resources []string `json:"resources"`
}

// RepairEnded reports how a repair ended.
type RepairEnded struct {
	Resources []string     `json:"resources"`
	Status    apply.Status `json:"status"`
}
