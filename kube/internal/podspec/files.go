package podspec

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"deployster/internal/runtime/artifact"
	"deployster/internal/runtime/runner"
)

// Files are files of an artifact that a Pod gets before its container starts.
type Files struct {
	Name string // of the artifact, for people
	Tree string // the hash over all of them
	Size int64  // bytes that they need
}

// FilesSocket is the socket of the init container that receives files.
const FilesSocket = "/.deployster-run/files"

// filesDir is where the volume is in that container. The files are below it.
const (
	filesDir  = "/.deployster-files"
	filesName = "files"
)

// Keys returns the keys of the files that the Pod gets, in the order of their init containers.
func (o Order) Keys() []string { return slices.Sorted(maps.Keys(o.Files)) }

// FilesContainer returns the name of the init container that receives the files of a key, by its place in Keys.
func FilesContainer(n int) string { return fmt.Sprintf("%s-%d", filesName, n) }

// isFiles reports whether a container receives files.
func isFiles(name string) bool { return strings.HasPrefix(name, filesName+"-") }

// IsOurs reports whether deployster puts a container of that name into Pods.
func IsOurs(name string) bool { return name == Agent || name == Container || isFiles(name) }

// files returns the volumes of files of artifacts, and the init containers that receive them.
func (o Order) files(limits core.ResourceRequirements) (volumes []core.Volume, receive []core.Container, err error) {
	room := cmp.Or(o.Settings.Disk, defaultDisk)
	for n, key := range o.Keys() {
		f := o.Files[key]
		if f.Size > room {
			return nil, nil, fmt.Errorf("the files of %s need %d bytes, and the Pod has %d: disk = \"...\" in the type block",
				f.Name, f.Size, room)
		}
		name := FilesContainer(n)
		volumes = append(volumes, core.Volume{Name: name, VolumeSource: core.VolumeSource{EmptyDir: &core.EmptyDirVolumeSource{
			SizeLimit: resource.NewQuantity(room, resource.BinarySI)}}})
		receive = append(receive, core.Container{Name: name, Image: o.Cluster.Agent, ImagePullPolicy: core.PullIfNotPresent,
			Command:   []string{Program, "receive", "-socket=" + FilesSocket, f.Tree, filesDir},
			Resources: limits, SecurityContext: agentSecurity(),
			VolumeMounts: []core.VolumeMount{{Name: "agent", MountPath: "/.deployster", ReadOnly: true},
				{Name: "run", MountPath: "/.deployster-run"}, {Name: name, MountPath: filesDir}}})
	}
	return volumes, receive, nil
}

// showFiles returns where the type's container sees files of an artifact. is is false if a mount is of something else.
func (o Order) showFiles(m runner.Mount) (at core.VolumeMount, is bool, err error) {
	key, sub, is := artifact.ParseMount(m.Source)
	if !is {
		return at, false, nil
	}
	n := slices.Index(o.Keys(), key)
	if n < 0 {
		return at, true, fmt.Errorf("the files of the artifact at %s were not sent here", m.Target)
	}
	at = core.VolumeMount{Name: FilesContainer(n), MountPath: m.Target, ReadOnly: true, SubPath: filesName}
	if sub != "" {
		at.SubPath += "/" + sub
	}
	return at, true, nil
}
