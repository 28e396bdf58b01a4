package sandbox

import (
	"slices"

	"github.com/opencontainers/runtime-spec/specs-go"

	"deployster/internal/runner"
)

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
	if !slices.ContainsFunc(s.Mounts, func(m runner.Mount) bool { return m.Writable }) {
		most := uint64(DiskLimit(s.Settings))
		limits = append(limits, specs.POSIXRlimit{Type: "RLIMIT_FSIZE", Soft: most, Hard: most})
	}
	return limits
}
