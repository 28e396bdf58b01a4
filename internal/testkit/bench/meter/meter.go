package meter

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"deployster/containerd"
	"deployster/internal/base/proc"
)

// clockTicks is how many make a second in /proc: so on all that Go runs on.
const clockTicks = 100

// Usage is what one run of one side took.
type Usage struct {
	Wall   time.Duration `json:"wallNanos"` // on the clock
	Work   time.Duration `json:"workNanos"` // of the processors, with all that ran on its behalf: servers, containers
	Memory int64         `json:"memoryMiB"` // the most that the command's process had
	Server int64         `json:"serverMiB"` // the most that the embedded containerd had meanwhile; 0 = there is none
	// Together is the most that both have had at one moment, what both have counted
	// once; 0 = nobody looked.
	Together int64 `json:"togetherMiB,omitempty"`
}

// Meter measures what commands take, together with all that runs on their
// behalf. The embedded containerd, its shims and its containers are nobody's
// children after a command has ended: so this process makes itself the one
// that orphans come to. Then all of them descend from it: what has ended is in
// its own account of children, and what lives is in /proc.
type Meter struct{}

// New returns a meter; orphans come to this process from now on.
func New() (Meter, error) {
	return Meter{}, unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
}

// Command is a program to be measured.
type Command struct {
	Dir  string
	Env  []string // beside the environment of this process
	Args []string
	// Together: it is watched how much memory it and its containerd have at one
	// moment.
	Together bool
}

// Run runs a command to its end.
func (m Meter) Run(ctx context.Context, c Command) (Usage, error) {
	var memory, most int64
	u, err := m.around(func() error {
		cmd := exec.CommandContext(ctx, c.Args[0], c.Args[1:]...)
		cmd.Dir, cmd.Env = c.Dir, append(os.Environ(), c.Env...)
		tail := &lastBytes{max: 20000}
		cmd.Stdout, cmd.Stderr = tail, tail
		cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
		cmd.WaitDelay = 20 * time.Second
		err := cmd.Start()
		if err == nil {
			stop := func() int64 { return 0 }
			if c.Together {
				stop = together(cmd.Process.Pid)
			}
			err = cmd.Wait()
			most = stop()
		}
		if err != nil {
			if ctx.Err() != nil {
				err = context.Cause(ctx)
			}
			return fmt.Errorf("%s %s: %w: %s", filepath.Base(c.Args[0]), strings.Join(c.Args[1:], " "), err,
				strings.TrimSpace(tail.String()))
		}
		if took, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
			memory = took.Maxrss >> 10
		}
		return nil
	})
	u.Memory, u.Together = memory, most
	return u, err
}

// Client runs what is a client in this process, whose own work counts too.
func (m Meter) Client(f func() error) (Usage, error) {
	before := rusage(unix.RUSAGE_SELF)
	u, err := m.around(f)
	u.Work += rusage(unix.RUSAGE_SELF) - before
	return u, err
}

// around measures what happens in f, and after it until all is quiet: what is
// cleared away later is work too, and must not disturb what comes next.
func (m Meter) around(f func() error) (u Usage, err error) {
	before := Settle()
	for _, pid := range Servers() {
		_ = os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0) // else its peak is that of its whole life
	}
	start := time.Now()
	err = f()
	u.Wall = time.Since(start)
	u.Work = Settle() - before
	return u, err
}

// ServersPeak is the most memory that the embedded containerds have had since
// what was measured last began.
func ServersPeak() (all int64) {
	for _, pid := range Servers() {
		all += peak(pid)
	}
	return all
}

// Settle waits until the Descendants of this process do nothing, for two
// seconds at most, and gives what they have taken so far.
func Settle() time.Duration {
	taken := Work()
	for range 20 {
		time.Sleep(100 * time.Millisecond)
		before := taken
		if taken = Work(); taken-before < 10*time.Millisecond {
			break
		}
	}
	return taken
}

// Work is the processor time of all that ever descended from this
// process. It takes in the orphans that have ended.
func Work() time.Duration {
	var live time.Duration
	for pid, s := range Descendants() {
		if s.parent == os.Getpid() && s.state == 'Z' {
			var status syscall.WaitStatus
			_, _ = syscall.Wait4(pid, &status, syscall.WNOHANG, nil) // nobody else waits for an orphan
			continue
		}
		live += s.work
	}
	return live + rusage(unix.RUSAGE_CHILDREN)
}

func rusage(who int) time.Duration {
	var r unix.Rusage
	if err := unix.Getrusage(who, &r); err != nil {
		return 0 // it knows both values of who
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// Process is what /proc says of one; work includes its children that have ended.
type Process struct {
	parent int
	state  byte
	work   time.Duration
}

// Descendants gives the processes below this one.
func Descendants() map[int]Process {
	all := map[int]Process{}
	names, _ := proc.Files("stat")
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		if p, ok := parseStat(string(text)); ok {
			all[pid] = p
		}
	}
	for pid := range all {
		above := pid
		for above > 1 && above != os.Getpid() {
			above = all[above].parent
		}
		if above != os.Getpid() || pid == os.Getpid() {
			delete(all, pid)
		}
	}
	return all
}

// parseStat reads a line of /proc/PID/stat. The program's name may have blanks
// and brackets in it.
func parseStat(text string) (Process, bool) {
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	if len(fields) < 15 {
		return Process{}, false
	}
	p := Process{state: fields[0][0]}
	p.parent, _ = strconv.Atoi(fields[1])
	for _, field := range fields[11:15] {
		ticks, _ := strconv.ParseInt(field, 10, 64)
		p.work += time.Duration(ticks) * time.Second / clockTicks
	}
	return p, true
}

// Servers gives the embedded containerds below this process.
func Servers() []int {
	var list []int
	for pid := range Descendants() {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)) // it may have ended
		if name, _, _ := bytes.Cut(text, []byte{0}); containerd.IsServer(string(name)) {
			list = append(list, pid)
		}
	}
	return list
}

// peak is the most memory that a process has had, in MiB.
func peak(pid int) int64 {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)) // it may have ended
	for l := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(l, "VmHWM:"); ok {
			kib, _ := strconv.ParseInt(strings.Fields(value)[0], 10, 64)
			return kib >> 10
		}
	}
	return 0
}

// lastBytes keeps the last of what is written: a large plan's text is long.
type lastBytes struct {
	max  int
	kept []byte
}

var _ io.Writer = (*lastBytes)(nil)

// Write keeps the end.
func (l *lastBytes) Write(p []byte) (int, error) {
	l.kept = append(l.kept, p...)
	if len(l.kept) > 2*l.max {
		l.kept = bytes.Clone(l.kept[len(l.kept)-l.max:])
	}
	return len(p), nil
}

func (l *lastBytes) String() string { return string(l.kept[max(0, len(l.kept)-l.max):]) }
