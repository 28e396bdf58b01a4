package modeltest_test

import (
	"deployster/apply"
	"deployster/state"
	"deployster/state/moves"
)

// traced is a journal whose facts the tracer sees. When the process is dead it
// takes none any more.
type traced struct {
	apply.Journal
	t *tracer
}

// fact makes one durable.
func (j traced) fact(f fact, record func() error) error {
	tick, alive, _ := j.t.pass()
	if !alive {
		return errDead
	}
	f.begin = tick
	err := record()
	tick, alive, _ = j.t.pass()
	j.t.mu.Lock()
	defer j.t.mu.Unlock()
	if err == nil {
		f.end = tick
	}
	j.t.facts = append(j.t.facts, f)
	if !alive {
		return errDead
	}
	return err
}

func (j traced) ActionStarted(s state.Start) error {
	return j.fact(fact{kind: "started", addr: s.Address, action: s.Action, key: s.Key},
		func() error { return j.Journal.ActionStarted(s) })
}

func (j traced) ActionEnded(addr, action string, e state.End) error {
	return j.fact(fact{kind: "ended", addr: addr, action: action}, func() error { return j.Journal.ActionEnded(addr, action, e) })
}

func (j traced) Valid(addr string, e state.Entry) error {
	return j.fact(fact{kind: "valid", addr: addr}, func() error { return j.Journal.Valid(addr, e) })
}

func (j traced) Removed(addr string) error {
	return j.fact(fact{kind: "removed", addr: addr}, func() error { return j.Journal.Removed(addr) })
}

func (j traced) Moved(moves []moves.Move) error {
	return j.fact(fact{kind: "moved"}, func() error { return j.Journal.Moved(moves) })
}

func (j traced) Outputs(outputs map[string]state.Output) error {
	return j.fact(fact{kind: "outputs"}, func() error { return j.Journal.Outputs(outputs) })
}
