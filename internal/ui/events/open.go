package events

import (
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"syscall"
	"time"
)

// fifoInterval is the time between two looks for a reader of a FIFO.
const fifoInterval = 20 * time.Millisecond

// descriptor matches the names of what this process has open already.
var descriptor = regexp.MustCompile(`^/(?:dev/fd|proc/self/fd)/([0-9]{1,9})$`)

// OpenFile returns the opener for a file that a user names: a regular file, which
// is made anew for its owner alone, a FIFO, which is waited for to be read, or
// what this process has inherited, as /dev/fd/3. What cannot be opened is an
// error at once, but for a FIFO.
func OpenFile(path string) (Opener, error) {
	if info, err := os.Stat(path); err == nil && info.Mode()&os.ModeNamedPipe != 0 && descriptor.FindString(path) == "" {
		return func(stop <-chan struct{}) (io.WriteCloser, error) { return openFIFO(path, stop) }, nil
	}
	open := func() (*os.File, error) { return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600) }
	if found := descriptor.FindStringSubmatch(path); found != nil {
		open = func() (*os.File, error) { return openInherited(found[1], path) }
	}
	f, err := open()
	if err != nil {
		return nil, err
	}
	return func(<-chan struct{}) (io.WriteCloser, error) { return f, nil }, nil
}

// openInherited returns a file that is open already: opening its name would truncate
// a regular file. Programs do not inherit it: its reader would wait for their end.
func openInherited(number, path string) (*os.File, error) {
	fd, err := strconv.Atoi(number)
	if err != nil || fd < 3 {
		return nil, fmt.Errorf("%s is for what is printed for people; use another one, such as /dev/fd/3 with 3>FILE", path)
	}
	var stat syscall.Stat_t
	if err = syscall.Fstat(fd, &stat); err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	syscall.CloseOnExec(fd)
	return os.NewFile(uintptr(fd), path), nil
}

// openFIFO waits for a reader, who may come late.
func openFIFO(path string, stop <-chan struct{}) (io.WriteCloser, error) {
	for {
		f, err := os.OpenFile(path, os.O_WRONLY|syscall.O_NONBLOCK, 0)
		if err == nil {
			return f, nil
		}
		if !errors.Is(err, syscall.ENXIO) {
			return nil, err
		}
		select {
		case <-stop:
			return nil, fmt.Errorf("%w: nobody has opened the FIFO", ErrNoReader)
		case <-time.After(fifoInterval):
		}
	}
}

// WithoutClose returns a writer that is not to be closed, such as stdout.
func WithoutClose(w io.Writer) Opener {
	return func(<-chan struct{}) (io.WriteCloser, error) { return nopCloser{w}, nil }
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }
