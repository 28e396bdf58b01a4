package containerd

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"github.com/containerd/containerd/v2/contrib/seccomp"
	"github.com/opencontainers/runtime-spec/specs-go"

	"deployster/internal/base/diag"
	"deployster/internal/runner"
)

// cgroupPath is where a container's cgroup is, below the root of each
// hierarchy: not below a common one, which would be left behind.
func cgroupPath(id string) string { return "/" + id }

// sandbox is how the container of an invocation is made.
type sandbox struct {
	spec   *specs.Spec
	ids    *idRange
	grants []grant // open until the sandbox is closed
}

func (b *sandbox) close() {
	for _, g := range b.grants {
		_ = g.file.Close() // it was not even read
	}
}

// sandbox says how a container is made for an invocation of an image.
func (r *Runtime) sandbox(id string, p *prepared, s runner.Spec) (*sandbox, error) {
	argv, err := s.Command(p.config.Entrypoint, p.config.Cmd)
	if err != nil {
		return nil, diag.Errorf("The image does not say what to run", "%s.", sentence(err))
	}
	if err := r.host.check(s.Settings); err != nil {
		return nil, err
	}
	b := &sandbox{}
	if b.ids, err = r.ids(s.Settings); err != nil {
		return nil, err
	}
	profile, err := r.apparmorProfile()
	if err != nil {
		return nil, err
	}
	if b.grants, err = r.openGrants(s); err != nil {
		b.close()
		return nil, err
	}
	b.spec = r.host.spec(p, s, argv, b.ids)
	b.spec.Process.ApparmorProfile = profile
	b.spec.Linux.CgroupsPath = cgroupPath(id)
	r.host.mount(b.spec, s.Settings, b.grants, b.ids)
	return b, nil
}

// spec lays what a type asks for on the baseline.
func (h host) spec(p *prepared, s runner.Spec, argv []string, ids *idRange) *specs.Spec {
	spec := h.baseline()
	proc := spec.Process
	proc.Args = argv
	proc.Cwd = p.cwd
	proc.Env = environment(p.user.Home, p.config.Env, s.Settings.Env)
	proc.Capabilities = h.capabilities(s.Settings.Capabilities, ids)
	proc.Rlimits = rlimits(s)
	proc.User = specs.User{UID: uint32(p.user.Uid), GID: uint32(p.user.Gid)}
	for _, g := range p.user.Sgids {
		proc.User.AdditionalGids = append(proc.User.AdditionalGids, uint32(g))
	}
	spec.Linux.Resources = resources(s.Settings)
	if s.Settings.ReadOnlyRootFS {
		spec.Root.Readonly = true
		spec.Mounts = append(spec.Mounts, scratch())
	}
	// As with docker, the host's name goes with the host's network.
	if s.Settings.Network == runner.NoNetwork {
		spec.Hostname = "deployster"
	} else {
		dropNamespace(spec, specs.NetworkNamespace)
	}
	ids.apply(spec)
	// The filter depends on the capabilities.
	spec.Linux.Seccomp = filter(spec)
	return spec
}

// filter is docker's default for system calls, less x32: a third way to call the
// kernel of an x86 machine, for which there are no images. Without it those calls
// are not let through, and a filter for three ways takes twice as long to make as
// one for two, which is a quarter of what a container costs.
func filter(spec *specs.Spec) *specs.LinuxSeccomp {
	f := seccomp.DefaultProfile(spec)
	f.Architectures = slices.DeleteFunc(f.Architectures, func(a specs.Arch) bool { return a == specs.ArchX32 })
	return f
}

// capabilities are those of root inside; another user has none in effect. Only
// what is asked for by name is also given to another user: without that it
// would be of no use to him, since programs cannot gain any.
//
// "ALL" is all that there are: on this machine, or in a user namespace.
func (h host) capabilities(c runner.Capabilities, ids *idRange) *specs.LinuxCapabilities {
	lacking := func(name string) bool { return ids == nil && slices.Contains(h.lacks, name) }
	all, named := withPrefix(slices.DeleteFunc(c.Effective(), lacking)), withPrefix(slices.DeleteFunc(c.Named(), lacking))
	return &specs.LinuxCapabilities{Bounding: all, Permitted: all, Effective: all, Inheritable: named, Ambient: named}
}

func withPrefix(names []string) (out []string) {
	for _, name := range names {
		out = append(out, "CAP_"+name)
	}
	return out
}

// environment is the image's, with what is set on top; a later one wins. As
// with docker there is always a PATH, and the home of the user.
func environment(home string, image []string, set map[string]string) []string {
	env := []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
	at := map[string]int{"PATH": 0}
	if home != "" {
		at["HOME"], env = 1, append(env, "HOME="+home)
	}
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
func oomKilled(id string) bool { return oomKills(id) > 0 }

// oomKills is how often it did.
func oomKills(id string) int {
	b, err := os.ReadFile(filepath.Join("/sys/fs/cgroup", cgroupPath(id), "memory.events"))
	if err != nil {
		// The older kind of cgroups, or none any more.
		b, _ = os.ReadFile(filepath.Join("/sys/fs/cgroup/memory", cgroupPath(id), "memory.oom_control"))
	}
	for _, line := range strings.Split(string(b), "\n") {
		var n int
		if _, err := fmt.Sscanf(line, "oom_kill %d", &n); err == nil {
			return n
		}
	}
	return 0
}
