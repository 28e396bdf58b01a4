package images

import "deployster/config"

// notifiers returns the images of notify blocks, in the form of resources. Only init gets them before they are
// needed: one that is missing fails no plan.
func (rs *Resolver) notifiers() (list []*config.Resource) {
	if !rs.Pin {
		return nil
	}
	for _, n := range rs.manifest.Notify() {
		list = append(list, &config.Resource{Address: "notify." + n.Name, TypeRef: n.Image, Pull: n.Pull, Verify: n.Verify,
			Settings: n.Settings, Range: n.Range})
	}
	return list
}
