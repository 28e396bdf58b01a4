package runner

import "fmt"

// Log keeps the head and the tail of what is written to it, so that an endless
// log costs a bounded amount of memory. It is not safe for concurrent use.
type Log struct {
	half  int
	head  []byte
	tail  []byte // a ring once its length is half; next is its oldest byte
	next  int
	total int64
}

// NewLog returns a Log that keeps about keep bytes; 0 = DefaultKeepLog.
func NewLog(keep int64) *Log {
	if keep <= 0 {
		keep = DefaultKeepLog
	}
	return &Log{half: int(max(keep/2, 1))}
}

// Write never fails.
func (l *Log) Write(p []byte) (int, error) {
	n := len(p)
	l.total += int64(n)
	if free := l.half - len(l.head); free > 0 {
		k := min(free, len(p))
		l.head = append(l.head, p[:k]...)
		p = p[k:]
	}
	if len(p) > l.half {
		p = p[len(p)-l.half:]
	}
	if free := l.half - len(l.tail); free > 0 {
		k := min(free, len(p))
		l.tail = append(l.tail, p[:k]...)
		p = p[k:]
	}
	for len(p) > 0 {
		k := copy(l.tail[l.next:], p)
		l.next = (l.next + k) % l.half
		p = p[k:]
	}
	return n, nil
}

// Bytes returns everything that was written, or the head and the tail with a
// line between them that reports how much was left out.
func (l *Log) Bytes() []byte {
	out := append([]byte(nil), l.head...)
	if left := l.total - int64(len(l.head)+len(l.tail)); left > 0 {
		out = fmt.Appendf(out, "\n[... %d bytes left out ...]\n", left) // as loglines.Gap
	}
	out = append(out, l.tail[l.next:]...)
	return append(out, l.tail[:l.next]...)
}

// Skip adds n to the count of bytes left out: the caller does not write them.
func (l *Log) Skip(n int64) { l.total += n }
