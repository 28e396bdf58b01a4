package process

import (
	"io"
	"sync"
)

// Output is stdout, and remembers whether all that was printed there got there. What
// is printed goes on all the same: that nobody reads must not stop an apply.
type Output struct {
	To io.Writer

	mu  sync.Mutex
	err error // the first
}

// Write implements io.Writer.
func (o *Output) Write(p []byte) (int, error) {
	n, err := o.To.Write(p)
	if err != nil {
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.err == nil {
			o.err = err
		}
	}
	return n, err
}

// Err returns why something did not get there, or nil.
func (o *Output) Err() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}
