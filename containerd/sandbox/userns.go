package sandbox

import (
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"

	"github.com/moby/sys/user"

	"github.com/containerd/containerd/v2/core/snapshots"
	"github.com/opencontainers/runtime-spec/specs-go"
	"golang.org/x/sys/unix"

	"deployster/containerd/layout"
	"deployster/internal/base/diag"
	"deployster/internal/runtime/runner"
)

// IDRange maps the users and groups of containers with a user namespace to this host:
// container id 0 is UID and GID, and idCount ids follow. nil means no user namespace.
type IDRange struct {
	UID, GID uint32
}

// idCount is how many ids a container has: all that an image may use.
const idCount = 1 << 16

// The ids to use if /etc/subuid assigns none: above those that systemd gives to its own
// containers, and below 2^31.
const (
	firstFreeID = 0x70000000
	lastFreeID  = 0x7fff0000 - idCount
)

// IDs returns the ids of a container: nil = the host's own.
func (k *Maker) IDs(s runner.Settings) (*IDRange, error) {
	if s.UserNS != runner.AutoUserNS {
		return nil, nil
	}
	k.idsOnce.Do(func() { k.idRange, k.idsErr = k.findIDs() })
	return k.idRange, k.idsErr
}

// findIDs finds out whether containers can have ids of their own, and which.
func (k *Maker) findIDs() (*IDRange, error) {
	capabilities, err := k.options.Capabilities()
	if err != nil {
		return nil, err
	}
	if err := canRemap(capabilities, k.options.Snapshotter); err != nil {
		return nil, err
	}
	ids, err := chooseIDs("/", k.options.RuntimeDir)
	if err == nil && k.options.Embedded {
		err = ids.openWay(k.options.RuntimeDir)
	}
	return ids, err
}

// openWay lets the containers' root user, and nobody else, traverse the run-time
// directory, below which the embedded containerd mounts their files. He can only traverse
// it: he cannot list it, nor connect to a socket in it.
func (ids *IDRange) openWay(runtimeDir string) error {
	if parent := filepath.Dir(runtimeDir); parent == layout.RuntimeRoot {
		if err := os.Chmod(parent, 0o711); err != nil {
			return layout.ErrRuntimeDir(parent, err)
		}
	}
	if err := errors.Join(os.Chown(runtimeDir, -1, int(ids.GID)), os.Chmod(runtimeDir, 0o710)); err != nil {
		return layout.ErrRuntimeDir(runtimeDir, err)
	}
	return nil
}

// canRemap returns why containers here cannot have a user namespace, or nil.
func canRemap(capabilities []string, snapshotter string) error {
	why := ""
	switch {
	case !layout.Exists("/proc/self/ns/user"):
		why = "This kernel has no user namespaces"
	case !slices.Contains(capabilities, "remap-ids"):
		why = fmt.Sprintf("The snapshotter %s cannot show an image's files under other owners: that takes Linux 5.19 and containerd 2.0, "+
			"and a file system under its data directory that supports mounts with mapped ids", snapshotter)
	default:
		return nil
	}
	return diag.Errorf("A type needs a user namespace, and none is possible",
		"%s. Remove userns = \"auto\" from the type block to run it without, or run it on a machine with user namespaces.", why)
}

// chooseIDs chooses the ids for the containers of a data directory: those that the
// administrator has assigned to deployster, or else to containers, and otherwise ids that
// nobody has. The key makes data directories use different ids.
func chooseIDs(root, key string) (*IDRange, error) {
	uids, err := readSubordinates(filepath.Join(root, "etc/subuid"))
	if err != nil {
		return nil, err
	}
	gids, err := readSubordinates(filepath.Join(root, "etc/subgid"))
	if err != nil {
		return nil, err
	}
	for _, owner := range []string{"deployster", "containers"} {
		uid, have := uids.of(owner)
		gid, haveGroup := gids.of(owner)
		switch {
		case !have && !haveGroup:
		case have && haveGroup && uid.Count >= idCount && gid.Count >= idCount:
			return &IDRange{slot(uid, key), slot(gid, key)}, nil
		case owner == "deployster":
			return nil, diag.Errorf("The ids set aside for deployster are too few",
				"Containers with userns = \"auto\" take %d user ids and as many group ids. Give the user deployster a line in "+
					"/etc/subuid and one in /etc/subgid, each with at least that many (for example deployster:1000000:%d), or in neither: "+
					"then free ones are chosen.",
				idCount, idCount)
		}
	}
	free := user.SubID{SubID: firstFreeID, Count: lastFreeID - firstFreeID}
	for base := int64(slot(free, key)); base <= lastFreeID; base += idCount {
		if !uids.overlap(base) && !gids.overlap(base) {
			return &IDRange{uint32(base), uint32(base)}, nil
		}
	}
	return nil, diag.Errorf("There are no ids left for containers", "The lines of /etc/subuid and /etc/subgid take all above %d. Give "+
		"the user deployster a line in each.", firstFreeID)
}

// subordinates are the ranges of ids that are assigned to owners.
type subordinates []user.SubID

