package sandbox

import (
	"slices"

	"github.com/opencontainers/runtime-spec/specs-go"

	"deployster/internal/runner"
)

// baseline is what every container is held by, whatever its type block says.
// It is written out here, not taken from a library, so that an update of one
// cannot loosen it unseen; TestBaseline_IsNotBelowContainerds says when one has
// become tighter. What is asked for is laid on top in spec.go.
func (h host) baseline() *specs.Spec {
	spec := &specs.Spec{
		Version: specs.Version,
		Root:    &specs.Root{Path: "rootfs"},
		Process: &specs.Process{
			NoNewPrivileges: true,
			// It goes before what else runs on the host when the memory of the whole
			// machine is used up.
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
			// Mounts that the host makes later do not show up inside, nor the
			// other way round.
			RootfsPropagation: "rprivate",
		},
	}
	if h.cgroupNamespace {
		spec.Linux.Namespaces = append(spec.Linux.Namespaces, specs.LinuxNamespace{Type: specs.CgroupNamespace})
	}
	return spec
}

// maskedPaths are docker's: what tells of the host, or can be used against it.
func maskedPaths() []string {
	return []string{
		"/proc/acpi", "/proc/asound", "/proc/interrupts", "/proc/kcore", "/proc/keys", "/proc/latency_stats",
		"/proc/sched_debug", "/proc/scsi", "/proc/timer_list", "/proc/timer_stats",
		"/sys/devices/virtual/powercap", "/sys/firmware",
	}
}

// baselineMounts are docker's: there is nothing on /run, and no cgroups.
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

// scratch is the /tmp of a container whose other files are read-only.
func scratch() specs.Mount {
	return specs.Mount{Destination: "/tmp", Type: "tmpfs", Source: "tmpfs", Options: []string{"nosuid", "noexec", "nodev", "mode=1777",
		"size=65536k"}}
}

// cpuPeriod is the span of time, in microseconds, over which processor time is
// counted.
const cpuPeriod = 100_000

// resources are the limits that the kernel keeps for a whole container.
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

// DiskLimit is how many bytes the container's own files may have.
func DiskLimit(s runner.Settings) int64 {
	if s.Disk > 0 {
		return s.Disk
	}
	return runner.DefaultDisk
}

// rlimits are the limits on each process. The size of a file is limited at
// once where all files are the container's own; those of a writable mount are
// its owner's affair.
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
