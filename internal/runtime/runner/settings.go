package runner

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Network is the network that a container sees.
type Network string

// The networks: the host's own (the default), or an empty one.
const (
	HostNetwork Network = "host"
	NoNetwork   Network = "none"
)

// UserNS reports to which users of the host a container's users are mapped.
type UserNS string

// The user namespaces: the host's (the default), in which root is root, or one of the
// container's own, whose ids belong to no user of the host.
const (
	HostUserNS UserNS = "host"
	AutoUserNS UserNS = "auto"
)

// Settings declare how to run the containers of a type. The zero value is the default.
type Settings struct {
	Host           *Host             `json:"host,omitempty"`    // nil = this machine
	Network        Network           `json:"network,omitempty"` // "" = host
	Env            map[string]string `json:"env,omitempty"`
	Memory         int64             `json:"memory,omitempty"` // bytes; 0 = deployster sets no limit
	CPU            int64             `json:"cpu,omitempty"`    // thousandths of a processor; 0 = deployster sets no limit
	PIDs           int64             `json:"pids,omitempty"`   // 0 = DefaultPIDs
	Capabilities   Capabilities      `json:"capabilities,omitzero"`
	User           string            `json:"user,omitempty"`    // in docker's form: NAME|UID[:GROUP|GID]; "" = the image's
	UserNS         UserNS            `json:"userns,omitempty"`  // "" = host
	Workdir        string            `json:"workdir,omitempty"` // "" = the image's; if set, mounted read-only from this host
	ReadOnlyRootFS bool              `json:"read_only_rootfs,omitempty"`
	Disk           int64             `json:"disk,omitempty"`     // bytes in the container's own files; 0 = DefaultDisk
	Workers        int64             `json:"workers,omitempty"`  // at most, with the same mounts; 0 = the default, NoWorkers = none
	Watchers       int64             `json:"watchers,omitempty"` // watch processes for one resource each, at most; 0 = a default

	// WholeMachine: its processes see the machine as root on it does, and nothing confines them.
	WholeMachine bool `json:"whole_machine,omitempty"`

	// WritableRootFS: the root file system is writable even where the image requests a read-only one.
	WritableRootFS bool `json:"writable_rootfs,omitempty"`

	// The limits of an image's output, and of the time for init. 0 = the default of the
	// package that speaks the protocol with it.
	MaxAnswer   int64         `json:"answer_size,omitempty"` // bytes of an answer
	KeepLog     int64         `json:"log_size,omitempty"`    // bytes kept of a log
	InitTimeout time.Duration `json:"init_timeout_ns,omitempty"`
}

// The largest values of MaxAnswer and KeepLog. Several copies of both are held in memory,
// and both fit into one message from a host.
const (
	LargestAnswer = 64 << 20
	LargestLog    = 16 << 20
)

// The default limits of a container: of its processes and threads, and of the bytes in
// its own files.
const (
	DefaultPIDs = 1024
	DefaultDisk = 10 << 30
)

// MaxDepth is how deeply directories may be nested among a container's own files: each
// level needs an open file while they are measured.
const MaxDepth = 512

// NoWorkers in Settings.Workers: every invocation gets a container of its own.
const NoWorkers = -1

// Confined returns the settings without the whole machine.
func (s Settings) Confined() Settings {
	s.WholeMachine = false
	return s
}

// WholeMachine describes what Settings.WholeMachine gives.
const WholeMachine = "the whole machine, as root"

// Widened describes what the settings give a container beyond the defaults, to show it
// to a person before the container runs.
func (s Settings) Widened() []string {
	var out []string
	if s.WholeMachine {
		out = append(out, WholeMachine)
	}
	if added := s.Capabilities.Added(); len(added) > 0 {
		out = append(out, "capabilities +"+strings.Join(added, " +"))
	}
	if s.PIDs > DefaultPIDs {
		out = append(out, fmt.Sprintf("up to %d processes (default %d)", s.PIDs, DefaultPIDs))
	}
	// A user name is included: the image decides which number it has.
	if uid, _, _ := strings.Cut(s.User, ":"); s.User != "" && strings.Trim(uid, "0123456789") != "" || strings.Trim(uid,
		"0") == "" && uid != "" {
		out = append(out, "user "+uid)
	}
	if s.Workdir != "" {
		out = append(out, "the working directory, read-only")
	}
	return out
}

// Processors formats thousandths of a processor for people: 1500 is "1.5".
func Processors(thousandths int64) string {
	return strconv.FormatFloat(float64(thousandths)/1000, 'f', -1, 64)
}

// AllCapabilities stands for every capability in Add and Drop.
const AllCapabilities = "ALL"

// Capabilities change the set that a container has by default. The names have
// no CAP_ before them, as docker writes them.
type Capabilities struct {
	Add  []string `json:"add,omitempty"`
	Drop []string `json:"drop,omitempty"`
}

// DefaultCapabilities returns docker's default capabilities, without NET_RAW and MKNOD.
func DefaultCapabilities() []string {
	return []string{
		"AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "NET_BIND_SERVICE",
		"SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT",
	}
}

// KnownCapabilities returns all capabilities of Linux, in the kernel's order.
func KnownCapabilities() []string {
	return []string{
		"CHOWN", "DAC_OVERRIDE", "DAC_READ_SEARCH", "FOWNER", "FSETID", "KILL", "SETGID", "SETUID", "SETPCAP",
		"LINUX_IMMUTABLE", "NET_BIND_SERVICE", "NET_BROADCAST", "NET_ADMIN", "NET_RAW", "IPC_LOCK", "IPC_OWNER",
		"SYS_MODULE", "SYS_RAWIO", "SYS_CHROOT", "SYS_PTRACE", "SYS_PACCT", "SYS_ADMIN", "SYS_BOOT", "SYS_NICE",
		"SYS_RESOURCE", "SYS_TIME", "SYS_TTY_CONFIG", "MKNOD", "LEASE", "AUDIT_WRITE", "AUDIT_CONTROL", "SETFCAP",
		"MAC_OVERRIDE", "MAC_ADMIN", "SYSLOG", "WAKE_ALARM", "BLOCK_SUSPEND", "AUDIT_READ", "PERFMON", "BPF",
		"CHECKPOINT_RESTORE",
	}
}

// Effective returns the capabilities that root in the container has, sorted: the
// default ones and those of Add, without those of Drop.
func (c Capabilities) Effective() []string {
	set := DefaultCapabilities()
	if slices.Contains(c.Drop, AllCapabilities) {
		set = nil
	}
	if slices.Contains(c.Add, AllCapabilities) {
		set = KnownCapabilities()
	} else {
		set = append(set, c.Add...)
	}
	set = slices.DeleteFunc(set, func(name string) bool { return slices.Contains(c.Drop, name) })
	slices.Sort(set)
	return slices.Compact(set)
}

// Added returns the capabilities beyond the defaults, sorted.
func (c Capabilities) Added() []string {
	if len(c.Add) == 0 {
		return nil
	}
	usual := DefaultCapabilities()
	return slices.DeleteFunc(c.Effective(), func(name string) bool { return slices.Contains(usual, name) })
}

// Named returns the effective capabilities that Add requests, by name or with ALL,
// sorted.
func (c Capabilities) Named() []string {
	return slices.DeleteFunc(c.Effective(), func(name string) bool {
		return !slices.Contains(c.Add, name) && !slices.Contains(c.Add, AllCapabilities)
	})
}
