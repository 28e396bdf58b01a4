package podspec

import (
	"fmt"
	"path"
	"regexp"
	"strings"

	core "k8s.io/api/core/v1"

	"deployster/internal/runtime/runner"
)

// Plug is a path of a plug in a cluster: an object of the namespace, or a part of it.
type Plug struct {
	Kind string // secret, configmap, pvc
	Name string // of the object
	Part string // a key, or a directory of a volume; "" = all
}

var (
	objectName = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)
	keyName    = regexp.MustCompile(`^[-._a-zA-Z0-9]+$`)
)

// ParsePlug returns what a path of a plug names.
func ParsePlug(source string) (Plug, error) {
	parts := strings.SplitN(source, "/", 4)
	if len(parts) < 3 || parts[0] != "" || parts[1] != "secret" && parts[1] != "configmap" && parts[1] != "pvc" {
		return Plug{}, fmt.Errorf("in a cluster a plug is /secret, /configmap or /pvc, and %s is a path of a machine", source)
	}
	p := Plug{Kind: parts[1], Name: parts[2]}
	if len(parts) == 4 {
		p.Part = parts[3]
	}
	switch {
	case len(p.Name) > 253 || !objectName.MatchString(p.Name):
		return p, fmt.Errorf("%q is not a name of an object of a cluster", p.Name)
	case len(parts) == 4 && p.Part == "":
		return p, fmt.Errorf("%s ends with /", source)
	case p.Part == "":
	case p.Kind == "pvc" && (path.Clean(p.Part) != p.Part || strings.HasPrefix(p.Part, "..")):
		return p, fmt.Errorf("%q is not a directory of a volume", p.Part)
	case p.Kind != "pvc" && (!keyName.MatchString(p.Part) || strings.HasPrefix(p.Part, "..")):
		return p, fmt.Errorf("%q is not a key of a %s", p.Part, p.Kind)
	}
	return p, nil
}

// CheckPlug returns why a plug cannot have a path; nil = it can.
func CheckPlug(source string, writable bool) error {
	p, err := ParsePlug(source)
	if err == nil && writable && p.Kind != "pvc" {
		err = fmt.Errorf("%s cannot be written to: a %s is read-only in a Pod", source, p.Kind)
	}
	return err
}

// plugs returns the volumes of mounts, and where they are mounted.
func plugs(mounts []runner.Mount) (volumes []core.Volume, at []core.VolumeMount, err error) {
	for i, m := range mounts {
		if err := CheckPlug(m.Source, m.Writable); err != nil {
			return nil, nil, err
		}
		p, _ := ParsePlug(m.Source)
		v := core.Volume{Name: fmt.Sprintf("plug-%d", i)}
		mount := core.VolumeMount{Name: v.Name, MountPath: m.Target, ReadOnly: !m.Writable}
		var items []core.KeyToPath
		if p.Part != "" {
			items = []core.KeyToPath{{Key: p.Part, Path: p.Part}}
			mount.SubPath = p.Part
		}
		switch p.Kind {
		case "secret":
			v.Secret = &core.SecretVolumeSource{SecretName: p.Name, Items: items}
		case "configmap":
			v.ConfigMap = &core.ConfigMapVolumeSource{LocalObjectReference: core.LocalObjectReference{Name: p.Name}, Items: items}
		default:
			v.PersistentVolumeClaim = &core.PersistentVolumeClaimVolumeSource{ClaimName: p.Name, ReadOnly: !m.Writable}
		}
		volumes, at = append(volumes, v), append(at, mount)
	}
	return volumes, at, nil
}
