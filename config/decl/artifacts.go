package decl

import (
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"deployster/config/addresses"
	"deployster/config/schema"
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
	a, c := l.attributes(b, schema.Artifact, l.b.Artifacts)
	a.Timeouts = l.single(c, "timeouts", schema.ArtifactTimeouts)
	a.Passed = l.passed(a.Attrs["passed"])
}

// passed reads the names of the resources that a version must have passed. An apply does not wait for them.
func (l *loader) passed(a *hcl.Attribute) (list []Target) {
	if a == nil {
		return nil
	}
	elements, bad := hcl.ExprList(a.Expr)
	if bad.HasErrors() || len(elements) == 0 {
		l.add(source.Failure(a.Expr.Range(), "Invalid passed", "It names resources in a list: passed = [resource.NAME]."))
		return nil
	}
	for _, one := range elements {
		t := l.target(&hcl.Attribute{Name: "passed", Expr: one})
		if t.module {
			l.add(source.Failure(t.At, "Not a resource", "A version passes resources: name each, as resource.NAME."))
		} else if t.Address != "" {
			list = append(list, t)
		}
	}
	return list
}

// publish stores a publish block as a resource. Its config is built from the block's
// attributes once the names in them are resolved.
func (l *loader) publish(b *hcl.Block) {
	name := b.Labels[0]
	r := &Resource{Block: l.header(b), Publish: &Publish{}}
	r.Name = addresses.PublishPrefix + name
	c := l.content(b.Body, schema.Publish)
	r.Attrs = c.Attributes
	r.Timeouts = l.single(c, "timeouts", schema.PublishTimeouts)
	if first := l.b.Resources[r.Name]; first != nil {
		l.add(twice("publish", name, first.At, r.At))
		return
	}
	l.b.Resources[r.Name] = r
}

// resourceNames is the set of the names of resource blocks, and publishNames that of
// publish blocks.
type (
	resourceNames struct {
		b *Module
		u Usage
	}
	publishNames map[string]*Resource // the resources of a module, by their names
)

func (n resourceNames) Has(name string) bool {
	if n.u.Check != nil && n.u.Check.Lookups[name] != nil {
		return true
	}
	r := n.b.Resources[name]
	return r != nil && r.Publish == nil && r.Check == nil
}

func (n resourceNames) List() []string {
	all := slices.Collect(maps.Keys(n.b.Resources))
	if n.u.Check != nil {
		all = slices.AppendSeq(all, maps.Keys(n.u.Check.Lookups))
	}
	slices.Sort(all)
	return slices.DeleteFunc(all, func(name string) bool { return !n.Has(name) })
}

func (n publishNames) Has(name string) bool {
	return n[addresses.PublishPrefix+name] != nil
}

func (n publishNames) List() (list []string) {
	for _, address := range slices.Sorted(maps.Keys(n)) {
		if name, ok := strings.CutPrefix(address, addresses.PublishPrefix); ok {
			list = append(list, name)
		}
	}
	return list
}
