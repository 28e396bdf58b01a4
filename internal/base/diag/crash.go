package diag

import (
	"fmt"
	"strings"
)

// crashFrames is how many places of a stack are told.
const crashFrames = 8

// Crash says that this program has a fault: what it panicked with, and where.
// Stack is what debug.Stack gives in the function that recovered. Said is what
// the reader is to do or to know, in sentences.
func Crash(panicked any, stack []byte, said string) *Diagnostic {
	var places []string
	lines := strings.Split(string(stack), "\n")
	started := false
	for i, line := range lines {
		if strings.HasPrefix(line, "panic(") {
			places, started = nil, true // what is above it is the way to here
			continue
		}
		if place, ok := strings.CutPrefix(line, "\t"); ok && started && i > 0 && strings.HasPrefix(lines[i-1], "deployster/") &&
			len(places) < crashFrames {
			place, _, _ = strings.Cut(place[strings.LastIndex(place[:strings.LastIndex(place, "/")+1], "/")+1:], " ")
			name := lines[i-1][:max(0, strings.LastIndexByte(lines[i-1], '('))]
			places = append(places, name+" "+place)
		}
	}
	return Errorf("This is a fault of deployster", "%s\nPlease report it, with this:\n  %s\n  %s", said, Visible(fmt.Sprint(panicked)),
		strings.Join(places, "\n  "))
}
