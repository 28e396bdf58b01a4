package durable

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

func TestLog_KeepsOrderAndIsNew(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log")
	l, err := CreateLog(path, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		end, err := l.Write(fmt.Appendf(nil, "%d\n", i))
		if err != nil {
			t.Fatal(err)
		}
		if l.Durable() >= end {
			t.Errorf("record %d is called durable before its sync", i)
		}
		if err := l.Sync(end); err != nil {
			t.Fatal(err)
		}
		if l.Durable() < end {
			t.Errorf("record %d is not durable after its sync", i)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(path); string(got) != "0\n1\n2\n" {
		t.Errorf("content %q", got)
	}
	if _, err := CreateLog(path, 0o600); !errors.Is(err, os.ErrExist) {
		t.Errorf("an old log was opened as a new one: %v", err)
	}
	if _, err := l.Write(nil); !errors.Is(err, os.ErrClosed) {
		t.Errorf("write after close: %v", err)
	}
}

// TestLog_SharesSyncs lets many writers wait for a slow disk: those that come
// while an fsync runs share the next one, and nobody returns before an fsync
// that began after its own write.
func TestLog_SharesSyncs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, sharesSyncs)
}

// sharesSyncs is in a bubble: an fsync ends when all others wait, however slow the machine is.
func sharesSyncs(t *testing.T) {
	var mu sync.Mutex
	var confirmed int64 // the size of the file when the last finished fsync began
	syncs := 0
	o := system()
	o.sync = func(f *os.File) error {
		info, err := f.Stat()
		if err != nil {
			return err
		}
		time.Sleep(2 * time.Millisecond)
		mu.Lock()
		defer mu.Unlock()
		confirmed = info.Size()
		syncs++
		return nil
	}
	l, err := createLog(o, filepath.Join(t.TempDir(), "log"), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	const writers, each = 16, 20
	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() {
			for range each {
				end, err := l.Write(bytes.Repeat([]byte("x"), 7))
				if err == nil {
					err = l.Sync(end)
				}
				mu.Lock()
				if err != nil || confirmed < end {
					t.Errorf("returned with %d bytes confirmed, wrote up to %d, error %v", confirmed, end, err)
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if syncs > writers*each/4 {
		t.Errorf("%d fsyncs for %d records of %d writers: they are not shared", syncs, writers*each, writers)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestLog_FaultsAreForGood(t *testing.T) {
	t.Parallel()
	for _, step := range []string{"write", "sync"} {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			var steps []string
			o := traced(&steps, step, syscall.EIO)
			l, err := createLog(o, filepath.Join(t.TempDir(), "log"), 0o600)
			if err != nil {
				t.Fatal(err)
			}
			end, err := l.Write([]byte("lost"))
			if err == nil {
				err = l.Sync(end)
			}
			if !errors.Is(err, syscall.EIO) {
				t.Fatalf("error %v", err)
			}
			before := len(steps)
			if _, err := l.Write([]byte("more")); !errors.Is(err, syscall.EIO) {
				t.Errorf("a write after the failure: %v", err)
			}
			if err := l.Sync(4); !errors.Is(err, syscall.EIO) {
				t.Errorf("a sync after the failure: %v", err)
			}
			if len(steps) != before {
				t.Errorf("tried again after a failure: %v", steps[before:])
			}
		})
	}
}

// TestLog_LetsNobodyWaitForever: when an fsync fails, all who wait for it and for
// the next one are told, and nobody is told that what it had is durable.
func TestLog_LetsNobodyWaitForever(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var confirmed, syncs int64
	o := system()
	o.sync = func(f *os.File) error {
		info, err := f.Stat()
		if err != nil {
			return err
		}
		time.Sleep(2 * time.Millisecond) // meanwhile others come, and wait for the next one
		mu.Lock()
		defer mu.Unlock()
		if syncs++; syncs > 5 {
			return syscall.EIO
		}
		confirmed = info.Size()
		return nil
	}
	l, err := createLog(o, filepath.Join(t.TempDir(), "log"), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			time.Sleep(time.Duration(i) * 300 * time.Microsecond)
			for {
				end, err := l.Write([]byte("fact"))
				if err == nil {
					err = l.Sync(end)
				}
				mu.Lock()
				known := confirmed
				mu.Unlock()
				if err == nil && known < end {
					t.Errorf("told that %d bytes are durable, %d are", end, known)
				}
				if err != nil {
					if !errors.Is(err, syscall.EIO) {
						t.Errorf("error %v", err)
					}
					return
				}
			}
		})
	}
	wg.Wait()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestCreateLog_NeedsItsName(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log")
	var steps []string
	if _, err := createLog(traced(&steps, "syncDir", syscall.EIO), path, 0o600); !errors.Is(err, syscall.EIO) {
		t.Fatalf("error %v", err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a log whose name is not durable was left: %v", err)
	}
}

// TestReserve_ReturnsUnusedSpace: room is asked for before it is needed, what the disk refuses is
// an error that leaves the log usable, and what was not used is given back.
func TestReserve_ReturnsUnusedSpace(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log")
	asked := 0
	o := system()
	full := false
	o.allocate = func(f *os.File, off, n int64) error {
		asked++
		if full {
			return syscall.ENOSPC
		}
		return allocate(f, off, n)
	}
	l, err := createLog(o, path, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for range 3 {
		if err := l.Reserve(100 << 10); err != nil {
			t.Fatal(err)
		}
	}
	if asked != 1 {
		t.Errorf("room was asked for %d times, once is enough", asked)
	}
	blocks := func() (size, held int64) {
		var st syscall.Stat_t
		if err := syscall.Stat(path, &st); err != nil {
			t.Fatal(err)
		}
		return st.Size, st.Blocks * 512
	}
	if size, held := blocks(); size != 0 || held < 1<<20 {
		t.Errorf("size %d, held %d", size, held)
	}
	full = true
	if err := l.Reserve(8 << 20); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("a full disk: %v", err)
	}
	end, err := l.Write([]byte("fact"))
	if err == nil {
		err = l.Sync(end)
	}
	if err != nil {
		t.Errorf("the log is broken by a refusal: %v", err)
	}
	l.Release()
	if size, held := blocks(); size != 4 || held > 64<<10 {
		t.Errorf("after the release: size %d, held %d", size, held)
	}
}

// TestLog_NoRoomBeyondTheLimit: what a process may not write, for its own limit, is
// no room.
func TestLog_NoRoomBeyondTheLimit(t *testing.T) {
	t.Parallel()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), "DURABLE_TEST_LIMIT="+filepath.Join(t.TempDir(), "log"))
	if out, err := child.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// limited is a process that may write 64 KiB into a file; it gives its exit code.
func limited(path string) int {
	const most = 64 << 10
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: most, Max: most}); err != nil {
		println(err.Error())
		return 1
	}
	l, err := CreateLog(path, 0o600)
	if err != nil {
		println(err.Error())
		return 1
	}
	if err := l.Reserve(most); err != nil {
		println("room that there is:", err.Error())
		return 1
	}
	if err := l.Reserve(most + 1); !errors.Is(err, syscall.EFBIG) {
		println("room that there is not was promised")
		return 1
	}
	return 0
}
