package containerd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"sort"
	"strings"

	"github.com/containerd/cgroups/v3"
	"github.com/containerd/containerd/v2/contrib/seccomp"
	"github.com/containerd/containerd/v2/core/containers"
	"github.com/containerd/containerd/v2/pkg/oci"
	"github.com/opencontainers/runtime-spec/specs-go"
	"golang.org/x/sys/unix"

	"deployster/internal/diag"
	"deployster/internal/invoke"
)

// features are what this kernel can do.
type features struct {
	recursiveReadOnly bool // mount_setattr: read-only with all that is mounted below
	cgroup2           bool
}

func probeFeatures() features {
	err := unix.MountSetattr(-1, "", 0, &unix.MountAttr{})
	return features{
		recursiveReadOnly: !errors.Is(err, unix.ENOSYS),
		cgroup2:           cgroups.Mode() == cgroups.Unified,
	}
}

// cgroupPath is where a container's cgroup is, below the root of each
// hierarchy: not below a common one, which would be left behind.
func cgroupPath(id string) string { return "/" + id }

// spec says how a container is made for an invocation of an image.
func (r *Runtime) spec(ctx context.Context, id string, p *prepared, s invoke.Spec) (*specs.Spec, error) {
	argv, err := s.Command(p.config.Entrypoint, p.config.Cmd)
	if err != nil {
		return nil, diag.Errorf("The image does not say what to run", "%s.", sentence(err))
	}
	// Docker mounts nothing on /run.
	spec, err := oci.GenerateSpecWithPlatform(r.ctx(ctx), nil, "linux", &containers.Container{ID: id}, oci.WithoutRunMount)
	if err != nil {
		return nil, err
	}
	proc := spec.Process
	proc.Args = argv
	proc.Cwd = p.cwd
	proc.Env = environment(p.config.Env, s.Settings.Env)
	proc.NoNewPrivileges = true
	caps, err := capabilities(s.Settings.Capabilities)
	if err != nil {
		return nil, err
	}
	proc.Capabilities = &specs.LinuxCapabilities{Bounding: caps, Permitted: caps, Effective: caps}
	proc.Rlimits = rlimits(s)
	if proc.User, err = processUser(p, s.Settings.User); err != nil {
		return nil, err
	}
	spec.Root.Readonly = s.Settings.ReadOnlyRootFS
	spec.Linux.CgroupsPath = cgroupPath(id)
	spec.Linux.Resources = resources(s.Settings)
	spec.Linux.Seccomp = seccomp.DefaultProfile(spec)
	if r.features.cgroup2 {
		spec.Linux.Namespaces = append(spec.Linux.Namespaces, specs.LinuxNamespace{Type: specs.CgroupNamespace})
	}
	if err := r.mounts(spec, s); err != nil {
		return nil, err
	}
	return spec, nil
}

// environment is the image's, with what is set on top; a later one wins.
func environment(image []string, set map[string]string) []string {
	env := []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
	at := map[string]int{"PATH": 0}
	add := func(kv string) {
		name, _, _ := strings.Cut(kv, "=")
		if i, ok := at[name]; ok {
			env[i] = kv
			return
		}
		at[name] = len(env)
		env = append(env, kv)
	}
	for _, kv := range image {
		add(kv)
	}
	names := make([]string, 0, len(set))
	for name := range set {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		add(name + "=" + set[name])
	}
	return env
}

// mounts adds the network and the mounts of an invocation to a spec.
func (r *Runtime) mounts(spec *specs.Spec, s invoke.Spec) error {
	taken := map[string]bool{}
	for _, m := range s.Mounts {
		taken[path.Clean(m.Target)] = true
	}
	if s.Settings.Network != invoke.NoNetwork {
		dropNamespace(spec, specs.NetworkNamespace)
		for _, file := range []string{"/etc/resolv.conf", "/etc/hosts"} {
			if _, err := os.Stat(file); err == nil && !taken[file] {
				spec.Mounts = append(spec.Mounts, r.bind(file, file, false))
			}
		}
	}
	if dir := s.Settings.Workdir; dir != "" {
		if err := checkMount(invoke.Mount{Source: dir, Target: dir}); err != nil {
			return err
		}
		spec.Mounts = append(spec.Mounts, r.bind(dir, dir, false))
		spec.Process.Cwd = dir
	}
	for _, m := range s.Mounts {
		if err := checkMount(m); err != nil {
			return err
		}
		spec.Mounts = append(spec.Mounts, r.bind(m.Source, m.Target, m.Writable))
	}
	return nil
}

func checkMount(m invoke.Mount) error {
	switch {
	case !filepath.IsAbs(m.Source):
		return diag.Errorf("A mount is not usable", "Its source %q is not an absolute path.", m.Source)
	case !path.IsAbs(m.Target) || path.Clean(m.Target) == "/":
		return diag.Errorf("A mount is not usable", "Its place in the container, %q, is not an absolute path below /.", m.Target)
	}
	if _, err := os.Stat(m.Source); err != nil {
		return &caused{diag.Errorf("What is to be mounted is not there",
			"%s, for %s in the container: %s. Make it, or name another file or directory.", m.Source, m.Target, err), err}
	}
	return nil
}

// bind mounts something of this host. Read-only means with all that is mounted
// below it, where the kernel can do that.
func (r *Runtime) bind(source, target string, writable bool) specs.Mount {
	options := []string{"rbind", "nosuid", "nodev"}
	switch {
	case writable:
		options = append(options, "rw")
	case r.features.recursiveReadOnly:
		options = append(options, "ro", "rro")
	default:
		options = append(options, "ro")
	}
	return specs.Mount{Type: "bind", Source: source, Destination: target, Options: options}
}

func dropNamespace(spec *specs.Spec, t specs.LinuxNamespaceType) {
	for i, n := range spec.Linux.Namespaces {
		if n.Type == t {
			spec.Linux.Namespaces = append(spec.Linux.Namespaces[:i], spec.Linux.Namespaces[i+1:]...)
			return
		}
	}
}

// oomKilled asks the cgroup of a container that has ended, but is not deleted,
// whether the kernel killed anything in it for want of memory.
func (r *Runtime) oomKilled(id string) bool {
	file := filepath.Join("/sys/fs/cgroup/memory", cgroupPath(id), "memory.oom_control")
	if r.features.cgroup2 {
		file = filepath.Join("/sys/fs/cgroup", cgroupPath(id), "memory.events")
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return false
	}
	for _, line := range strings.Split(string(b), "\n") {
		var n int
		if _, err := fmt.Sscanf(line, "oom_kill %d", &n); err == nil {
			return n > 0
		}
	}
	return false
}
