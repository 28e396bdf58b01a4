package cli

import (
	"fmt"
	"io"
	"sync"
)

// lockedWriter lets many goroutines print whole pieces. On a terminal it keeps
// one line below them that can be changed.
type lockedWriter struct {
	mu     sync.Mutex
	w      io.Writer
	status string // what stands in the last line; "" = there is none
	broken bool   // the last piece did not end its line
}

const eraseLine = "\r\x1b[K"

func (l *lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.status != "" {
		_, _ = io.WriteString(l.w, eraseLine) // nobody who reads no more must stop an apply
	}
	n, err := l.w.Write(p)
	l.broken = len(p) > 0 && p[len(p)-1] != '\n'
	if l.status != "" && !l.broken {
		_, _ = io.WriteString(l.w, l.status)
	}
	return n, err
}

// setStatus changes the last line; it must be safe to show. "" takes it away.
func (l *lockedWriter) setStatus(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if line == l.status || l.broken {
		return
	}
	const most = 78 // of an ordinary terminal: what is longer would become two lines
	if runes := []rune(line); len(runes) > most {
		line = string(runes[:most])
	}
	l.status = line
	_, _ = fmt.Fprint(l.w, eraseLine+line)
}
