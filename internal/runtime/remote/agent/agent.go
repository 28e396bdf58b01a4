package agent

import (
	"bufio"
	"context"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"deployster/internal/base/machineid"
	"deployster/internal/runtime/artifact"
	"deployster/internal/runtime/guard"
	"deployster/internal/runtime/remote"
	"deployster/internal/runtime/runner"
	"deployster/protocol"
)

// Runtime adopts actions and receives images on this machine.
type Runtime interface {
	runner.Adopter
	Running(ctx context.Context, id string) (bool, error)
	Receive(ctx context.Context, s runner.Shipment, from runner.Contents) error
}

// Store keeps files of artifacts. *store.Store of internal/runtime/artifact implements it.
type Store interface {
	Receive(ctx context.Context, key, name, hash string, unpack func(dir string) error) (artifact.Held, error)
}

// Options are the parts of a Machine.
type Options struct {
	Runner   runner.Runner   // runs images, in workers where possible
	Launcher runner.Launcher // starts programs that report changes
	Runtime  Runtime
	DataDir  string // an absolute path; has the machine's identity and the fences
	Build    string // of this program
	Runc     string // the version of runc; "" = unknown
	// Look returns where a plug leads, given all plugs.
	Look func(plug remote.Plug, all []remote.Plug) (string, error)
	// Files keeps the files of artifacts.
	Files Store
	// Guards undo guarded actions.
	Guards guard.Guards
}

// Machine is this machine as a remote.Place, for one client.
type Machine struct {
	runner.Runner
	Runtime
	o      Options
	acting sync.Mutex
	mine   fence // of the client that was admitted; guarded by acting from its first action on

	mu    sync.Mutex
	files map[string]string // key -> the directory with the files that the client has sent
}

// New returns a Machine.
func New(o Options) *Machine {
	return &Machine{Runner: o.Runner, Runtime: o.Runtime, o: o, files: map[string]string{}}
}

// Enter implements remote.Place. The caller calls it once.
func (m *Machine) Enter(ctx context.Context, h remote.Hello) (remote.Welcome, error) {
	if h.Epoch != 0 {
		if err := m.enter(ctx, h); err != nil {
			return remote.Welcome{}, err
		}
	}
	if h.Epoch != 0 {
		if err := m.o.Guards.Settle(ctx, holderOf(h)); err != nil {
			return remote.Welcome{}, err
		}
	}
	pending, err := m.pending()
	if err != nil {
		return remote.Welcome{}, err
	}
	facts, err := m.facts()
	if err != nil {
		return remote.Welcome{}, err
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return remote.Welcome{}, err
	}
	var disk unix.Statfs_t
	if err := unix.Statfs(m.o.DataDir, &disk); err != nil {
		return remote.Welcome{}, err
	}
	return remote.Welcome{Build: m.o.Build, Boot: strings.TrimSpace(string(boot)), Facts: facts, Clock: time.Now(), Runc: m.o.Runc,
		Pending: pending, Free: int64(disk.Bavail) * disk.Bsize}, nil
}

// Look implements remote.Place.
func (m *Machine) Look(_ context.Context, plugs []remote.Plug) []remote.Seen {
	list := make([]remote.Seen, 0, len(plugs))
	for _, plug := range plugs {
		path, err := m.o.Look(plug, plugs)
		seen := remote.Seen{Path: path}
		if err == nil {
			_, err = os.Lstat(path)
		}
		if err != nil {
			seen.Error = err.Error()
		}
		list = append(list, seen)
	}
	return list
}

// facts reads the facts of this machine.
func (m *Machine) facts() (protocol.HostFacts, error) {
	f := protocol.HostFacts{Arch: runtime.GOARCH, CPUs: runtime.NumCPU()}
	var err error
	if f.Hostname, err = os.Hostname(); err != nil {
		return f, err
	}
	release := osRelease("/etc/os-release")
	f.OS, f.OSVersion = release["ID"], release["VERSION_ID"]
	var name unix.Utsname
	if err := unix.Uname(&name); err != nil {
		return f, err
	}
	f.Kernel = unix.ByteSliceToString(name.Release[:])
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil {
		return f, err
	}
	f.Memory = int64(info.Totalram) * int64(info.Unit)
	f.Machine, err = machineid.Of(m.o.DataDir)
	return f, err
}

// osRelease reads a file with lines NAME=VALUE, whose values may be quoted.
func osRelease(path string) map[string]string {
	values := map[string]string{}
	file, err := os.Open(path)
	if err != nil {
		return values // a machine without this file
	}
	defer func() { _ = file.Close() }() // it was only read
	for lines := bufio.NewScanner(file); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), "=")
		if unquoted, err := strconv.Unquote(value); err == nil {
			value = unquoted
		}
		values[name] = strings.Trim(value, "'")
	}
	return values
}
