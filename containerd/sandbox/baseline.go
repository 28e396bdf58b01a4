package sandbox

import (
	"math"
	"slices"

	"github.com/opencontainers/runtime-spec/specs-go"

	"deployster/internal/runtime/runner"
)

// baseline returns the confinement of every container, whatever its type block declares. It
// is written out here, not taken from a library, so that a library update cannot loosen
// it unnoticed; TestBaseline_IsNotBelowContainerds fails if a library has become
// stricter. spec.go adds the settings of the type.
func (h host) baseline() *specs.Spec {
	spec := &specs.Spec{
		Version: specs.Version,
		Root:    &specs.Root{Path: "rootfs"},
		Process: &specs.Process{
			NoNewPrivileges: true,
			// The kernel kills it before other processes of the host when the memory of
			// the whole machine is used up.
			OOMScoreAdj: new(500),
		},
		Mounts: baselineMounts(),
		Linux: &specs.Linux{
			MaskedPaths:   append(maskedPaths(), h.thermal...),
			ReadonlyPaths: []string{"/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"},
			Namespaces: []specs.LinuxNamespace{
				{Type: specs.PIDNamespace}, {Type: specs.IPCNamespace}, {Type: specs.UTSNamespace},
				{Type: specs.MountNamespace}, {Type: specs.NetworkNamespace},
			},
			// Mounts that the host makes later do not appear inside, nor vice versa.
			RootfsPropagation: "rprivate",
		},
	}
	if h.cgroupNamespace {
		spec.Linux.Namespaces = append(spec.Linux.Namespaces, specs.LinuxNamespace{Type: specs.CgroupNamespace})
	}
	return spec
}

// maskedPaths are docker's: files that reveal the host, or can be used against it.
func maskedPaths() []string {
	return []string{
		"/proc/acpi", "/proc/asound", "/proc/interrupts", "/proc/kcore", "/proc/keys", "/proc/latency_stats",
		"/proc/sched_debug", "/proc/scsi", "/proc/timer_list", "/proc/timer_stats",
		"/sys/devices/virtual/powercap", "/sys/firmware",
	}
}

// baselineMounts are docker's, without cgroups; nothing is mounted on /run.
func baselineMounts() []specs.Mount {
	return []specs.Mount{
		{Destination: "/proc", Type: "proc", Source: "proc", Options: []string{"nosuid", "noexec", "nodev"}},
		{Destination: "/dev", Type: "tmpfs", Source: "tmpfs", Options: []string{"nosuid", "strictatime", "mode=755", "size=65536k"}},
		{Destination: "/dev/pts", Type: "devpts", Source: "devpts", Options: []string{"nosuid", "noexec", "newinstance", "ptmxmode=0666",
			"mode=0620", "gid=5"}},
		{Destination: "/dev/shm", Type: "tmpfs", Source: "shm", Options: []string{"nosuid", "noexec", "nodev", "mode=1777", "size=65536k"}},
		{Destination: "/dev/mqueue", Type: "mqueue", Source: "mqueue", Options: []string{"nosuid", "noexec", "nodev"}},
		{Destination: "/sys", Type: "sysfs", Source: "sysfs", Options: []string{"nosuid", "noexec", "nodev", "ro"}},
	}
}

// scratch is the /tmp of a container with a read-only root file system.
func scratch() specs.Mount {
	return specs.Mount{Destination: "/tmp", Type: "tmpfs", Source: "tmpfs", Options: []string{"nosuid", "noexec", "nodev", "mode=1777",
		"size=65536k"}}
}

// cpuPeriod is the period, in microseconds, over which the kernel accounts processor
// time.
const cpuPeriod = 100_000

// resources returns the limits that the kernel enforces on a whole container.
func resources(s runner.Settings) *specs.LinuxResources {
	pids := s.PIDs
	if pids <= 0 {
		pids = runner.DefaultPIDs
	}
	res := &specs.LinuxResources{
		// The usual devices are allowed by runc itself.
		Devices: []specs.LinuxDeviceCgroup{{Allow: false, Access: "rwm"}},
		Pids:    &specs.LinuxPids{Limit: &pids},
	}
	if m := s.Memory; m > 0 {
		res.Memory = &specs.LinuxMemory{Limit: &m, Swap: &m}
	}
	if s.CPU > 0 {
		period, quota := uint64(cpuPeriod), s.CPU*cpuPeriod/1000
		res.CPU = &specs.LinuxCPU{Period: &period, Quota: &quota}
	}
	return res
}

// Widen adds threads and memory to the limits of a container, where it has any.
func Widen(spec *specs.Spec, threads, memory int64) {
	limits := spec.Linux.Resources
	if limits == nil { // without root
		return
	}
	*limits.Pids.Limit += threads
	if m := limits.Memory; m != nil {
		most := *m.Limit + memory
		m.Limit, m.Swap = &most, &most
	}
}

// DiskLimit returns how many bytes the container's own files may have.
func DiskLimit(s runner.Settings) int64 {
	if s.WholeMachine && s.Disk <= 0 {
		return math.MaxInt64
	}
	if s.Disk > 0 {
		return s.Disk
	}
	return runner.DefaultDisk
}

// rlimits returns the limits on each process. The size of a file is limited only if all
// writable files are the container's own; the files of another writable mount are its
// owner's responsibility.
func rlimits(s runner.Spec) []specs.POSIXRlimit {
	limits := []specs.POSIXRlimit{
		{Type: "RLIMIT_NOFILE", Soft: 1024, Hard: 4096},
		{Type: "RLIMIT_CORE"},
	}
	if !slices.ContainsFunc(s.Mounts, func(m runner.Mount) bool { return m.Writable && !m.Own }) {
		most := uint64(DiskLimit(s.Settings))
		limits = append(limits, specs.POSIXRlimit{Type: "RLIMIT_FSIZE", Soft: most, Hard: most})
	}
	return limits
}
