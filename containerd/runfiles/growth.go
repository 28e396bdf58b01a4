package runfiles

import (
	"encoding/binary"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// Growth reports when outputs that were quiet for long grow again, so that nobody reads their
// sizes meanwhile. All that wait share one inotify file, of which the kernel has few for a user.
// The zero value is ready.
type Growth struct {
	mu      sync.Mutex
	inotify *os.File // nil = nobody has waited
	closed  bool
	waiting map[int32]chan<- struct{} // by watch descriptor
}

// Await returns a channel that gets a value when one of the files has been written to. stop must be called when
// nobody waits for that any more. ok is false if it cannot be known.
func (g *Growth) Await(files ...*LogFile) (grown <-chan struct{}, stop func(), ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.open() {
		return nil, nil, false
	}
	fd := int(g.inotify.Fd())
	all := make(chan struct{}, len(files))
	var watches []int32
	forget := func() {
		for _, wd := range watches {
			if g.waiting[wd] == all && !g.closed {
				delete(g.waiting, wd)
				_, _ = unix.InotifyRmWatch(fd, uint32(wd)) // it may have ended with its file
			}
		}
	}
	for _, f := range files {
		wd, err := unix.InotifyAddWatch(fd, f.Path, unix.IN_MODIFY|unix.IN_ONESHOT)
		if err != nil {
			forget()
			return nil, nil, false
		}
		watches = append(watches, int32(wd))
		g.waiting[int32(wd)] = all
	}
	return all, func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		forget()
	}, true
}

// open opens the inotify file, if it is not open yet.
func (g *Growth) open() bool {
	if g.inotify != nil || g.closed {
		return !g.closed
	}
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return false
	}
	g.inotify, g.waiting = os.NewFile(uintptr(fd), "inotify"), map[int32]chan<- struct{}{}
	go g.read(g.inotify)
	return true
}

// read passes events on, until the file is closed.
func (g *Growth) read(events *os.File) {
	for b := make([]byte, 4<<10); ; {
		n, err := events.Read(b)
		if err != nil {
			return
		}
		for at := 0; at+unix.SizeofInotifyEvent <= n; {
			g.notify(int32(binary.NativeEndian.Uint32(b[at:])))
			at += unix.SizeofInotifyEvent + int(binary.NativeEndian.Uint32(b[at+12:])) // and a name
		}
	}
}

// notify notifies the waiting caller of a file. -1 = events were lost: all are notified.
func (g *Growth) notify(wd int32) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for each, to := range g.waiting { // there are few
		if each == wd || wd < 0 {
			delete(g.waiting, each)
			to <- struct{}{} // it has room for one of each file
		}
	}
}

// Close must be called when nobody waits any more.
func (g *Growth) Close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed = true; g.inotify != nil {
		_ = g.inotify.Close() // it was only read
	}
}
