// Probe is a program in a hostile image: it tries what shell tools cannot.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

func main() {
	runtime.LockOSThread()
	switch os.Args[1] {
	case "calls":
		answer(calls())
	case "files":
		answer(files(os.Args[2:]))
	case "descriptors":
		answer(map[string]string{"descriptors": descriptors()})
	case "outputs":
		answer(outputs())
	case "memory":
		memory()
	case "shm":
		answer(map[string]string{"dev_shm": fill("/dev/shm/x"), "dev": fill("/dev/x")})
	}
}

func answer(state map[string]string) {
	b, err := json.Marshal(map[string]any{"status": "VALID", "state": state})
	if err != nil {
		panic(err)
	}
	fmt.Println(string(b))
}

// word says how a call ended.
func word(err error) string {
	var e unix.Errno
	switch {
	case err == nil:
		return "done"
	case errors.As(err, &e):
		return unix.ErrnoName(e)
	}
	return err.Error()
}

func raw(nr uintptr, args ...uintptr) error {
	args = append(args, 0, 0, 0, 0, 0, 0)
	if _, _, e := unix.RawSyscall6(nr, args[0], args[1], args[2], args[3], args[4], args[5]); e != 0 {
		return e
	}
	return nil
}

// calls tries system calls that lead out of a container, or to parts of the
// kernel that had faults.
func calls() map[string]string {
	var buf [4096]byte
	page := uintptr(unsafe.Pointer(&buf))
	out := map[string]string{
		"mount":         word(unix.Mount("none", "/tmp", "tmpfs", 0, "")),
		"umount":        word(unix.Unmount("/proc", unix.MNT_DETACH)),
		"pivot_root":    word(unix.PivotRoot("/", "/")),
		"unshare_user":  word(unix.Unshare(unix.CLONE_NEWUSER)),
		"unshare_mount": word(unix.Unshare(unix.CLONE_NEWNS)),
		"setns":         word(setns()),
		"bpf":           word(raw(unix.SYS_BPF, 0, page, 64)),
		"keyctl":        word(raw(unix.SYS_KEYCTL, 0, ^uintptr(2))),
		"add_key":       word(raw(unix.SYS_ADD_KEY, page, page, page, 1, ^uintptr(2))),
		"perf":          word(raw(unix.SYS_PERF_EVENT_OPEN, page, 0, ^uintptr(0), ^uintptr(0))),
		"userfaultfd":   word(raw(unix.SYS_USERFAULTFD, 0)),
		"io_uring":      word(raw(unix.SYS_IO_URING_SETUP, 1, page)),
		"handle":        word(raw(unix.SYS_OPEN_BY_HANDLE_AT, ^uintptr(99), page, 0)),
		"module":        word(raw(unix.SYS_INIT_MODULE, page, 1, page)),
		"kexec":         word(raw(unix.SYS_KEXEC_LOAD, 0, 0, 0, 0)),
		"reboot":        word(raw(unix.SYS_REBOOT, 1, 2, 3)),
		"swapon":        word(raw(unix.SYS_SWAPON, page, 0)),
		"acct":          word(raw(unix.SYS_ACCT, 0)),
		"quotactl":      word(raw(unix.SYS_QUOTACTL, 0x800001<<8, page, 0, page)),
		"syslog":        word(raw(unix.SYS_SYSLOG, 2, page, 4096)),
		"settimeofday":  word(unix.Settimeofday(&unix.Timeval{Usec: -1})),
		"sethostname":   word(unix.Sethostname([]byte("x"))),
		"mknod":         word(unix.Mknod("/tmp/disk", unix.S_IFBLK|0o600, int(unix.Mkdev(254, 0)))),
		"fsopen":        word(raw(unix.SYS_FSOPEN, page, 0)),
	}
	out["packet_socket"], out["raw_socket"] = sockets()
	out["ptrace"] = word(unix.PtraceAttach(1))
	return out
}

func setns() error {
	fd, err := unix.Open("/proc/1/ns/mnt", unix.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return unix.Setns(fd, 0)
}

func sockets() (packet, raw string) {
	_, err1 := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW, 0)
	_, err2 := unix.Socket(unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP)
	return word(err1), word(err2)
}

// files tries to write to each of the files.
func files(paths []string) map[string]string {
	out := map[string]string{}
	for _, p := range paths {
		fd, err := unix.Open(p, unix.O_WRONLY|unix.O_NONBLOCK, 0)
		if err == nil {
			_, err = unix.Write(fd, []byte("1"))
			_ = unix.Close(fd)
		}
		out[p] = word(err)
	}
	return out
}

// descriptors opens files until there is an end to it.
func descriptors() string {
	for n := 0; ; n++ {
		if _, err := unix.Open("/", unix.O_RDONLY, 0); err != nil {
			return fmt.Sprintf("%s after %d thousand", word(err), (n+500)/1000)
		}
	}
}

// outputs tries to change what it has printed already, to read it, and to
// write into its own input.
func outputs() map[string]string {
	out := map[string]string{}
	for fd, name := range []string{"stdin", "stdout", "stderr"} {
		var st unix.Stat_t
		_ = unix.Fstat(fd, &st)
		out[name+"_is_pipe"] = fmt.Sprint(st.Mode&unix.S_IFMT == unix.S_IFIFO)
		_, err := unix.Seek(fd, 0, 0)
		out[name+"_seek"] = word(err)
		out[name+"_truncate"] = word(unix.Ftruncate(fd, 0))
	}
	own, err := unix.Open("/proc/self/exe", unix.O_WRONLY, 0)
	_ = unix.Close(own)
	out["own_program"] = word(err)
	return out
}

// memory takes all that it can get.
func memory() {
	for {
		b, err := unix.Mmap(-1, 0, 16<<20, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_POPULATE)
		if err != nil {
			os.Exit(9)
		}
		b[0] = 1
	}
}

// fill writes until there is no more room.
func fill(path string) string {
	f, err := os.Create(path)
	if err != nil {
		return word(err)
	}
	chunk := make([]byte, 1<<20)
	for n := 0; n < 256; n++ {
		if _, err := f.Write(chunk); err != nil {
			return fmt.Sprintf("%s after %d MiB", word(err), n)
		}
	}
	return "no end"
}
