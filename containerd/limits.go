package containerd

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/containerd/containerd/v2/pkg/cap"
	"github.com/opencontainers/runtime-spec/specs-go"

	"deployster/internal/diag"
	"deployster/internal/invoke"
)

// capabilities gives the names that the OCI runtime knows. nil asks for the
// defaults.
func capabilities(names []string) ([]string, error) {
	if names == nil {
		names = invoke.DefaultCapabilities()
	}
	known := cap.Known()
	out := []string{}
	for _, name := range names {
		full := "CAP_" + strings.TrimPrefix(name, "CAP_")
		if !slices.Contains(known, full) {
			return nil, diag.Errorf("There is no such capability", "%q in the capabilities of a type block is not known to Linux; capabilities(7) lists them.", name)
		}
		out = append(out, full)
	}
	return out, nil
}

// cpuPeriod is the span of time, in microseconds, over which processor time is
// counted.
const cpuPeriod = 100_000

// resources are the limits that the kernel keeps for a whole container.
func resources(s invoke.Settings) *specs.LinuxResources {
	pids := s.Processes
	if pids <= 0 {
		pids = invoke.DefaultProcesses
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

// diskLimit is how many bytes the container's own files may have.
func diskLimit(s invoke.Settings) int64 {
	if s.Disk > 0 {
		return s.Disk
	}
	return invoke.DefaultDisk
}

// rlimits are the limits on each process. The size of a file is limited at
// once where all files are the container's own; those of a writable mount are
// its owner's affair.
func rlimits(s invoke.Spec) []specs.POSIXRlimit {
	limits := []specs.POSIXRlimit{
		{Type: "RLIMIT_NOFILE", Soft: 1024, Hard: 4096},
		{Type: "RLIMIT_CORE"},
	}
	if !slices.ContainsFunc(s.Mounts, func(m invoke.Mount) bool { return m.Writable }) {
		most := uint64(diskLimit(s.Settings))
		limits = append(limits, specs.POSIXRlimit{Type: "RLIMIT_FSIZE", Soft: most, Hard: most})
	}
	return limits
}

// processUser gives who a program runs as: the image's user, or the one that
// is set instead, who is in no other groups.
func processUser(p *prepared, set string) (specs.User, error) {
	if set == "" {
		u := specs.User{UID: uint32(p.user.Uid), GID: uint32(p.user.Gid)}
		for _, g := range p.user.Sgids {
			u.AdditionalGids = append(u.AdditionalGids, uint32(g))
		}
		return u, nil
	}
	uid, gid, _ := strings.Cut(set, ":")
	if gid == "" {
		gid = uid
	}
	u, err1 := strconv.ParseUint(uid, 10, 31)
	g, err2 := strconv.ParseUint(gid, 10, 31)
	if err1 != nil || err2 != nil {
		return specs.User{}, fmt.Errorf("%q is not a user in numbers", set)
	}
	return specs.User{UID: uint32(u), GID: uint32(g)}, nil
}
