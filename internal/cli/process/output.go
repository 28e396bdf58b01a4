package process

import (
	"io"
	"sync"
)

// Output is stdout, and records the first error of writing there. Printing continues after
// an error: an apply must not stop because it has no readers output.
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

// Err returns the first error of writing, or nil.
func (o *Output) Err() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}
