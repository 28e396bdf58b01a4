package images

import "deployster/config"

// notifiers returns the images of notify and secret blocks, in the form of resources. Only init gets them before they are
// needed: one that is missing fails no plan.
func (rs *Resolver) notifiers() (list []*config.Resource) {
	if !rs.Pin {
		return nil
	}
	for _, n := range rs.manifest.Unattended().Notify() {
		list = append(list, &config.Resource{Address: "notify." + n.Name, TypeRef: n.Image, Pull: n.Pull, Verify: n.Verify,
			Settings: n.Settings, Range: n.Range})
	}
	for _, s := range rs.manifest.Unattended().Secrets() {
		list = append(list, &config.Resource{Address: "secret." + s.Name, TypeRef: s.Image, Pull: s.Pull, Verify: s.Verify,
			Settings: s.Settings, Range: s.Range})
	}
	return list
}

// Secrets returns the secret blocks of the manifest.
func (rs *Resolver) Secrets() []config.Secret {
	if rs == nil || rs.manifest == nil {
		return nil
	}
	return rs.manifest.Unattended().Secrets()
}
