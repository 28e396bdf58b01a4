package state

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"
)

// Unsettled is a resource on which actions were started since it was last seen
// as it should be. It stays so until its image says VALID, until it is gone, or
// until a person says how it is.
type Unsettled struct {
	Plan    string    `json:"plan"`
	By      By        `json:"by"`
	Actions []Attempt `json:"actions"`       // in the order in which they were started
	Put     *Put      `json:"put,omitempty"` // of a publish
}

// By says which process did something. It is for people, and to know whether
// the machine was started anew since.
type By struct {
	Command string `json:"command,omitempty"`
	PID     int    `json:"pid,omitempty"`
	Host    string `json:"host,omitempty"`
	Boot    string `json:"boot,omitempty"` // changes whenever the machine is started
}

// Attempt is an action that was started.
type Attempt struct {
	Action  string    `json:"action"`
	Key     string    `json:"idempotency_key,omitempty"`
	Started time.Time `json:"started"`
	Exit    *int      `json:"exit,omitempty"` // nil = nobody knows how it ended, or whether

	// Said is how a person says that it ended, where nobody else could know; ""
	// = nobody has said anything.
	Said Verdict `json:"said,omitempty"`
}

// Verdict is what a person says of an action.
type Verdict string

// The verdicts: it ended well, as with exit code 0; it did not, and there is no
// exit code.
const (
	Done   Verdict = "done"
	Failed Verdict = "failed"
)

// open says that nobody knows how it ended.
func (a Attempt) open() bool { return a.Exit == nil && a.Said == "" }

// Open are the actions of which nobody knows how they ended.
func (u Unsettled) Open() (open []Attempt) {
	for _, a := range u.Actions {
		if a.open() {
			open = append(open, a)
		}
	}
	return open
}

// Unknown are the addresses of resources with an action whose end is not known,
// sorted.
func (s Snapshot) Unknown() (addresses []string) {
	for _, addr := range slices.Sorted(maps.Keys(s.Unsettled)) {
		if len(s.Unsettled[addr].Open()) > 0 {
			addresses = append(addresses, addr)
		}
	}
	return addresses
}

// String describes a process for a message.
func (b By) String() string {
	if b.Command == "" {
		return "an earlier command"
	}
	return fmt.Sprintf("%s (process %d on %s)", b.Command, b.PID, b.Host)
}

// Here reports whether it was a process of this machine, and since its last start.
func (b By) Here() (host, boot bool) {
	me := myself("")
	return b.Host == me.Host, b.Host == me.Host && b.Boot == me.Boot
}

// myself is this process.
func myself(command string) By {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown host"
	}
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id") // "" where there is none
	return By{Command: command, PID: os.Getpid(), Host: host, Boot: strings.TrimSpace(string(boot))}
}

// Settle records how an action ended of which that was not known: the process
// that had started it did not live to see it. A nil exit says that it was never
// begun.
func (s *Store) Settle(addr, key string, exit *int) error {
	next := s.snapshot.clone()
	u, ok := next.Unsettled[addr]
	if !ok {
		return nil
	}
	u.Actions = slices.Clone(u.Actions)
	for i := range u.Actions {
		if u.Actions[i].Key == key && u.Actions[i].open() {
			u.Actions[i].Exit = exit
		}
	}
	if exit == nil {
		u.Actions = slices.DeleteFunc(u.Actions, func(a Attempt) bool { return a.Key == key && a.open() })
	}
	next.Unsettled[addr] = u
	if len(u.Actions) == 0 {
		delete(next.Unsettled, addr)
	}
	return s.Replace(next)
}

// Judged gives the state in which a person has said how the open actions of a
// resource ended. How the resource is stays to be seen.
func (s Snapshot) Judged(addr string, as Verdict) Snapshot {
	next := s.clone()
	u, ok := next.Unsettled[addr]
	if !ok {
		return next
	}
	u.Actions = slices.Clone(u.Actions)
	for i, a := range u.Actions {
		if !a.open() {
			continue
		}
		if u.Actions[i].Said = as; as == Done {
			u.Actions[i].Exit = new(int)
		}
	}
	next.Unsettled[addr] = u
	return next
}

// started notes that an action was started on a resource.
func (s *Snapshot) started(r record, b begin) {
	u := s.Unsettled[r.Address]
	if u.Plan != b.Plan {
		// The state was asked again since what an earlier plan did.
		u = Unsettled{Plan: b.Plan}
	}
	u.By = b.By
	u.Actions = slices.DeleteFunc(slices.Clone(u.Actions), func(a Attempt) bool { return a.Key == r.Key && a.Action == r.Action })
	u.Actions = append(u.Actions, Attempt{Action: r.Action, Key: r.Key, Started: r.Time})
	s.Unsettled[r.Address] = u
}

// ended notes how it ended; nil = it was not started at all.
func (s *Snapshot) ended(r record, exit *int) {
	u := s.Unsettled[r.Address]
	u.Actions = slices.Clone(u.Actions)
	for i := len(u.Actions) - 1; i >= 0; i-- {
		if a := u.Actions[i]; a.Action != r.Action || !a.open() || r.Key != "" && a.Key != r.Key {
			continue
		}
		if u.Actions[i].Exit = exit; exit == nil {
			u.Actions = slices.Delete(u.Actions, i, i+1)
		}
		break
	}
	if s.Unsettled[r.Address] = u; len(u.Actions) == 0 {
		delete(s.Unsettled, r.Address)
	}
}
