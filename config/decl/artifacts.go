package decl

import (
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"deployster/config/addresses"
	"deployster/config/source"
)

// Publish has the parts of a publish block that a resource block does not have.
type Publish struct {
	Artifact *Block // nil: it names no declared artifact, which is already reported
	Inputs   []PublishInput
}

// PublishInput is a directory that a publish gives to its image: the files of an
// artifact, or the directory of a plug.
type PublishInput struct {
	Name     string
	Artifact *Block
	Plug     *Block
	At       hcl.Range
}

func (l *loader) artifact(b *hcl.Block) {
	a, c := l.attributes(b, artifactSchema, l.b.Artifacts)
	a.Timeouts = l.single(c, "timeouts", attributes("check", "get"))
}

// publish stores a publish block as a resource. Its config is built from the block's
// attributes once the names in them are resolved.
func (l *loader) publish(b *hcl.Block) {
	name := b.Labels[0]
	r := &Resource{Block: l.header(b), Publish: &Publish{}}
	r.Name = addresses.PublishPrefix + name
	c := l.content(b.Body, publishSchema)
	r.Attrs = c.Attributes
	r.Timeouts = l.single(c, "timeouts", attributes("put"))
	if first := l.b.Resources[r.Name]; first != nil {
		l.add(twice("publish", name, first.At, r.At))
		return
	}
	l.b.Resources[r.Name] = r
}

// rootOnly adds an error for each host, artifact and publish in a module, which cannot have them.
func (l *loader) rootOnly() {
	for _, name := range slices.Sorted(maps.Keys(l.b.Hosts)) {
		l.add(source.Failure(l.b.Hosts[name].At, "A host in a module", "Hosts are declared in the root manifest only. Declare it there, "+
			"and pass it as a variable, for example target = host.%s; then write host = var.target here.", name))
	}
	for _, name := range slices.Sorted(maps.Keys(l.b.Artifacts)) {
		l.add(source.Failure(l.b.Artifacts[name].At, "An artifact in a module", "Artifacts are declared in the root manifest only. "+
			"Declare it there, and pass what the module needs of it as a variable, for example %s = artifact.%s.version.", name, name))
	}
	for _, name := range slices.Sorted(maps.Keys(l.b.Resources)) {
		if r := l.b.Resources[name]; r.Publish != nil {
			l.add(source.Failure(r.At, "A publish in a module", "Publishes are declared in the root manifest only. Declare it there, made "+
				"of outputs of the module."))
		}
	}
}

// resourceNames is the set of the names of resource blocks, and publishNames that of
// publish blocks.
type (
	resourceNames struct{ b *Module }
	publishNames  struct{ b *Module }
)

func (n resourceNames) Has(name string) bool {
	return n.b.Resources[name] != nil && n.b.Resources[name].Publish == nil
}

func (n resourceNames) List() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(n.b.Resources)), func(name string) bool { return !n.Has(name) })
}

func (n publishNames) Has(name string) bool {
	return n.b.Resources[addresses.PublishPrefix+name] != nil
}

func (n publishNames) List() (list []string) {
	for _, address := range slices.Sorted(maps.Keys(n.b.Resources)) {
		if name, ok := strings.CutPrefix(address, addresses.PublishPrefix); ok {
			list = append(list, name)
		}
	}
	return list
}
