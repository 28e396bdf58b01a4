//go:build linux && amd64

package crash

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// Point says what is done at which call.
type Point struct {
	Dir  string   // only calls on files below it count; absolute, without links
	Also []string // more such directories
	// Sockets: what is written to sockets counts too, as calls on "socket".
	Sockets bool
	// At is the call, from 1 on; 0 = none, only count.
	At int
	// Errno is what the call fails with; 0 = the process is killed before it.
	Errno syscall.Errno
	// Reads: files and directories that are opened for reading count too.
	Reads bool
	// Only, if given, says which calls count.
	Only func(Call) bool
}

// Result is what became of the program.
type Result struct {
	Calls  []Call // that counted, as far as it got
	Hit    *Call  // where the fault was put; nil = it did not get there
	Exit   int    // its exit code; -1 = a signal ended it
	Killed bool   // by us
}

// Program is what is run.
type Program struct {
	Path   string
	Args   []string // with the program's name
	Env    []string
	Dir    string   // its working directory
	Output *os.File // stdout and stderr
	Quiet  bool     // it calls Quiet, and starts no other program
}

// Run runs a program and puts one fault into it. Children of the program are
// not looked at.
func Run(p Program, at Point) (Result, error) {
	type answer struct {
		result Result
		err    error
	}
	done := make(chan answer)
	go func() {
		// ptrace belongs to a thread. It is not given back: whatever state it is
		// in ends with it.
		runtime.LockOSThread()
		t := &tracer{at: at, resume: syscall.PtraceSyscall, inside: map[int]bool{}, pending: map[int]bool{}}
		if p.Quiet {
			t.resume = syscall.PtraceCont
		}
		err := t.run(p)
		done <- answer{t.result, err}
	}()
	a := <-done
	return a.result, a.err
}

// tracer follows the threads of one process.
type tracer struct {
	at      Point
	pid     int
	resume  func(tid, signal int) error // lets a thread run to its next stop
	inside  map[int]bool                // threads that are in a system call
	pending map[int]bool                // threads whose call was taken away and shall fail
	result  Result
}

func (t *tracer) run(p Program) error {
	in, err := os.Open(os.DevNull)
	if err != nil {
		return err
	}
	defer in.Close()
	t.pid, err = syscall.ForkExec(p.Path, p.Args, &syscall.ProcAttr{Dir: p.Dir, Env: p.Env,
		Files: []uintptr{in.Fd(), p.Output.Fd(), p.Output.Fd()}, Sys: &syscall.SysProcAttr{Ptrace: true, Setpgid: true}})
	if err != nil {
		return fmt.Errorf("start %s: %w", p.Path, err)
	}
	var status syscall.WaitStatus
	if _, err := t.wait(t.pid, &status); err != nil {
		return err
	}
	const options = unix.PTRACE_O_TRACESYSGOOD | unix.PTRACE_O_TRACECLONE | unix.PTRACE_O_TRACESECCOMP | unix.PTRACE_O_EXITKILL
	if err := syscall.PtraceSetOptions(t.pid, options); err != nil {
		return fmt.Errorf("ptrace: %w", err)
	}
	if err := t.resume(t.pid, 0); err != nil {
		return fmt.Errorf("ptrace: %w", err)
	}
	return t.follow()
}

// wait waits for threads of this tracer only: others may run beside it. The
// process has a group of its own, so that children which this thread has
// started before it became a tracer are left to those who wait for them.
func (t *tracer) wait(pid int, status *syscall.WaitStatus) (int, error) {
	const noThread = 0x20000000 // __WNOTHREAD
	for {
		tid, err := syscall.Wait4(pid, status, syscall.WALL|noThread, nil)
		if !errors.Is(err, syscall.EINTR) {
			return tid, err
		}
	}
}

// follow lets the threads run from stop to stop until the process has ended.
func (t *tracer) follow() error {
	for {
		var status syscall.WaitStatus
		tid, err := t.wait(-t.pid, &status)
		if err != nil {
			return fmt.Errorf("wait: %w", err)
		}
		if status.Exited() || status.Signaled() {
			delete(t.inside, tid)
			if tid == t.pid {
				t.result.Exit = status.ExitStatus()
				return nil
			}
			continue
		}
		deliver := 0
		switch signal := status.StopSignal(); signal {
		case syscall.SIGTRAP | 0x80:
			t.syscall(tid)
		case syscall.SIGTRAP, syscall.SIGSTOP: // events, and threads that begin
			if status.TrapCause() == unix.PTRACE_EVENT_SECCOMP {
				t.announced(tid)
			}
		default:
			deliver = int(signal)
		}
		if err := t.resume(tid, deliver); err != nil && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("ptrace: %w", err)
		}
	}
}

// syscall looks at a thread that enters or leaves a call.
func (t *tracer) syscall(tid int) {
	t.inside[tid] = !t.inside[tid]
	var regs syscall.PtraceRegs
	if syscall.PtraceGetRegs(tid, &regs) != nil {
		return // it was just killed
	}
	if !t.inside[tid] {
		if t.pending[tid] {
			delete(t.pending, tid)
			regs.Rax = uint64(-int64(t.at.Errno))
			_ = syscall.PtraceSetRegs(tid, &regs) // fails only when it was just killed
		}
		return
	}
	if t.fails(tid, &regs) {
		regs.Orig_rax = ^uint64(0) // no such call: the kernel does nothing
		t.pending[tid] = true
		_ = syscall.PtraceSetRegs(tid, &regs)
	}
}

// announced looks at a thread of a quiet program that is about to make a call.
// What it is given as the result stays, when there is no such call.
func (t *tracer) announced(tid int) {
	var regs syscall.PtraceRegs
	if syscall.PtraceGetRegs(tid, &regs) != nil {
		return // it was just killed
	}
	if t.fails(tid, &regs) {
		regs.Orig_rax, regs.Rax = ^uint64(0), uint64(-int64(t.at.Errno))
		_ = syscall.PtraceSetRegs(tid, &regs)
	}
}

// fails counts a call that a thread is about to make, and reports whether it is to
// fail. The call before which the process is to end does end it.
func (t *tracer) fails(tid int, regs *syscall.PtraceRegs) bool {
	call, ok := classify(tid, regs, t.at)
	if !ok || t.at.Only != nil && !t.at.Only(call) {
		return false
	}
	t.result.Calls = append(t.result.Calls, call)
	if len(t.result.Calls) != t.at.At {
		return false
	}
	t.result.Hit = &call
	if t.at.Errno == 0 {
		t.result.Killed = true
		_ = syscall.Kill(t.pid, syscall.SIGKILL) // it is stopped, so it is there
	}
	return t.at.Errno != 0
}
