package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/opencontainers/runtime-spec/specs-go"

	"deployster/internal/base/diag"
	"deployster/internal/base/proc"
	"deployster/internal/base/rootless"
	"deployster/internal/runtime/runner"
)

// Without root there are no cgroups: the kernel enforces no limits on a whole container, and its
// processes are found by their pid namespace, which ends with the first of them. So a container must
// have one of its own.

// checkRootless returns an error for settings that only root can give.
func (h host) checkRootless(s runner.Settings) error {
	switch {
	case !h.rootless:
		return nil
	case s.WholeMachine:
		return diag.Errorf("A type needs root", "The type block has whole_machine, which means root's rights on this machine, and "+
			"deployster runs without root. Run it as root (sudo), or give the type a host.")
	case s.UserNS == runner.AutoUserNS:
		return diag.Errorf("A type needs a user namespace of its own, which takes root",
			"The type block has userns = \"auto\", and deployster runs without root: all containers share the namespace of the user, "+
				"in which no id but the user's own has any rights outside. Remove userns from the type block, or run deployster as root "+
				"(sudo).")
	}
	return nil
}

// withoutRoot takes from a spec what only root can have.
func withoutRoot(spec *specs.Spec) {
	spec.Linux.Resources = nil
	useHostSys(spec)
}

// Name gives the spec of a container the place of its cgroup, by the id of the container.
func (k *Maker) Name(spec *specs.Spec, id string) {
	if spec.Linux.CgroupsPath = CgroupPath(id); k.host.rootless {
		spec.Linux.CgroupsPath = ""
	}
}

// most ancestors of a process that are searched for a shim.
const most = 64

// isOf reports whether a process belongs to a container: it descends from the container's shim. Only a
// process outside of containers counts as a shim, since programs can change their command lines.
func isOf(id string, pid int) bool {
	host, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return false
	}
	for range most {
		if pid = parent(pid); pid <= 1 {
			return false
		}
		if at, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/pid", pid)); err != nil || at != host {
			continue
		}
		line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		return err == nil && slices.Contains(strings.Split(string(line), "\x00"), id)
	}
	return false
}

// parent returns the parent of a process; 0 = unknown.
func parent(pid int) (ppid int) {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)) // empty if it has ended
	for line := range strings.Lines(string(status)) {
		if text, ok := strings.CutPrefix(line, "PPid:"); ok {
			ppid, _ = strconv.Atoi(strings.TrimSpace(text)) // 0 on failure
			return ppid
		}
	}
	return 0
}

// inNamespaceOf returns the living processes in the pid namespace of the first process of a container.
func inNamespaceOf(first int) (pids []int, err error) {
	space, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/pid", first))
	files, err2 := proc.Files("ns/pid")
	if err := errors.Join(err, err2); err != nil {
		return nil, err
	}
	pids = []int{first}
	for _, file := range files {
		if at, err := os.Readlink(file); err != nil || at != space {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(file))))
		if err == nil && pid != first && !proc.Of(pid).Ended() {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

// Others returns the living processes of a container without a cgroup, except its first one and but.
func Others(first, but int) []int {
	all, _ := inNamespaceOf(first) // nil on failure
	return slices.DeleteFunc(all, func(pid int) bool { return pid == first || pid == but })
}

// HasCgroups reports whether containers have cgroups.
func HasCgroups() bool { return !rootless.Inside() }
