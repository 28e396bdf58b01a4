package decl

import (
	"github.com/hashicorp/hcl/v2"

	"deployster/config/schema"
	"deployster/config/source"
)

// overSSH are the attributes of a host that declare how ssh reaches it.
var overSSH = []string{"address", "user", "port", "identity_file", "jump", "host_key", "ssh_options", "sudo", "data_dir"}

// host decodes a host block, which declares how to reach another machine or a cluster.
func (l *loader) host(b *hcl.Block) {
	s, cluster := schema.Host, isCluster(b)
	if cluster {
		s = schema.Cluster
	}
	h, c := l.attributes(b, s, l.b.Hosts)
	l.oneOf(h.Attrs)
	if !cluster {
		return
	}
	h.Kubernetes = &Block{Name: h.Name, At: c.Blocks.OfType("kubernetes")[0].DefRange, Attrs: l.single(c, "kubernetes", schema.Kubernetes)}
	for _, name := range overSSH {
		if attr := h.Attrs[name]; attr != nil {
			l.add(source.Failure(attr.NameRange, "Conflicts with kubernetes", "%s declares how ssh reaches a machine, and this host is a "+
				"namespace of a cluster. Remove it, or the kubernetes block.", name))
		}
	}
}

// isCluster reports whether a host block has a kubernetes block.
func isCluster(b *hcl.Block) bool {
	c, _, _ := b.Body.PartialContent(&hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{{Type: "kubernetes"}}})
	return c != nil && len(c.Blocks) > 0
}
