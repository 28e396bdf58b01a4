package apply

import (
	"time"

	"deployster/apply/guarding"
	"deployster/apply/report"
	"deployster/plan"
)

// Event is something that happens during an apply. Many goroutines report events, as
// they happen.
type Event interface{ applyEvent() }

// Checking reports that a resource's image is queried for the state, before the actions or
// after them.
type Checking struct {
	Address string
	After   bool
}

// ActionStarted reports that an action is about to run.
type ActionStarted struct {
	Address, Action, Description string
	Host                         string // the host that it runs on; "" = this machine
	Pod                          string // in a cluster: the Pod of the action alone; "" = it has none, or runs on a machine
	First                        bool   // it is the resource's shutdown_first
	Late                         bool   // it runs right before the other actions, because it was not known when the others ran
	Together                     int    // how many resources its worker carries out the action for, in one batch; 0 = it alone
	Leads                        bool   // of the events of one batch, this is the first
	Kind                         string // the kind of the objects of a batch; without one, their image
}

// ActionEnded reports how an action ended; Err is nil when it succeeded.
type ActionEnded struct {
	Address, Action string
	Host            string // the host that it ran on; "" = this machine
	Took            time.Duration
	Err             error
}

// ResourceEnded reports how the step of a resource ended.
type ResourceEnded struct {
	Address string
	Change  plan.Change
	Report  ResourceReport
	Took    time.Duration
}

// Retrying reports that a resource has failed, and is tried again after a pause.
type Retrying struct {
	Address string
	Attempt int // the next one
	Of      int
	Pause   time.Duration
	Reason  string // why the last attempt failed
}

// Settling reports that a group of guarded actions is confirmed, if its host can be reached again, or undone.
type Settling struct {
	Host      string
	Resources []string
	Keep      bool // it is to be confirmed: all of it was done
}

// String returns what is done about the group, in one line.
func (s Settling) String() string { return guarding.Sentence(s.Host, s.Resources, s.Keep) }

// Stopping reports that nothing new will be started; Running nodes are still in progress.
type Stopping struct {
	Where       string // "" = everywhere; else the name of a host, or ThisMachine
	Interrupted bool   // by the user; otherwise because something failed
	Running     int
}

// WaveSoaking reports that an apply waits after a wave of hosts.
type WaveSoaking struct {
	Number int
	Hosts  []string // that were begun in it
	Soak   time.Duration
}

// WaveEnded reports how a wave of hosts ended.
type WaveEnded struct {
	Number int
	Wave   report.Wave
	Closed bool // a gate has failed: there is no further wave
}

// String returns how the wave ended, in one line.
func (w WaveEnded) String() string { return w.Wave.Line(w.Number, w.Closed) }

func (Checking) applyEvent()      {}
func (WaveSoaking) applyEvent()   {}
func (WaveEnded) applyEvent()     {}
func (ActionStarted) applyEvent() {}
func (ActionEnded) applyEvent()   {}
func (ResourceEnded) applyEvent() {}
func (Retrying) applyEvent()      {}
func (Stopping) applyEvent()      {}
func (Settling) applyEvent()      {}
