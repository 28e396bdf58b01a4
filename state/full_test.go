package state

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// tmpfs mounts a file system of a certain size, in KiB, and gives its directory
// and a way to make it larger.
func tmpfs(t *testing.T, size int) (dir string, grow func(size int)) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Fatal("this test mounts a file system: run it as root")
	}
	dir = t.TempDir()
	ok(t, syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%dk", size)))
	t.Cleanup(func() { ok(t, syscall.Unmount(dir, 0)) })
	return dir, func(size int) {
		ok(t, syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT, fmt.Sprintf("size=%dk", size)))
	}
}

// TestFullDisk runs applies on disks that are too small by more and more, and
// looks afterwards whether what was acknowledged is there, and whether all that
// was started is known to have been. With `make crash` there is a disk of each
// size, in pages.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	const resources = 12
	sizes, step := 32, 48
	if os.Getenv("DEPLOYSTER_CRASH") == "all" {
		sizes, step = 384, 4
	}
	began := 0
	for k := range sizes {
		dir, grow := tmpfs(t, 4+k*step)
		path := filepath.Join(dir, "s.json")
		facts := runUntilFull(t, path, resources)
		began += facts.started
		grow(16 << 10)
		s, rec, err := Load(File(path))
		ok(t, err)
		for _, addr := range facts.valid {
			if _, ok := s.Resources[addr]; !ok {
				t.Errorf("%d KiB: %s was said to be recorded, and is lost", 4+k*step, addr)
			}
		}
		if rec != nil && facts.finished {
			t.Errorf("%d KiB: a run that ended is to be recovered", 4+k*step)
		}
		if facts.started > 0 && rec == nil && !facts.finished {
			t.Errorf("%d KiB: actions were started, and nobody is told", 4+k*step)
		}
		// With room again everything goes on.
		recordRun(t, path, "after")
	}
	t.Logf("%d sizes, %d actions began", sizes, began)
	if began == 0 || began == sizes*resources {
		t.Errorf("%d actions began: the sizes do not straddle what is needed", began)
	}
}

// facts are what a run was told to be recorded.
type facts struct {
	started  int
	valid    []string
	finished bool
}

// runUntilFull records the work of a run until the disk is full.
func runUntilFull(t *testing.T, path string, resources int) facts {
	t.Helper()
	var f facts
	s, err := Open(t.Context(), File(path), Options{})
	if err != nil {
		noSpace(t, err)
		return f
	}
	defer func() { ok(t, s.Close()) }()
	j, err := s.Begin("p", s.Snapshot().Lineage)
	if err != nil {
		noSpace(t, err)
		return f
	}
	for i := range resources {
		addr := fmt.Sprintf("r%d", i)
		if err := j.ActionStarted(Start{Address: addr, Action: "make", Key: "k"}); err != nil {
			noSpace(t, err)
			break
		}
		f.started++
		if err := j.ActionEnded(addr, "make", End{Exit: 1, Reason: strings.Repeat("\x00", 2*maxReason)}); err != nil {
			t.Errorf("the outcome of an action that was started cannot be recorded: %v", err)
			break
		}
		if err := j.Valid(addr, entry(`{"text":"`+strings.Repeat("x", 60<<10)+`"}`)); err != nil {
			noSpace(t, err)
			break
		}
		f.valid = append(f.valid, addr)
	}
	if err := j.Finish(StatusError); err != nil {
		noSpace(t, err)
		f.finished = errors.Is(err, ErrNoCopy)
		return f
	}
	f.finished = true
	return f
}

func noSpace(t *testing.T, err error) {
	t.Helper()
	if !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("the disk is full, and the error is %v", err)
	}
}

// TestFullDisk_ReadOnlyFileSystem: there a state can be read under a lock, by whoever
// plans, and nothing else; an apply that runs elsewhere keeps its own.
func TestFullDisk_ReadOnlyFileSystem(t *testing.T) {
	t.Parallel()
	dir, _ := tmpfs(t, 1024)
	path := filepath.Join(dir, "s.json")
	recordRun(t, path, "a")
	remount := func(flags uintptr) {
		t.Helper()
		ok(t, syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT|flags, "size=1024k"))
	}
	remount(syscall.MS_RDONLY)
	s, err := ReadShared(t.Context(), File(path), Options{})
	ok(t, err)
	if len(s.Snapshot.Resources) != 1 {
		t.Errorf("%+v", s.Snapshot)
	}
	ok(t, s.Close())
	_, err = Open(t.Context(), File(path), Options{})
	refused(t, err, syscall.EROFS)
	_, err = Restore(t.Context(), File(path), 1, Options{})
	refused(t, err, syscall.EROFS)

	// Through another mount of the same directory somebody applies.
	other := t.TempDir()
	remount(0)
	ok(t, syscall.Mount(dir, other, "", syscall.MS_BIND, ""), syscall.Mount("", other, "", syscall.MS_REMOUNT|syscall.MS_BIND|syscall.MS_RDONLY, ""))
	defer func() { ok(t, syscall.Unmount(other, 0)) }()
	held := mustOpen(t, path)
	_, err = ReadShared(t.Context(), File(filepath.Join(other, "s.json")), Options{})
	refused(t, err, ErrLocked)
	ok(t, held.Close(), os.Remove(path+".lock"))
	s, err = ReadShared(t.Context(), File(filepath.Join(other, "s.json")), Options{})
	ok(t, err)
	ok(t, s.Close())
}
