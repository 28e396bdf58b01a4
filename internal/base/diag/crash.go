package diag

import (
	"fmt"
	"strings"
)

// crashFrames is how many stack frames the diagnostic lists.
const crashFrames = 8

// Crash returns a diagnostic for a bug in deployster: the value of the panic, and where
// it happened. Stack is the result of debug.Stack in the function that recovered. said is
// what the reader should do or know, in sentences.
func Crash(panicked any, stack []byte, said string) *Diagnostic {
	var places []string
	lines := strings.Split(string(stack), "\n")
	started := false
	for i, line := range lines {
		if strings.HasPrefix(line, "panic(") {
			places, started = nil, true // the lines above it are of the recovery
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
