package dirwatch

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
)

// Watcher watches files. The zero value is ready to use, by many goroutines at a time.
type Watcher struct {
	mu      sync.Mutex
	inotify *os.File        // nil while nothing is watched
	dirs    map[string]*dir // by path
	numbers map[int32]*dir  // by inotify's watch descriptor
}

// dir is a directory and the watches of files in it.
type dir struct {
	path    string
	number  int32
	watches map[string]map[*watch]bool // by the name of the file
}

// watch is one file that is watched.
type watch struct {
	tell func(detail string)
	end  chan error // receives the reason why it can no longer be watched
}

// seen is the inotify mask: the events that change a file, none that only read it.
const seen = syscall.IN_CREATE | syscall.IN_MODIFY | syscall.IN_CLOSE_WRITE | syscall.IN_ATTRIB | syscall.IN_DELETE |
	syscall.IN_MOVED_FROM | syscall.IN_MOVED_TO | syscall.IN_DELETE_SELF | syscall.IN_MOVE_SELF | syscall.IN_ONLYDIR

// Watch calls tell with "" once it watches the file at path, which need not exist,
// and again whenever the file may have changed, until ctx ends. The file's directory
// must exist: mount the directory as the plug, not the file itself.
func (w *Watcher) Watch(ctx context.Context, path string, tell func(detail string)) error {
	mine := &watch{tell: tell, end: make(chan error, 1)}
	parent, name := filepath.Split(filepath.Clean(path))
	if err := w.add(filepath.Clean(parent), name, mine); err != nil {
		return err
	}
	defer w.remove(filepath.Clean(parent), name, mine)
	tell("")
	select {
	case <-ctx.Done():
		return ctx.Err()
	case err := <-mine.end:
		return err
	}
}

func (w *Watcher) add(path, name string, mine *watch) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.inotify == nil {
		fd, err := syscall.InotifyInit1(syscall.IN_CLOEXEC | syscall.IN_NONBLOCK)
		if err != nil {
			return fmt.Errorf("inotify cannot be used: %w", err)
		}
		w.inotify, w.dirs, w.numbers = os.NewFile(uintptr(fd), "inotify"), map[string]*dir{}, map[int32]*dir{}
		go w.read(w.inotify)
	}
	d := w.dirs[path]
	if d == nil {
		number, err := w.addWatch(path)
		if err != nil {
			w.closeIfUnused()
			return fmt.Errorf("inotify cannot watch %s: %w", path, err)
		}
		d = &dir{path: path, number: number, watches: map[string]map[*watch]bool{}}
		w.dirs[path], w.numbers[number] = d, d
	}
	if d.watches[name] == nil {
		d.watches[name] = map[*watch]bool{}
	}
	d.watches[name][mine] = true
	return nil
}

// addWatch queries the kernel for the events of a directory.
func (w *Watcher) addWatch(path string) (number int32, err error) {
	raw, err := w.inotify.SyscallConn()
	if err != nil {
		return 0, err
	}
	failed := raw.Control(func(fd uintptr) {
		var n int
		n, err = syscall.InotifyAddWatch(int(fd), path, seen)
		number = int32(n)
	})
	return number, errors.Join(failed, err)
}

func (w *Watcher) remove(path, name string, mine *watch) {
	w.mu.Lock()
	defer w.mu.Unlock()
	d := w.dirs[path]
	if d == nil || !d.watches[name][mine] {
		return // the directory no longer exists
	}
	if delete(d.watches[name], mine); len(d.watches[name]) == 0 {
		delete(d.watches, name)
	}
	if len(d.watches) > 0 {
		return
	}
	delete(w.dirs, path)
	delete(w.numbers, d.number)
	if raw, err := w.inotify.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { _, _ = syscall.InotifyRmWatch(int(fd), uint32(d.number)) }) // events of it are ignored
	}
	w.closeIfUnused()
}

// closeIfUnused closes inotify when nothing is watched. The caller holds the lock.
func (w *Watcher) closeIfUnused() {
	if len(w.dirs) == 0 {
		_ = w.inotify.Close() // this ends read
		w.inotify = nil
	}
}

// read reads events until inotify is closed.
func (w *Watcher) read(inotify *os.File) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := inotify.Read(buffer)
		if err != nil {
			return
		}
		for events := buffer[:n]; len(events) >= syscall.SizeofInotifyEvent; {
			number := int32(binary.NativeEndian.Uint32(events))
			mask := binary.NativeEndian.Uint32(events[4:])
			size := syscall.SizeofInotifyEvent + int(binary.NativeEndian.Uint32(events[12:]))
			w.event(inotify, number, mask, strings.TrimRight(string(events[syscall.SizeofInotifyEvent:size]), "\x00"))
			events = events[size:]
		}
	}
}

// event calls tell for the watches that an event concerns.
func (w *Watcher) event(inotify *os.File, number int32, mask uint32, name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.inotify != inotify {
		return
	}
	d := w.numbers[number]
	switch {
	case mask&syscall.IN_Q_OVERFLOW != 0: // events were lost: anything may have happened
		for _, d := range w.dirs {
			d.each(func(m *watch) { m.tell("") })
		}
	case d == nil:
	case mask&(syscall.IN_DELETE_SELF|syscall.IN_MOVE_SELF|syscall.IN_IGNORED|syscall.IN_UNMOUNT) != 0:
		delete(w.dirs, d.path)
		delete(w.numbers, number)
		d.each(func(m *watch) { m.end <- fmt.Errorf("the directory %s does not exist any more", d.path) })
		w.closeIfUnused()
	default:
		for m := range d.watches[name] {
			m.tell("")
		}
	}
}

func (d *dir) each(f func(*watch)) {
	for _, all := range d.watches {
		for m := range all {
			f(m)
		}
	}
}
