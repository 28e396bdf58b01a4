// Probe is a type whose state is what it finds out about its own container. It
// is built and packed by the script verb of the same name, and compares well:
// what differs between machines that are equally safe is left out.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

func main() {
	_, _ = io.Copy(io.Discard, os.Stdin)
	answer := any(map[string]any{"status": "VALID", "state": map[string]any{
		"who":     who(),
		"hidden":  each(hidden, hiddenPaths...),
		"writes":  each(writes, writtenPaths...),
		"mounts":  mounts(),
		"limits":  limits(),
		"network": network(),
		"devices": names("/dev"),
		"world":   world(),
		"calls":   calls(),
	}})
	if len(os.Args) == 1 {
		answer = json.RawMessage(`{"plugs":{"seen":{"container_path":"/seen","optional":true},` +
			`"kept":{"container_path":"/kept","optional":true,"writable":false}},"state_action":{"args":["state"]}}`)
	}
	if err := json.NewEncoder(os.Stdout).Encode(answer); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func each(look func(string) string, paths ...string) map[string]string {
	out := map[string]string{}
	for _, p := range paths {
		out[p] = look(p)
	}
	return out
}

// outcome is how a call ended: refused, also by a kernel that does not have it,
// or let through, whatever it then made of bad arguments.
func outcome(err error) string {
	var e unix.Errno
	if !errors.As(err, &e) {
		return "done"
	}
	if slices.Contains([]unix.Errno{unix.EPERM, unix.EACCES, unix.EROFS, unix.ENOENT, unix.ENOSYS}, e) {
		return "refused"
	}
	return "let through: " + unix.ErrnoName(e)
}

// who gives users, capabilities and the like, as the kernel tells them.
func who() map[string]string {
	out := map[string]string{}
	b, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(b)) {
		name, value, _ := strings.Cut(line, ":")
		switch name {
		case "Uid", "Gid", "Groups", "NoNewPrivs", "Seccomp", "CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb":
			out[name] = strings.Join(strings.Fields(value), " ")
		}
	}
	return out
}

var hiddenPaths = []string{
	"/proc/acpi", "/proc/asound", "/proc/interrupts", "/proc/kcore", "/proc/keys", "/proc/latency_stats", "/proc/sched_debug",
	"/proc/scsi", "/proc/timer_list", "/proc/timer_stats", "/sys/devices/virtual/powercap", "/sys/firmware", "/sys/fs/cgroup",
	"/sys/devices/system/cpu/cpu0/thermal_throttle", "/proc/kmsg", "/dev/mem", "/dev/kmsg", "/sys/kernel/debug", "/sys/kernel/security",
}

// hidden reports whether there is anything to be learned at a path.
func hidden(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return "hidden"
	}
	if info.IsDir() {
		entries, _ := os.ReadDir(path)
		if len(entries) == 0 {
			return "hidden"
		}
		return fmt.Sprintf("%d entries", len(entries))
	}
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return "hidden"
	}
	defer unix.Close(fd)
	if n, err := unix.Read(fd, make([]byte, 16)); err != nil || n <= 0 {
		return "hidden"
	}
	return "readable"
}

var writtenPaths = []string{
	"/new", "/tmp/new", "/etc/hosts", "/etc/resolv.conf", "/proc/sys/kernel/hostname", "/proc/sys/kernel/core_pattern",
	"/proc/sysrq-trigger",
	"/proc/sys/vm/drop_caches", "/proc/self/oom_score_adj", "/sys/kernel/uevent_helper", "/sys/new", "/dev/new", "/dev/shm/new",
	"/seen/new", "/kept/new",
}

// writes opens a file for writing, and makes it if it is not there.
func writes(path string) string {
	fd, err := unix.Open(path, unix.O_WRONLY|unix.O_CREAT, 0o600)
	if err != nil {
		return outcome(err)
	}
	_ = unix.Close(fd)
	if strings.HasSuffix(path, "/new") {
		_ = os.Remove(path)
	}
	return "opened"
}

// mounts gives the type and the flags of each mount, but for those that hide
// something; shared ones would say so.
func mounts() map[string]string {
	out := map[string]string{}
	b, _ := os.ReadFile("/proc/self/mountinfo")
	for line := range strings.Lines(string(b)) {
		f := strings.Fields(line)
		dash := slices.Index(f, "-")
		at := f[4]
		if strings.HasPrefix(at, "/proc/") || strings.HasPrefix(at, "/sys/") {
			continue
		}
		options := slices.DeleteFunc(strings.Split(f[5], ","), func(o string) bool { return strings.HasSuffix(o, "atime") })
		kind := f[dash+1]
		if at == "/seen" || at == "/kept" || strings.HasPrefix(at, "/etc/") || at == "/work" || at == os.Getenv("WORK") {
			kind = "bind" // of whatever file system the host has
		}
		if at == os.Getenv("WORK") {
			at = "WORK"
		}
		out[at] = strings.TrimSpace(kind + " " + strings.Join(options, ",") + " " + strings.Join(f[6:dash], " "))
	}
	return out
}

