package router

import "io"

// mostAgain is how many bytes of an action's output a host can always send again from the
// beginning. Of an action with more output the host sends only the end.
const mostAgain = 4 << 20

// live passes on each byte of an action's output once, however often the host sends it.
type live struct {
	to     io.Writer
	passed int64 // bytes
	at     int64 // offset in the action's output of the next byte
}

// once returns a writer that passes the output of an action on once, although each
// fromBegin starts it from the beginning again. It returns nil for nil.
func once(to io.Writer) io.Writer {
	if _, is := to.(*live); is || to == nil {
		return to
	}
	return &live{to: to}
}

// fromBegin notifies w that the next bytes are the action's output from its beginning.
func fromBegin(w io.Writer) {
	if l, is := w.(*live); is {
		if l.at = 0; l.passed > mostAgain {
			l.passed = 0 // better printed twice than not at all
		}
	}
}

// Write implements io.Writer.
func (l *live) Write(p []byte) (int, error) {
	known := min(max(l.passed-l.at, 0), int64(len(p)))
	l.at += int64(len(p))
	l.passed = max(l.passed, l.at)
	if known == int64(len(p)) {
		return len(p), nil
	}
	n, err := l.to.Write(p[known:])
	return int(known) + n, err
}