// slot chooses a part of a range by a key.
func slot(s user.SubID, key string) uint32 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(key))
	return uint32(uint64(s.SubID) + h.Sum64()%uint64(s.Count/idCount)*idCount)
}

func (all subordinates) of(owner string) (user.SubID, bool) {
	i := slices.IndexFunc(all, func(s user.SubID) bool { return s.Name == owner })
	if i < 0 {
		return user.SubID{}, false
	}
	return all[i], true
}

func (all subordinates) overlap(base int64) bool {
	return slices.ContainsFunc(all, func(s user.SubID) bool { return base < s.SubID+s.Count && s.SubID < base+idCount })
}

// readSubordinates reads a file like /etc/subuid; a missing file counts as empty.
func readSubordinates(path string) (subordinates, error) {
	all, err := user.ParseSubIDFileFilter(path, func(s user.SubID) bool {
		return s.SubID > 0 && s.Count > 0 && s.SubID < 1<<32 && s.Count < 1<<32 && s.SubID+s.Count < 1<<32
	})
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	return all, err
}

// apply gives a container a user namespace.
func (ids *IDRange) apply(spec *specs.Spec) {
	if ids == nil {
		return
	}
	spec.Linux.Namespaces = append(spec.Linux.Namespaces, specs.LinuxNamespace{Type: specs.UserNamespace})
	spec.Linux.UIDMappings = []specs.LinuxIDMapping{{ContainerID: 0, HostID: ids.UID, Size: idCount}}
	spec.Linux.GIDMappings = []specs.LinuxIDMapping{{ContainerID: 0, HostID: ids.GID, Size: idCount}}
	useHostSys(spec)
}

// useHostSys gives a container with a user namespace a /sys, if it is on the host's network.
func useHostSys(spec *specs.Spec) {
	if slices.ContainsFunc(spec.Linux.Namespaces, func(n specs.LinuxNamespace) bool { return n.Type == specs.NetworkNamespace }) {
		return
	}
	// On the host's network, which belongs to another user namespace, the kernel does not
	// mount a new sysfs. So the container gets the host's, without the directories that a
	// new one would not have either.
	for i, m := range spec.Mounts {
		if m.Destination == "/sys" {
			spec.Mounts[i] = specs.Mount{Destination: "/sys", Type: "bind", Source: "/sys", Options: []string{"rbind", "rprivate", "nosuid",
				"noexec", "nodev", "ro", "rro"}}
		}
	}
	spec.Linux.MaskedPaths = append(spec.Linux.MaskedPaths, "/sys/fs", "/sys/kernel")
}

// Owner returns the ids on this host of a user of the container.
func (ids *IDRange) Owner(u specs.User) (uid, gid uint32) {
	if ids == nil {
		return u.UID, u.GID
	}
	return ids.UID + u.UID, ids.GID + u.GID
}

// VolumeOwner returns the owner of the volumes of a program, by this host's ids. If the
// container has a user namespace, it is root, as which mapMount shows the program's user:
// then the files that the program creates there have the same owner on this host,
// whatever ids its container was given.
func VolumeOwner(p Program, s runner.Settings) (uid, gid int) {
	if s.UserNS == runner.AutoUserNS {
		return 0, 0
	}
	return p.User.Uid, p.User.Gid
}

// Labels returns the labels that make the snapshotter show an image's files under these ids.
func (ids *IDRange) Labels() []snapshots.Opt {
	if ids == nil {
		return nil
	}
	return []snapshots.Opt{snapshots.WithLabels(map[string]string{
		snapshots.LabelSnapshotUIDMapping: fmt.Sprintf("0:%d:%d", ids.UID, idCount),
		snapshots.LabelSnapshotGIDMapping: fmt.Sprintf("0:%d:%d", ids.GID, idCount),
	})}
}

// mapMount shows the owner of a granted file as the program's own user inside: files that
// the program creates there belong to that owner, and not to ids that are unknown on this
// host.
func (ids *IDRange) mapMount(m *specs.Mount, source unix.Stat_t, inside specs.User) {
	if ids == nil {
		return
	}
	m.Options = append(m.Options, "ridmap")
	m.UIDMappings = mapOwner(source.Uid, inside.UID, ids.UID)
	m.GIDMappings = mapOwner(source.Gid, inside.GID, ids.GID)
}

// mapOwner maps the ids of a file system to those of a container that begin at base: it
// shows the owner as the user, and all others unchanged. It maps root only if root is the
// owner: otherwise a container could create programs of root for a user of this host to
// run.
func mapOwner(owner, user, base uint32) []specs.LinuxIDMapping {
	maps := []specs.LinuxIDMapping{{ContainerID: owner, HostID: base + user, Size: 1}}
	// The ids from 1 to idCount without the owner and the user.
	next := uint32(1)
	for _, cut := range []uint32{min(owner, user), max(owner, user), idCount} {
		if cut > idCount {
			cut = idCount
		}
		if cut > next {
			maps = append(maps, specs.LinuxIDMapping{ContainerID: next, HostID: base + next, Size: cut - next})
		}
		next = max(next, cut+1)
	}
	return maps
}
