package remote

import "fmt"

// Fence records the latest client that was admitted to act for a state at a place.
type Fence struct {
	Epoch   int64  `json:"epoch"`
	Run     string `json:"run"`
	Store   string `json:"store,omitempty"`
	Turn    uint64 `json:"turn,omitempty"`
	Acted   bool   `json:"acted,omitempty"` // it has begun an action here, which its state has on record
	Process string `json:"process"`         // describes the client, for people
}

// Admit returns the fence of a client after this one, which does not refuse it.
func (f Fence) Admit(h Hello) Fence {
	again := f.Epoch == h.Epoch && f.Run == h.Run
	return Fence{Acted: again && f.Acted, Epoch: h.Epoch, Run: h.Run, Store: h.Store, Turn: h.Turn, Process: h.Process}
}

// Refuses returns why the client of the fence keeps h out; nil = it does not. place describes what
// that client acts on, as in "this machine".
func (f Fence) Refuses(h Hello, place string) error {
	switch {
	case f.after(h):
		return f.Taken()
	case f.unknownTo(h):
		return fmt.Errorf("%s has changed %s already (epoch %d, run %s), which this state does not record: it is an older "+
			"copy, or it started with a plan that was used before. Nothing is started", f.Process, place, f.Epoch, f.Run)
	}
	return nil
}

// Taken returns the error for a client after which the client of the fence was admitted.
func (f Fence) Taken() error {
	return fmt.Errorf("%s has taken over here (epoch %d, run %s): nothing more is started for this one", f.Process, f.Epoch, f.Run)
}

// unknownTo reports whether the client of the fence has begun an action that is not in the state of h: from what is in it, the next epoch
// follows. In one store the turns order the clients.
func (f Fence) unknownTo(h Hello) bool {
	return f.Acted && f.Epoch == h.Epoch && f.Run != h.Run && (h.Store == "" || f.Store != h.Store)
}

// after reports whether the client of the fence had the state after h. Two clients with
// the same epoch have recorded nothing yet: for a store their turns order them. A
// client with a state file holds the file's lock, so the other client has ended.
func (f Fence) after(h Hello) bool {
	if h.Epoch != f.Epoch {
		return h.Epoch < f.Epoch
	}
	return h.Run != f.Run && h.Store == f.Store && h.Turn < f.Turn
}
