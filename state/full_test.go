package state

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"deployster/state/capacity"
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

// TestFullDisk_KeepsAcknowledgedFacts runs applies on disks that are too small by more and more, and
// looks afterwards whether what was acknowledged is there, and whether all that
// was started is known to have been. With `make crash` there is a disk of each
// size, in pages.
func TestFullDisk_KeepsAcknowledgedFacts(t *testing.T) {
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
		if err := j.ActionEnded(addr, "make", End{Exit: 1, Reason: strings.Repeat("\x00", 2*capacity.MaxReason)}); err != nil {
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

// Room is reserved for what each running action may return: on a disk that is too small for two of them they run one after the other,
// and no end of an action that was started is lost, whatever else fills the disk.
func TestFullDisk_ReservesWhatActionsMayReturn(t *testing.T) {
	t.Parallel()
	const most = 4 << 20
	for name, c := range map[string]struct {
		size, actions, memory int // of the disk in KiB
		others                int // bytes that another program writes once the first action runs
		begin                 int // how many actions begin at least
	}{
		"one large memory, and the rest is full": {size: 6 << 10, actions: 1, memory: 3 << 20, others: 6 << 20, begin: 1},
		"small memories":                         {size: 8 << 10, actions: 12, memory: 250 << 10, begin: 4},
		"more small memories":                    {size: 12 << 10, actions: 20, memory: 250 << 10, begin: 8},
		"less than one may need":                 {size: 4 << 10, actions: 2, memory: 10},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, grow := tmpfs(t, c.size)
			path := filepath.Join(dir, "s.json")
			s := mustOpen(t, path)
			j, err := s.Begin("p", s.Snapshot().Lineage)
			ok(t, err)
			var all sync.WaitGroup
			var began atomic.Int32
			for i := range c.actions {
				all.Go(func() {
					addr := fmt.Sprintf("r%d", i)
					err := j.AwaitSpace(t.Context(), addr, "make", most)
					if err == nil {
						err = j.ActionStarted(Start{Address: addr, Action: "make", Key: "k", Remembers: true, Returns: most})
					}
					if err != nil {
						noSpace(t, err)
						return
					}
					began.Add(1)
					if c.others > 0 {
						_ = os.WriteFile(filepath.Join(dir, "other"), make([]byte, c.others), 0o600) // as much as there is room for
					}
					ok(t, j.ActionEnded(addr, "make", End{Memory: []byte(`"` + strings.Repeat("m", c.memory) + `"`)}))
				})
			}
			all.Wait()
			if int(began.Load()) < c.begin || c.begin == 0 && began.Load() > 0 {
				t.Errorf("%d actions began", began.Load())
			}
			if err := j.Finish(StatusError); err != nil {
				noSpace(t, err) // the next command has it from the journal
			}
			ok(t, s.Close())
			_ = os.Remove(filepath.Join(dir, "other"))
			grow(64 << 10)
			got, _, err := Load(File(path))
			ok(t, err)
			if open := got.Unknown(); len(open) > 0 {
				t.Errorf("the ends of %q are lost", open)
			}
		})
	}
}

// An interrupt ends the wait for room.
func TestFullDisk_WaitEndsWithItsContext(t *testing.T) {
	t.Parallel()
	dir, _ := tmpfs(t, 6<<10)
	s := mustOpen(t, filepath.Join(dir, "s.json"))
	defer func() { ok(t, s.Close()) }()
	j, err := s.Begin("p", s.Snapshot().Lineage)
	ok(t, err, j.AwaitSpace(t.Context(), "a", "make", 4<<20))
	ctx, cancel := context.WithCancel(t.Context())
	waits := make(chan error)
	go func() { waits <- j.AwaitSpace(ctx, "b", "make", 4<<20) }()
	select {
	case err := <-waits:
		t.Fatalf("it does not wait: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	cancel()
	if err := <-waits; !errors.Is(err, context.Canceled) {
		t.Errorf("it ends with %v", err)
	}
	go func() { waits <- j.AwaitSpace(t.Context(), "b", "make", 4<<20) }()
	time.Sleep(50 * time.Millisecond)
	j.GiveUp("a", "make")
	ok(t, <-waits)
}

// Other records do not take the room of an action that runs.
func TestFullDisk_OtherRecordsSpareTheRoomOfActions(t *testing.T) {
	t.Parallel()
	dir, grow := tmpfs(t, 6<<10)
	path := filepath.Join(dir, "s.json")
	s := mustOpen(t, path)
	j, err := s.Begin("p", s.Snapshot().Lineage)
	ok(t, err, j.ActionStarted(Start{Address: "a", Action: "make", Key: "k", Remembers: true, Returns: 4 << 20}))
	_ = os.WriteFile(filepath.Join(dir, "other"), make([]byte, 6<<20), 0o600) // as much as there is room for
	for err == nil {
		err = j.Valid("b", entry(`{"text":"`+strings.Repeat("x", 300<<10)+`"}`))
	}
	noSpace(t, err)
	ok(t, j.ActionEnded("a", "make", End{Memory: []byte(`"` + strings.Repeat("m", 4<<20-2) + `"`)}), s.Close())
	grow(64 << 10)
	got, _, err := Load(File(path))
	ok(t, err)
	if open := got.Unknown(); len(open) > 0 {
		t.Errorf("the ends of %q are lost", open)
	}
}
