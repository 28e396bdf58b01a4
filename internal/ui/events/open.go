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

// fifoInterval is the time between two attempts to open a FIFO.
const fifoInterval = 20 * time.Millisecond

// descriptor matches the paths of this process's open file descriptors.
var descriptor = regexp.MustCompile(`^/(?:dev/fd|proc/self/fd)/([0-9]{1,9})$`)

// OpenFile returns the opener for a file that a user names: a regular file, which is
// created or truncated, with access for its owner alone if it is new; a FIFO, whose
// opener waits for its reader; or an inherited file such as /dev/fd/3. A file that cannot
// be opened is an error at once, except a FIFO.
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

// openInherited returns a file that is already open: opening its path would truncate a regular
// file. Child processes do not inherit it: otherwise its reader would wait for their end.
func openInherited(number, path string) (*os.File, error) {
	fd, err := strconv.Atoi(number)
	if err != nil || fd < 3 {
		return nil, fmt.Errorf("%s is for text output; use another one, such as /dev/fd/3 with 3>FILE", path)
	}
	var stat syscall.Stat_t
	if err = syscall.Fstat(fd, &stat); err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	syscall.CloseOnExec(fd)
	return os.NewFile(uintptr(fd), path), nil
}

// openFIFO opens a FIFO, and waits for a reader that may come late.
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
			return nil, fmt.Errorf("%w: no reader has opened the FIFO", ErrNoReader)
		case <-time.After(fifoInterval):
		}
	}
}

// WithoutClose returns an opener for a writer that must not be closed, such as stdout.
func WithoutClose(w io.Writer) Opener {
	return func(<-chan struct{}) (io.WriteCloser, error) { return nopCloser{w}, nil }
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }
