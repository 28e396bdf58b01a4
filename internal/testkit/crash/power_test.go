//go:build linux && amd64

package crash_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"deployster/internal/testkit/crash"
)

// disk is a file system of its own, whose power can be cut.
type disk struct {
	t          *testing.T
	image, dir string
}

// newDisk makes one in a file below root. Whoever cannot mount cannot run the
// test, and is told so.
func newDisk(t *testing.T, root string, size int64, makeProgram ...string) *disk {
	t.Helper()
	d := &disk{t: t, image: filepath.Join(root, "disk"), dir: filepath.Join(root, "work")}
	f, err := os.Create(d.image)
	if err == nil {
		err = f.Truncate(size)
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	d.command(makeProgram[0], append(makeProgram[1:], d.image)...)
	d.mount()
	t.Cleanup(func() { _ = exec.Command("umount", d.dir).Run() }) // unless a failed test left it unmounted
	return d
}

func (d *disk) command(name string, args ...string) {
	d.t.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		d.t.Fatalf("%s: %v: %s", name, err, out)
	}
}

func (d *disk) mount() {
	d.t.Helper()
	d.command("mount", "-o", "loop", d.image, d.dir)
}

// cut is what a power cut does: from now on nothing reaches the disk, and what
// the kernel had not written is lost.
func (d *disk) cut() {
	d.t.Helper()
	const shutdown, noLogFlush = 0x8004587d, 2 // EXT4_IOC_SHUTDOWN, which is XFS's GOINGDOWN too
	f, err := os.Open(d.dir)
	if err != nil {
		d.t.Fatal(err)
	}
	defer f.Close()
	if err := unix.IoctlSetPointerInt(int(f.Fd()), shutdown, noLogFlush); err != nil {
		d.t.Fatalf("cut the power: %v", err)
	}
}

// restart is the machine's next start. A container that is being made elsewhere
// has a copy of all mounts for a moment: as long as one is there, the old file
// system goes on, and it is waited for.
func (d *disk) restart() {
	d.t.Helper()
	d.command("umount", d.dir)
	for range 1000 {
		out, err := exec.Command("losetup", "-j", d.image).Output()
		if err != nil {
			d.t.Fatalf("losetup: %v", err)
		}
		if len(out) == 0 {
			d.mount()
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	d.t.Fatal("the disk is still in use after ten seconds")
}

// TestPowerCut_KeepsAcknowledgedWork cuts the power while the subject works. What it does to the
// world is done outside of the disk, and stays.
func TestPowerCut_KeepsAcknowledgedWork(t *testing.T) {
	t.Parallel()
	for _, kind := range []struct {
		name string
		size int64
		make []string
	}{
		{"ext4", 16 << 20, []string{"mkfs.ext4", "-q", "-F"}},
		{"xfs", 304 << 20, []string{"mkfs.xfs", "-q", "-f"}},
	} {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			a := newArena(t, 4)
			a.log = filepath.Join(a.root, "world.log")
			d := newDisk(t, a.root, kind.size, kind.make...)
			acks := 0
			for round := range sample(10, 250) {
				acks += a.cutOnce(d, round)
			}
			t.Logf("%d facts were acknowledged before a cut", acks)
			if acks == 0 {
				t.Error("no fact was ever acknowledged before a cut: nothing was tested")
			}
		})
	}
}

// cutOnce applies one change and cuts the power after some of its facts.
func (a *arena) cutOnce(d *disk, round int) (acks int) {
	a.t.Helper()
	sc := scenario{after: map[string]string{}}
	for i := range 6 {
		sc.after[fmt.Sprintf("r%d", (round+i)%9)] = fmt.Sprint(round)
	}
	before, err := effects(a.log)
	if err != nil {
		a.t.Fatal(err)
	}
	a.old = len(before) // the state names its last hundred runs
	p := a.program(sc.after)
	c := exec.Command(p.Path)
	c.Args, c.Env, c.Dir, c.Stdout, c.Stderr = p.Args, p.Env, p.Dir, p.Output, p.Output
	if err := c.Start(); err != nil {
		a.t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	a.awaitFacts(p, 1+rand.IntN(18), ended)
	// A machine without power does nothing more. The subject is stopped before
	// the cut: an fsync that the cut meets may still say that all is well.
	freeze(a.t, c.Process.Pid)
	o := a.outcome(p, crash.Result{})
	d.cut()
	_ = c.Process.Kill() // unless it has ended
	<-ended
	_ = p.Output.Close()
	d.restart()
	faults, inFlight := a.faults(o)
	next := a.run(sc.after, crash.Point{})
	faults = append(append(faults, silent(inFlight, next)...), a.checkNext(next, sc)...)
	for _, f := range faults {
		a.t.Errorf("round %d, after %s: %s", round, o.output, f)
	}
	return len(o.said("valid")) + len(o.said("removed")) + len(o.said("started"))
}

// freeze stops all threads of a process; those that are in the kernel stop on
// their way out.
func freeze(t *testing.T, pid int) {
	t.Helper()
	if err := unix.Kill(pid, unix.SIGSTOP); err != nil {
		return // it has ended
	}
	for range 10000 {
		running := false
		tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
		for _, task := range tasks {
			stat, _ := os.ReadFile(task) // a thread that has ended has none
			_, state, _ := strings.Cut(string(stat), ") ")
			running = running || strings.HasPrefix(state, "R") || strings.HasPrefix(state, "S")
		}
		if !running {
			return
		}
		time.Sleep(100 * time.Microsecond)
	}
	t.Fatal("the subject does not stop")
}

// awaitFacts returns when the subject has said that n facts are recorded, or
// has ended.
func (a *arena) awaitFacts(p crash.Program, n int, ended chan error) {
	for {
		select {
		case err := <-ended:
			ended <- err
			return
		case <-time.After(200 * time.Microsecond):
		}
		text, err := os.ReadFile(p.Output.Name())
		if err != nil {
			a.t.Fatal(err)
		}
		if bytes.Count(text, []byte("\n")) >= n {
			return
		}
	}
}
