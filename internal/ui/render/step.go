package render

import (
	"strings"

	"deployster/plan"
	"deployster/protocol"
)

// Step returns one resource as a plan shows it, in full: what a person is asked about
// in the middle of an apply.
func Step(addr string, s *plan.Step, o Options) string {
	d := detailOf(s, o)
	var b strings.Builder
	newBlock(addr, s, &d).write(&b, o)
	return b.String()
}

// Action returns an action with what its image says of it.
func Action(a protocol.Action, o Options) string { return action(a, o.Hide) }