func limits() map[string]string {
	out := map[string]string{}
	for name, which := range map[string]int{"nofile": unix.RLIMIT_NOFILE, "core": unix.RLIMIT_CORE, "fsize": unix.RLIMIT_FSIZE} {
		var l unix.Rlimit
		if err := unix.Getrlimit(which, &l); err != nil {
			out[name] = outcome(err)
			continue
		}
		// Go raises its own limit to the hard one.
		out[name] = fmt.Sprint(int64(l.Max))
	}
	score, _ := os.ReadFile("/proc/self/oom_score_adj")
	out["oom_score_adj"] = strings.TrimSpace(string(score))
	return out
}

func network() map[string]string {
	out := map[string]string{"interfaces": "those of the host"}
	list, err := net.Interfaces()
	if err != nil {
		out["interfaces"] = err.Error()
	} else if len(list) == 1 && list[0].Flags&net.FlagLoopback != 0 {
		out["interfaces"] = "loopback only"
	}
	for name, args := range map[string][3]int{
		"raw socket": {unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP}, "packet socket": {unix.AF_PACKET, unix.SOCK_RAW, 0},
		"vsock": {unix.AF_VSOCK, unix.SOCK_STREAM, 0}, "stream socket": {unix.AF_INET, unix.SOCK_STREAM, 0},
	} {
		fd, err := unix.Socket(args[0], args[1], args[2])
		if out[name] = outcome(err); err == nil {
			_ = unix.Close(fd)
		}
	}
	return out
}

func names(dir string) []string {
	entries, _ := os.ReadDir(dir)
	out := []string{}
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

// world gives what the processes of the container have in common.
func world() map[string]string {
	out := map[string]string{"pid": fmt.Sprint(os.Getpid())}
	out["cwd"], _ = os.Getwd()
	if out["cwd"] == os.Getenv("WORK") {
		out["cwd"] = "WORK"
	}
	if out["hostname"], _ = os.Hostname(); out["hostname"] == os.Getenv("HOST") {
		out["hostname"] = "the host's"
	}
	processes, _ := filepath.Glob("/proc/[0-9]*")
	out["processes"] = fmt.Sprint(len(processes))
	b, _ := os.ReadFile("/proc/self/cgroup")
	out["cgroup"] = "its own root"
	for line := range strings.Lines(string(b)) {
		if !strings.HasSuffix(line, ":/\n") {
			out["cgroup"] = line
		}
	}
	open, _ := os.ReadDir("/proc/self/fd")
	extra := 0
	for _, e := range open {
		to, _ := os.Readlink("/proc/self/fd/" + e.Name())
		if n := e.Name(); n != "0" && n != "1" && n != "2" && strings.HasPrefix(to, "/") && !strings.HasPrefix(to, "/proc/") {
			extra++
		}
	}
	out["files left open"] = fmt.Sprint(extra)
	return out
}

// calls makes system calls that no type needs, in a way that does no harm where
// they are let through.
func calls() map[string]string {
	out := map[string]string{}
	for name, c := range map[string][4]uintptr{
		"mount": {unix.SYS_MOUNT}, "umount2": {unix.SYS_UMOUNT2}, "pivot_root": {unix.SYS_PIVOT_ROOT}, "open_tree": {unix.SYS_OPEN_TREE},
		"fsopen": {unix.SYS_FSOPEN}, "move_mount": {unix.SYS_MOVE_MOUNT}, "mount_setattr": {unix.SYS_MOUNT_SETATTR},
		"setns": {unix.SYS_SETNS}, "bpf": {unix.SYS_BPF}, "perf_event_open": {unix.SYS_PERF_EVENT_OPEN},
		"userfaultfd": {unix.SYS_USERFAULTFD},
		"keyctl":      {unix.SYS_KEYCTL}, "add_key": {unix.SYS_ADD_KEY}, "request_key": {unix.SYS_REQUEST_KEY},
		"io_uring_setup": {unix.SYS_IO_URING_SETUP},
		"kexec_load":     {unix.SYS_KEXEC_LOAD}, "init_module": {unix.SYS_INIT_MODULE}, "delete_module": {unix.SYS_DELETE_MODULE},
		"reboot": {unix.SYS_REBOOT}, "swapon": {unix.SYS_SWAPON}, "acct": {unix.SYS_ACCT, 1}, "quotactl": {unix.SYS_QUOTACTL},
		"sethostname": {unix.SYS_SETHOSTNAME, 1, 1}, "settimeofday": {unix.SYS_SETTIMEOFDAY, 1}, "syslog": {unix.SYS_SYSLOG, 2},
		"open_by_handle_at": {unix.SYS_OPEN_BY_HANDLE_AT}, "unshare user": {unix.SYS_UNSHARE, unix.CLONE_NEWUSER},
		"unshare mounts": {unix.SYS_UNSHARE, unix.CLONE_NEWNS}, "fanotify_init": {unix.SYS_FANOTIFY_INIT, ^uintptr(0)},
	} {
		_, _, e := unix.RawSyscall(c[0], c[1], c[2], c[3])
		if out[name] = "done"; e != 0 {
			out[name] = outcome(e)
		}
	}
	out["mknod"] = outcome(unix.Mknod("/dev/shm/node", unix.S_IFBLK|0o600, int(unix.Mkdev(7, 0))))
	return out
}
