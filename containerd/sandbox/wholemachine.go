package sandbox

import (
	"path"
	"slices"

	"github.com/moby/sys/user"
	"github.com/opencontainers/runtime-spec/specs-go"

	"deployster/internal/base/diag"
	"deployster/internal/runtime/runner"
)

// MachineRoot is where a container that has the whole machine sees the machine's root file system.
const MachineRoot = "/machine"

// asRoot returns the program with the user that has the whole machine, whatever its image declares.
func asRoot(p Program) Program {
	p.User = user.ExecUser{Home: "/root"}
	return p
}

// open takes from a spec what confines the container: its processes see the machine as root on
// it does. Only the limits of memory, processors and processes stay that its type block sets.
func (h host) open(spec *specs.Spec, s runner.Settings) {
	proc := spec.Process
	proc.NoNewPrivileges, proc.OOMScoreAdj = false, new(0)
	proc.Rlimits = nil // those that whoever starts it has: the machine's
	all := withPrefix(slices.DeleteFunc(runner.KnownCapabilities(), func(name string) bool { return slices.Contains(h.lacks, name) }))
	proc.Capabilities = &specs.LinuxCapabilities{Bounding: all, Permitted: all, Effective: all}
	spec.Hostname = ""
	spec.Linux.Namespaces = []specs.LinuxNamespace{{Type: specs.MountNamespace}}
	spec.Linux.MaskedPaths, spec.Linux.ReadonlyPaths, spec.Linux.Seccomp = nil, nil, nil
	// What the machine mounts later appears inside, and not vice versa.
	spec.Linux.RootfsPropagation = "rslave"
	spec.Linux.Resources.Devices = []specs.LinuxDeviceCgroup{{Allow: true, Access: "rwm"}}
	if s.PIDs <= 0 {
		spec.Linux.Resources.Pids = nil
	}
	spec.Mounts = []specs.Mount{
		{Destination: "/proc", Type: "proc", Source: "proc", Options: []string{"nosuid", "noexec", "nodev"}},
		ofMachine("/sys", "/sys"), ofMachine("/dev", "/dev"), ofMachine("/", MachineRoot),
	}
}

// ofMachine returns a mount of a directory of the machine as the machine has it, with what is mounted
// below it, now or later.
func ofMachine(source, target string) specs.Mount {
	return specs.Mount{Type: "bind", Source: source, Destination: target, Options: []string{"rbind", "rslave", "rw"}}
}

// checkMachine returns an error if a container may not have the whole machine, or has a mount that
// would appear in the machine's own files.
func (k *Maker) checkMachine(s runner.Spec) error {
	if !s.Settings.WholeMachine {
		return nil
	}
	if err := k.options.Machines.Check(s.Reference); err != nil {
		return err
	}
	for _, m := range s.Mounts {
		if Within(path.Clean(m.Target), MachineRoot) {
			return diag.Errorf("A plug would be mounted over the machine's files",
				"The container sees the machine's files at %s, and the image has a plug at %s. That is a fault of the image: "+
					"report it to its author.",
				MachineRoot, m.Target)
		}
	}
	return nil
}
