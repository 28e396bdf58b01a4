package podspec

import (
	"fmt"

	core "k8s.io/api/core/v1"

	"deployster/internal/runtime/runner"
)

// CheckPlug returns why a plug cannot have a path; nil = it can.
func CheckPlug(source string, writable bool) error {
	p, err := runner.ParseClusterPath(source)
	if err == nil && writable && !p.Writable() {
		err = fmt.Errorf("%s cannot be written to: a %s is read-only in a Pod", source, p.Kind)
	}
	return err
}

// plugs returns the volumes of mounts, and where they are mounted.
func (o Order) plugs() (volumes []core.Volume, at []core.VolumeMount, err error) {
	for i, m := range o.Mounts {
		if shown, is, err := o.showFiles(m); err != nil {
			return nil, nil, err
		} else if is {
			at = append(at, shown)
			continue
		}
		if err := CheckPlug(m.Source, m.Writable); err != nil {
			return nil, nil, err
		}
		p, _ := runner.ParseClusterPath(m.Source)
		v := core.Volume{Name: fmt.Sprintf("plug-%d", i)}
		mount := core.VolumeMount{Name: v.Name, MountPath: m.Target, ReadOnly: !m.Writable}
		var items []core.KeyToPath
		if p.Below != "" {
			items = []core.KeyToPath{{Key: p.Below, Path: p.Below}}
			mount.SubPath = p.Below
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
