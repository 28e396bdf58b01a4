package places

import "io"

// mostAgain is how many bytes a host certainly hands out again from their begin on. Of what
// has printed more it hands out the end.
const mostAgain = 4 << 20

// live passes on what an action prints once, however often it is handed out.
type live struct {
	to     io.Writer
	passed int64 // bytes
	at     int64 // bytes from the begin, of what is handed out now
}

// once returns a writer that takes what an action prints from its begin on as often as
// fromBegin is said; nil for nil.
func once(to io.Writer) io.Writer {
	if _, is := to.(*live); is || to == nil {
		return to
	}
	return &live{to: to}
}

// fromBegin says that what comes is what the action has printed from its begin on.
func fromBegin(w io.Writer) {
	if l, is := w.(*live); is {
		if l.at = 0; l.passed > mostAgain {
			l.passed = 0 // rather twice than not at all
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
