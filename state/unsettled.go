package state

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"deployster/internal/base/proc"
)

// Unsettled is a resource on which actions were started since it was last seen
// as it should be. It stays so until its image says VALID, until it is gone, or
// until a person says how it is.
type Unsettled struct {
	Plan    string    `json:"plan"`
	By      By        `json:"by"`
	Actions []Attempt `json:"actions"`       // in the order in which they were started
	Put     *Put      `json:"put,omitempty"` // of a publish
	// Held says that its actions may still run on another machine, which has lost
	// the state: nothing is done about it, unless its image says VALID.
	Held bool `json:"held,omitempty"`
	// Was is, of a publish, the put before this one whose end was not recorded either. It
	// is what is known when the program of this one was never started.
	Was *Unsettled `json:"was,omitempty"`
}

// Begun is what is known of the last put whose program may have been started.
func (u Unsettled) Begun() Unsettled {
	if u.Was != nil && (u.Put == nil || u.Put.NotBegun) {
		return *u.Was
	}
	u.Was = nil
	return u
}

// WatchCommand is the command of who repairs unattended.
const WatchCommand = "deployster watch"

// By says which process did something. It is for people, and to know whether
// the machine was started anew since.
type By struct {
	Command string `json:"command,omitempty"`
	PID     int    `json:"pid,omitempty"`
	Host    string `json:"host,omitempty"`
	Boot    string `json:"boot,omitempty"` // changes whenever the machine is started
	// Machine is the id of the data directory, which knows how its actions ended; ""
	// where that was not to be found out.
	Machine string `json:"machine,omitempty"`
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

	// Silent says that its type has a memory and that it has said nothing of it:
	// what it made is not known, however it ended.
	Silent bool `json:"silent,omitempty"`
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
	return slices.DeleteFunc(slices.Clone(u.Actions), func(a Attempt) bool { return !a.open() })
}

// Unknown are the addresses of resources with an action whose end is not known,
// sorted.
func (s Snapshot) Unknown() (addresses []string) {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(s.Unsettled)), func(addr string) bool { return len(s.Unsettled[addr].Open()) == 0 })
}

// Unexplained are the addresses of resources with an action of which it is not known
// how it ended or what it made, sorted.
func (s Snapshot) Unexplained() (addresses []string) {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(s.Unsettled)), func(addr string) bool { return len(s.Unsettled[addr].Names()) == 0 })
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
// that had started it did not live to see it. See Snapshot.Settled.
func (s *Store) Settle(addr, key string, exit *int, memory json.RawMessage) error {
	if _, ok := s.snapshot.Unsettled[addr]; !ok {
		return nil
	}
	return s.Replace(s.snapshot.Settled(addr, key, exit, memory))
}

// Settled gives the state in which it is known how an action ended. A nil exit says
// that it was never begun; memory is what it said that is to be remembered, null for
// nothing, nil when it said nothing.
func (s Snapshot) Settled(addr, key string, exit *int, memory json.RawMessage) Snapshot {
	next := s.clone()
	u, ok := next.Unsettled[addr]
	if !ok {
		return next
	}
	u.Actions, u.Held = slices.Clone(u.Actions), false
	for i, a := range u.Actions {
		if a.Key == key && a.open() {
			u.Actions[i].Exit, u.Actions[i].Silent = exit, a.Silent && memory == nil
			next.remember(addr, memory)
		}
	}
	if exit == nil {
		u.Actions = slices.DeleteFunc(u.Actions, func(a Attempt) bool { return a.Key == key && a.open() })
	}
	next.leave(addr, u)
	return next
}

// leave puts down what is not known of a resource: when no action is left, what was not known
// before, if anything.
func (s *Snapshot) leave(addr string, u Unsettled) {
	s.Unsettled[addr] = u
	switch {
	case len(u.Actions) > 0:
	case u.Was != nil:
		s.Unsettled[addr] = *u.Was
	default:
		delete(s.Unsettled, addr)
	}
}

// remember takes down what an action said of its resource; nil = it said nothing.
func (s *Snapshot) remember(addr string, memory json.RawMessage) {
	e, known := s.Resources[addr]
	if !known || memory == nil {
		return
	}
	if e.Memory = memory; string(memory) == "null" {
		e.Memory = nil
	}
	s.Resources[addr] = e
}

// Names are the names of the actions of which nobody knows what they made, as the
// image is told.
func (u Unsettled) Names() (names []string) {
	for _, a := range u.Unexplained() {
		if !slices.Contains(names, a.Action) {
			names = append(names, a.Action)
		}
	}
	return names
}

// Unexplained are the actions of which nobody knows how they ended or what they made.
func (u Unsettled) Unexplained() []Attempt {
	return slices.DeleteFunc(slices.Clone(u.Actions), func(a Attempt) bool { return !a.open() && !a.Silent && !u.wordless(a) })
}

// wordless says that an action is a put that ended well and did not say what it made.
func (u Unsettled) wordless(a Attempt) bool {
	return u.Put != nil && u.Put.Answer == nil && !u.Put.NotBegun && a.Exit != nil && *a.Exit == 0 && a.Said == ""
}

// Judged gives the state in which a person has said how the open actions of a
// resource ended. How the resource is stays to be seen.
func (s Snapshot) Judged(addr string, as Verdict) Snapshot {
	next := s.clone()
	u, ok := next.Unsettled[addr]
	if !ok {
		return next
	}
	u.Actions, u.Held = slices.Clone(u.Actions), false
	for i, a := range u.Actions {
		if as == Failed {
			u.Actions[i].Silent = false // nothing of it is there
		}
		if !a.open() && !u.wordless(a) {
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
	was := u.Begun()
	if u.Plan != b.Plan {
		// The state was asked again since what an earlier plan did.
		u = Unsettled{Plan: b.Plan}
	}
	if u.Put, u.Was = nil, nil; was.Put != nil && !was.Put.NotBegun {
		u.Was = &was
	}
	u.By = b.By
	u.Actions = slices.DeleteFunc(slices.Clone(u.Actions), func(a Attempt) bool { return a.Key == r.Key && a.Action == r.Action })
	u.Actions = append(u.Actions, Attempt{Action: r.Action, Key: r.Key, Started: r.Time, Silent: r.Remembers})
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
		u.Actions[i].Silent = u.Actions[i].Silent && r.Memory == nil
		if u.Actions[i].Exit = exit; exit == nil {
			u.Actions = slices.Delete(u.Actions, i, i+1)
		}
		break
	}
	if u.Put != nil && u.Put.NotBegun {
		u = u.Begun()
	}
	s.leave(r.Address, u)
}

// Running reports whether the process is at work on this machine.
func (b By) Running() bool {
	if host, boot := b.Here(); !host || !boot || b.PID <= 0 {
		return false
	}
	now := proc.Of(b.PID)
	return !now.Ended() && strings.HasPrefix(now.Name, "deployster") // else the number is another process's by now
}
