package sandbox

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/containerd/containerd/v2/contrib/seccomp"
	"github.com/moby/sys/user"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"github.com/opencontainers/runtime-spec/specs-go"

	"deployster/containerd/failure"
	"deployster/internal/base/diag"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/imagestore"
	"deployster/internal/runtime/runner/machinegrant"
)

// Sandbox reports how the container of an invocation is created.
type Sandbox struct {
	Spec   *specs.Spec
	IDs    *IDRange
	Grants []Grant // open until the sandbox is closed
}

func (b *Sandbox) Close() {
	closeGrants(b.Grants)
}

func closeGrants(grants []Grant) {
	for _, g := range grants {
		_ = g.file.Close() // it was only held open
	}
}

// Program is what an image declares about its program.
type Program struct {
	Config ocispec.ImageConfig `json:"config"`
	User   user.ExecUser       `json:"user"`
	Cwd    string              `json:"cwd"`
}

// Options are what the confinement of containers depends on, besides the machine.
type Options struct {
	Own          []string // directories of deployster and its containerd, which are never mounted into a container
	Kept         []string // of those, the directories that a mount with Own may show
	RuntimeDir   string
	Embedded     bool
	Snapshotter  string
	Capabilities func() ([]string, error) // of the snapshotter
	Machines     machinegrant.List        // the images that may have the whole machine
}

// Maker makes the sandboxes of containers on this machine.
type Maker struct {
	host    host
	options Options

	profileOnce sync.Once
	profile     string // of AppArmor; "" = none
	profileErr  error
	idsOnce     sync.Once
	idRange     *IDRange // for containers with a user namespace
	idsErr      error
}

func NewMaker(o Options) *Maker {
	return &Maker{host: probeHost(), options: o}
}

// Make returns the sandbox of the container for an invocation of an image.
func (k *Maker) Make(id string, p Program, s runner.Spec) (*Sandbox, error) {
	argv, err := s.Command(p.Config.Entrypoint, p.Config.Cmd)
	if err != nil {
		return nil, diag.Errorf("The image names no program to run", "%s.", failure.Sentence(err))
	}
	if err := errors.Join(k.host.check(s.Settings), k.checkMachine(s)); err != nil {
		return nil, err
	}
	b := &Sandbox{}
	if b.IDs, err = k.IDs(s.Settings); err != nil {
		return nil, err
	}
	profile, err := k.apparmorProfile()
	if err != nil {
		return nil, err
	}
	if b.Grants, err = k.openGrants(s); err != nil {
		b.Close()
		return nil, err
	}
	b.Spec = k.host.spec(p, s, argv, b.IDs)
	if b.Spec.Process.ApparmorProfile = profile; s.Settings.WholeMachine && profile != "" {
		b.Spec.Process.ApparmorProfile = "unconfined"
	}
	k.Name(b.Spec, id)
	k.host.mount(b.Spec, s.Settings, b.Grants, b.IDs)
	return b, nil
}

// spec adds the settings of a type to the baseline.
func (h host) spec(p Program, s runner.Spec, argv []string, ids *IDRange) *specs.Spec {
	spec := h.baseline()
	if s.Settings.WholeMachine {
		p = asRoot(p)
	}
	proc := spec.Process
	proc.Args = argv
	proc.Cwd = cmp.Or(s.Cwd, p.Cwd)
	proc.Env = environment(p.User.Home, p.Config.Env, s.Settings.Env)
	proc.Capabilities = h.capabilities(s.Settings.Capabilities, ids)
	proc.Rlimits = rlimits(s)
	proc.User = specs.User{UID: uint32(p.User.Uid), GID: uint32(p.User.Gid)}
	for _, g := range p.User.Sgids {
		proc.User.AdditionalGids = append(proc.User.AdditionalGids, uint32(g))
	}
	spec.Linux.Resources = resources(s.Settings)
	if readOnly(p, s.Settings) {
		spec.Root.Readonly = true
		spec.Mounts = append(spec.Mounts, scratch())
	}
	// As in docker, the host's name is included with the host's network.
	if s.Settings.Network == runner.NoNetwork {
		spec.Hostname = "deployster"
	} else {
		spec.Linux.Namespaces = slices.DeleteFunc(spec.Linux.Namespaces, func(n specs.LinuxNamespace) bool {
			return n.Type == specs.NetworkNamespace
		})
	}
	if s.Settings.WholeMachine {
		h.open(spec, s.Settings)
		return spec
	}
	ids.apply(spec)
	if h.rootless {
		withoutRoot(spec)
	}
	// The filter depends on the capabilities.
	spec.Linux.Seccomp = filter(spec)
	return spec
}

// readOnly reports whether the root file system of a container is read-only: as the type block declares,
// else as the label of the image does.
func readOnly(p Program, s runner.Settings) bool {
	return !s.WholeMachine && (s.ReadOnlyRootFS || !s.WritableRootFS && p.Config.Labels[imagestore.LabelReadOnly] == "true")
}

// filter returns docker's default filter for system calls, without x32: a third way to
// call the kernel of an x86 machine, for which there are no images. The filter blocks x32
// calls then. A filter for all three ways takes twice as long to create as one for two:
// that is a quarter of the time that a container takes.
func filter(spec *specs.Spec) *specs.LinuxSeccomp {
	f := seccomp.DefaultProfile(spec)
	f.Architectures = slices.DeleteFunc(f.Architectures, func(a specs.Arch) bool { return a == specs.ArchX32 })
	return f
}

// capabilities returns the capabilities of root inside; another user has none of them in
// effect. Only those that are added by name are also given to another user: without that
// they would be of no use to him, since programs cannot gain any.
//
// "ALL" means all that exist: on this machine, or in a user namespace.
func (h host) capabilities(c runner.Capabilities, ids *IDRange) *specs.LinuxCapabilities {
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

// environment returns the image's environment with the settings added; a later value
// wins. As in docker there is always a PATH, and the home of the user.
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
	for _, name := range slices.Sorted(maps.Keys(set)) {
		add(name + "=" + set[name])
	}
	return env
}
