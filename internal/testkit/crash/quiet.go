//go:build linux && amd64

package crash

import (
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Quiet makes this process, with all its threads, stop for the one who traces it
// only at calls that may count, which is many times cheaper than at every one. A
// program whose Program.Quiet is set calls it before it touches a file that
// counts, and starts no other program: that would not be traced, and its calls
// would fail.
func Quiet() error {
	filter := quietFilter()
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	// The filter of a process without privileges must not give any to a program
	// that it starts. Both calls are about the thread that makes them.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no new privileges: %w", err)
	}
	other, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC,
		uintptr(unsafe.Pointer(&program)))
	if errno != 0 {
		return fmt.Errorf("seccomp: %w", errno)
	}
	if other != 0 {
		return fmt.Errorf("seccomp: thread %d has another filter", other)
	}
	return nil
}

// quietFilter is the program that the kernel runs for each call.
func quietFilter() []unix.SockFilter {
	const number, arch = 0, 4 // where they are in struct seccomp_data
	load := func(at uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at}
	}
	give := func(what uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: what}
	}
	out := []unix.SockFilter{
		load(arch),
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.AUDIT_ARCH_X86_64, Jt: 1},
		give(unix.SECCOMP_RET_ALLOW),
		load(number),
	}
	left := uint8(len(counted))
	for nr := range counted {
		out = append(out, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: uint32(nr), Jt: left})
		left--
	}
	return append(out, give(unix.SECCOMP_RET_ALLOW), give(unix.SECCOMP_RET_TRACE))
}
