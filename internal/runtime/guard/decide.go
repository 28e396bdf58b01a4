package guard

import (
	"time"

	"deployster/internal/runtime/runner"
)

// seen is what the process of a group sees of it.
type seen struct {
	verdict  runner.Verdict
	rebooted bool          // since it was armed: nothing runs any more that was begun before
	wanted   bool          // the undo is requested
	running  bool          // an action of the group may still run
	past     bool          // it runs for longer than its limit
	idle     time.Duration // since the end of the last action; before the first, since the group was armed
	after    time.Duration // when idle, to the undo
}

// todo is what the process of a group does next.
type todo int

const (
	wait  todo = iota
	end        // end the action that runs past its limit
	undo       // undo all, beginning with the last
	clear      // remove what is left: it is decided
)

// next decides what the process of a group does next.
func (s seen) next() todo {
	switch {
	case s.verdict == runner.Confirmed || s.verdict == runner.Undone || s.verdict == runner.Nothing:
		return clear
	case s.running && s.past:
		return end
	case s.running:
		return wait
	}
	if s.verdict == runner.Undoing || s.rebooted || s.wanted || s.idle >= s.after {
		return undo
	}
	return wait
}

// passes returns the order in which n resources are undone, in two passes. In the first, the last
// one comes first. What is undone before another still sees that as it was changed: so in the
// second all but the first one are undone again, in the order of their actions.
func passes(n int) (back, again []int) {
	for i := n - 1; i >= 0; i-- {
		back = append(back, i)
	}
	for i := 1; i < n; i++ {
		again = append(again, i)
	}
	return back, again
}
