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
	"deployster/internal/runner"
)

// host is what this machine and its kernel have, as far as the sandbox depends
// on it.
type host struct {
	recursive       bool     // mount_setattr: what is said of a mount can hold for all that is mounted below
	cgroupNamespace bool     // containers can be kept from seeing where their cgroups are
	processors      int      // that this process may use
	thermal         []string // files that tell the temperature of each processor, and so what others do
	names           []string // files that a container on the host's network shares
	lacks           []string // the capabilities that not even root has here
}

// probeHost looks at this machine.
func probeHost() host {
	return host{
		recursive:       !errors.Is(unix.MountSetattr(-1, "", 0, &unix.MountAttr{}), unix.ENOSYS),
		cgroupNamespace: layout.Exists("/proc/self/ns/cgroup"),
		processors:      runtime.NumCPU(),
		thermal:         thermalPaths("/sys/devices/system/cpu"),
		names:           slices.DeleteFunc([]string{"/etc/resolv.conf", "/etc/hosts"}, func(name string) bool { return !layout.Exists(name) }),
		lacks:           slices.DeleteFunc(runner.KnownCapabilities(), bounded),
	}
}

// bounded reports whether a capability is in the set that this process can have
// and give. When in doubt it is: the kernel will say no.
func bounded(name string) bool {
	number := slices.Index(runner.KnownCapabilities(), name)
	has, err := unix.PrctlRetInt(unix.PR_CAPBSET_READ, uintptr(number), 0, 0, 0)
	return err != nil && !errors.Is(err, unix.EINVAL) || has == 1
}

// thermalPaths are what docker masks for each processor, whether it is switched
// on now or not.
func thermalPaths(dir string) (out []string) {
	cpus, _ := filepath.Glob(filepath.Join(dir, "cpu[0-9]*"))
	for _, cpu := range cpus {
		out = append(out, filepath.Join(cpu, "thermal_throttle"))
	}
	return out
}

// check says what of the settings this machine cannot give.
func (h host) check(s runner.Settings) error {
	if limit := int64(h.processors) * 1000; s.CPU > limit {
		return diag.Errorf("A type asks for more processors than there are",
			"The type block says cpu = %s, and this machine has %d. Write at most that, or leave cpu out: then there is no limit.",
			runner.Processors(s.CPU), h.processors)
	}
	for _, name := range s.Capabilities.Add {
		if slices.Contains(h.lacks, name) && s.UserNS != runner.AutoUserNS {
			return diag.Errorf("A type asks for a capability that there is not on this machine",
				"The type block adds %s, which deployster does not have itself here, as in a container with fewer capabilities. Leave it out, "+
					"write \"ALL\" for all that there are, or run deployster with it.", name)
		}
	}
	return nil
}

// apparmorProfile returns the profile of the containers; "" = the kernel has no
// AppArmor, or this process may not load profiles.
func (k *Maker) apparmorProfile() (string, error) {
	k.profileOnce.Do(func() {
		if os.Geteuid() == 0 {
			k.profile, k.profileErr = loadProfile("/", apparmor.LoadDefaultProfile)
		}
	})
	return k.profile, k.profileErr
}

// loadProfile returns the profile that the kernel's security module shall hold
// containers with. Root is where the host's files are.
func loadProfile(root string, load func(name string) error) (string, error) {
	if !hasAppArmor(root) {
		return "", nil
	}
	if err := load(profileName); err != nil {
		return "", diag.Errorf("The AppArmor profile for containers could not be loaded",
			"%s. This kernel has AppArmor, so containers are to run under a profile. Install AppArmor's tools (Debian's package apparmor), or, "+
				"if this is a container itself, let it load profiles; as a last resort switch AppArmor off in the kernel.", failure.Sentence(err))
	}
	return profileName, nil
}

// profileName is what AppArmor knows the containers' profile by.
const profileName = "deployster-default"

// hasAppArmor reports whether the kernel confines by AppArmor, and there is what
// it takes to load a profile. Inside a container that AppArmor confines from
// outside there is not.
func hasAppArmor(root string) bool {
	b, err := os.ReadFile(filepath.Join(root, "sys/module/apparmor/parameters/enabled"))
	if err != nil || !strings.HasPrefix(string(b), "Y") {
		return false
	}
	return layout.Exists(filepath.Join(root, "sys/kernel/security/apparmor")) && layout.Exists(filepath.Join(root, "sbin/apparmor_parser"))
}
