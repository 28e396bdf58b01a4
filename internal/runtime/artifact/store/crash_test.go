//go:build linux && amd64

package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"deployster/internal/testkit/crash"
)

// subjectVariable makes this binary a process that fetches one version into a store.
const subjectVariable = "DEPLOYSTER_STORE_SUBJECT"

func TestMain(m *testing.M) {
	dir := os.Getenv(subjectVariable)
	if dir == "" {
		os.Exit(m.Run())
	}
	s := New(Options{Dir: dir, Client: newWorld(), Command: "subject"})
	_, err := s.Fetch(context.Background(), order("1"))
	if err = errors.Join(err, s.Close()); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

// crashed runs the subject with a fault, and then looks at what it left: an entry is whole
// or not there, and who comes next has it and leaves nothing else.
func crashed(t *testing.T, at crash.Point) crash.Result {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	output, err := os.Create(filepath.Join(root, "output"))
	if err != nil {
		t.Fatal(err)
	}
	defer output.Close()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	at.Dir = filepath.Join(root, "store")
	r, err := crash.Run(crash.Program{Path: self, Args: []string{"subject"}, Dir: root, Output: output,
		Env: append(os.Environ(), subjectVariable+"="+at.Dir, "TMPDIR="+root)}, at)
	if err != nil {
		t.Fatal(err)
	}
	l := &env{New(Options{Dir: at.Dir, Client: newWorld(), Command: "next"}), nil}
	defer l.close(t)
	if damage, err := l.Verify(t.Context()); err != nil || len(damage) > 0 {
		t.Errorf("%v leaves %+v, %v", r.Hit, damage, err)
	}
	if list, err := l.List(); err != nil || r.Exit == 0 && len(list) != 1 {
		t.Errorf("%v: said to be there are %+v, %v", r.Hit, list, err)
	}
	l.fetch(t, "1")
	entries, err := os.ReadDir(at.Dir)
	if err != nil || slices.ContainsFunc(entries, func(e os.DirEntry) bool { return strings.HasSuffix(e.Name(), draftSuffix) }) {
		t.Errorf("%v leaves a draft: %v, %v", r.Hit, entries, err)
	}
	return r
}

func TestStore_KilledAtEachCall(t *testing.T) {
	at := 1
	for ; ; at++ {
		if r := crashed(t, crash.Point{At: at}); r.Hit == nil {
			break
		}
	}
	if at < 10 {
		t.Errorf("only %d points", at)
	}
	t.Logf("%d points", at)
}

func TestStore_DiskFaultAtEachCall(t *testing.T) {
	for _, errno := range []syscall.Errno{unix.EIO, unix.ENOSPC} {
		for at := 1; ; at++ {
			if r := crashed(t, crash.Point{At: at, Errno: errno}); r.Hit == nil {
				break
			}
		}
	}
}

// All that an entry has is on the disk before it has its name, and then its name is.
func TestStore_IsOnTheDiskBeforeItHasItsName(t *testing.T) {
	calls := crashed(t, crash.Point{}).Calls
	named := slices.IndexFunc(calls, func(c crash.Call) bool {
		return strings.HasPrefix(c.Name, "rename") && !strings.Contains(c.Path, draftSuffix)
	})
	if named < 1 || named+1 >= len(calls) {
		t.Fatalf("no entry got its name: %v", calls)
	}
	before, after := calls[named-1], calls[named+1]
	if before.Name != "syncfs" || !strings.HasSuffix(before.Path, draftSuffix) || after.String() != "fsync ." {
		t.Errorf("the name comes between %s and %s, in %v", before, after, calls)
	}
}
