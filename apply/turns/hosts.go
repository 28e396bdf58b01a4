package turns

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"deployster/internal/base/words"
	"deployster/plan"
	"deployster/state"
)

// Hosts are the hosts of an apply that begins no further host after some have failed. It is
// safe for concurrent use.
type Hosts struct {
	most    int // how many hosts may fail; 0 = any number
	earlier int // how many had failed in the killed run of the plan that is continued

	mu     sync.Mutex
	begun  map[string]bool // names of hosts on which an action was started
	wave   map[string]bool // those of begun that TakeWave has not returned yet
	closed string          // why no further host is begun; "" = see most
	failed map[string]bool // names of hosts with failures
}

// NewHosts returns what is known of the hosts before anything is started: those that a killed
// run of the plan had begun are begun, and those that had failed in it have failed.
func NewHosts(p *plan.Plan, prior state.Snapshot, most int) *Hosts {
	h := &Hosts{most: most, begun: map[string]bool{}, wave: map[string]bool{}, failed: map[string]bool{}}
	died, resumes := prior.Died(p.ID)
	if !resumes {
		return h
	}
	for _, addr := range died.Begun {
		h.begin(HostOf(p, addr))
	}
	for _, addr := range slices.Concat(died.Failed, slices.Collect(maps.Keys(prior.Unsettled))) {
		u, host := prior.Unsettled[addr], HostOf(p, addr)
		if host != "" && (u.Plan == p.ID && u.Failed() || slices.Contains(died.Failed, addr)) {
			h.failed[host] = true
		}
	}
	h.earlier = len(h.failed)
	return h
}

// Begin begins a host with its first action, and returns "". If as many hosts have failed as
// may and the host is not begun, it returns why no action may start there.
func (h *Hosts) Begin(host string) (why string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if why = h.why(host); why == "" {
		h.begin(host)
	}
	return why
}

func (h *Hosts) begin(host string) {
	if host != "" && !h.begun[host] {
		h.begun[host], h.wave[host] = true, true
	}
}

// TakeWave returns the hosts that were begun since it was called last, sorted.
func (h *Hosts) TakeWave() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	wave := slices.Sorted(maps.Keys(h.wave))
	clear(h.wave)
	return wave
}

// Begun returns the hosts on which an action was started, sorted.
func (h *Hosts) Begun() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.DeleteFunc(slices.Sorted(maps.Keys(h.begun)), func(host string) bool { return host == "" })
}

// Close lets no further host begin.
func (h *Hosts) Close(why string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = why
}

// Why returns why no action may start on a host; "" = one may.
func (h *Hosts) Why(host string) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.why(host)
}

func (h *Hosts) why(host string) string {
	switch {
	case host == "" || h.begun[host]:
		return ""
	case h.closed != "":
		return h.closed
	case h.most == 0 || len(h.failed) < h.most:
		return ""
	}
	why := fmt.Sprintf("no further host was begun after %s had failed", words.Count(len(h.failed), "host"))
	if h.earlier > 0 && h.earlier == len(h.failed) {
		why += ", in the interrupted run of this plan"
	}
	return why
}

// Fail notes that something has failed on a host.
func (h *Hosts) Fail(host string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.failed[host] = true
}

// Failed reports whether something has failed on a host.
func (h *Hosts) Failed(host string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.failed[host]
}
