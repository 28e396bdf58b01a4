package expand

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"deployster/config/decl"
	"deployster/config/instance"
	"deployster/config/results"
	"deployster/config/source"
)

// notify decodes a notify block.
func (m *Instances) notify(b *decl.Block) (n instance.Notify, _ hcl.Diagnostics) {
	n.Name, n.Range = b.Name, source.FromHCL(b.At)
	a := attrReader{m: m.Modules, attrs: b.Attrs, of: "a notify block", at: m.Modules.Top.Scope()}
	image, set := a.image("the type of a notify block")
	n.TypeSettings, n.Image = set, image
	a.diags = append(a.diags, results.NotifierHere(b, set)...)
	a.read("on", cty.Set(cty.String), func(v cty.Value) (err error) { n.On, err = results.NotifyEvents(v); return err })
	var more hcl.Diagnostics
	n.Config, n.Params, more = results.NotifyInput(m.Modules, b, a.at)
	return n, append(a.diags, more...)
}
