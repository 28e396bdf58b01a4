package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/containerd/containerd/v2/contrib/apparmor"
	"golang.org/x/sys/unix"

	"deployster/containerd/failure"
	"deployster/containerd/layout"
	"deployster/internal/base/diag"
	"deployster/internal/base/rootless"
	"deployster/internal/runtime/runner"
)

// host describes this machine and its kernel, as far as the sandbox depends on them.
type host struct {
	recursive       bool     // mount_setattr exists: options of a mount can apply to all mounts below it
	cgroupNamespace bool     // cgroup namespaces exist, which hide from a container where its cgroups are
	processors      int      // number that this process may use
	thermal         []string // files with the temperature of each processor, which reveals the load of others
	names           []string // files of the host that a container on its network shares
	lacks           []string // capabilities that not even root has here
	rootless        bool     // this process is in the namespace of a user who is not root: see rootless.go
}

// probeHost inspects this machine.
func probeHost() host {
	return host{
		recursive:       !errors.Is(unix.MountSetattr(-1, "", 0, &unix.MountAttr{}), unix.ENOSYS),
		cgroupNamespace: layout.Exists("/proc/self/ns/cgroup"),
		processors:      runtime.NumCPU(),
		thermal:         thermalPaths("/sys/devices/system/cpu"),
		names: slices.DeleteFunc([]string{"/etc/resolv.conf", "/etc/hosts"},
			func(name string) bool { return !layout.Exists(name) }),
		lacks:    slices.DeleteFunc(runner.KnownCapabilities(), bounded),
		rootless: rootless.Inside(),
	}
}

// bounded reports whether this process can have and grant a capability. In doubt it
// returns true: the kernel will refuse.
func bounded(name string) bool {
	number := slices.Index(runner.KnownCapabilities(), name)
	has, err := unix.PrctlRetInt(unix.PR_CAPBSET_READ, uintptr(number), 0, 0, 0)
	return err != nil && !errors.Is(err, unix.EINVAL) || has == 1
}

// thermalPaths returns the files that docker masks for each processor, whether it is
// switched on or not.
func thermalPaths(dir string) (out []string) {
	cpus, _ := filepath.Glob(filepath.Join(dir, "cpu[0-9]*"))
	for _, cpu := range cpus {
		out = append(out, filepath.Join(cpu, "thermal_throttle"))
	}
	return out
}

// check returns an error if this machine cannot provide the settings.
func (h host) check(s runner.Settings) error {
	if err := h.checkRootless(s); err != nil {
		return err
	}
	if limit := int64(h.processors) * 1000; s.CPU > limit {
		return diag.Errorf("A type needs more processors than there are",
			"The type block has cpu = %s, and this machine has %d. Write at most that, or omit cpu: then there is no limit.",
			runner.Processors(s.CPU), h.processors)
	}
	for _, name := range s.Capabilities.Add {
		if slices.Contains(h.lacks, name) && s.UserNS != runner.AutoUserNS {
			return diag.Errorf("A type needs a capability that this machine lacks",
				"The type block adds %s, which deployster itself lacks, as in a container with fewer capabilities. Omit it, write "+
					"\"ALL\" for all that there are, or run deployster with it.", name)
		}
	}
	return nil
}

// apparmorProfile returns the profile of the containers; "" = the kernel has no
// AppArmor, or this process may not load profiles.
func (k *Maker) apparmorProfile() (string, error) {
	k.profileOnce.Do(func() {
		if os.Geteuid() == 0 && !k.host.rootless { // AppArmor lets root alone load profiles, and not the root of a namespace
			k.profile, k.profileErr = loadProfile("/", apparmor.LoadDefaultProfile)
		}
	})
	return k.profile, k.profileErr
}

// loadProfile loads the AppArmor profile of the containers and returns its name; "" = no
// AppArmor. Root is the directory with the host's files.
func loadProfile(root string, load func(name string) error) (string, error) {
	if !hasAppArmor(root) {
		return "", nil
	}
	if err := load(profileName); err != nil {
		return "", diag.Errorf("The AppArmor profile for containers could not be loaded",
			"%s. This kernel has AppArmor, so containers are to run under a profile. Install AppArmor's tools (Debian's package "+
				"apparmor), or, if this is a container itself, let it load profiles; as a last resort switch AppArmor off in the "+
				"kernel.", failure.Sentence(err))
	}
	return profileName, nil
}

// profileName is the name of the containers' profile in AppArmor.
const profileName = "deployster-default"

// hasAppArmor reports whether the kernel uses AppArmor, and a profile can be loaded.
// Inside a container that AppArmor confines from outside, that is impossible.
func hasAppArmor(root string) bool {
	b, err := os.ReadFile(filepath.Join(root, "sys/module/apparmor/parameters/enabled"))
	if err != nil || !strings.HasPrefix(string(b), "Y") {
		return false
	}
	return layout.Exists(filepath.Join(root, "sys/kernel/security/apparmor")) && layout.Exists(filepath.Join(root, "sbin/apparmor_parser"))
}
