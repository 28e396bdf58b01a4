package expand

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"deployster/config/decl"
	"deployster/config/instance"
	"deployster/config/results"
	"deployster/config/source"
)

// exclusive decodes one exclusive set.
func (m *Instances) exclusive(b *decl.Block) (instance.Exclusive, hcl.Diagnostics) {
	s := instance.Exclusive{Name: b.Name, Range: source.FromHCL(b.At)}
	a := attrReader{m: m.Modules, attrs: b.Attrs, of: "an exclusive block", at: m.Modules.Top.Scope()}
	image, set := a.image("the type of an exclusive block")
	s.TypeSettings, s.Image = set, image
	if attr := b.Attrs["host"]; attr != nil {
		host, diags := results.HostAt(m.Modules, attr, "the host of an exclusive block", a.at)
		if a.diags = append(a.diags, diags...); host != nil {
			if s.Host = host; s.Workdir != "" {
				a.diags = append(a.diags, noWorkspace(attr, host))
			}
		}
	}
	a.read("keep", cty.List(cty.String), func(v cty.Value) (err error) { s.Keep, err = globs(v); return err })
	config, diags := results.StaticObject(m.Modules, b.Attrs["config"], "the config of an exclusive block", a.at)
	s.Config, a.diags = config, append(a.diags, diags...)
	return s, a.diags
}

// globs converts patterns for whole texts, in which * stands for any text and ? for one character.
func globs(list cty.Value) ([]*regexp.Regexp, error) {
	var out []*regexp.Regexp
	for _, v := range list.AsValueSlice() {
		if v.IsNull() || v.AsString() == "" {
			return nil, fmt.Errorf("a pattern is a text that is not empty")
		}
		pattern := regexp.QuoteMeta(v.AsString())
		pattern = strings.NewReplacer(`\*`, ".*", `\?`, ".").Replace(pattern)
		out = append(out, regexp.MustCompile("(?s)^(?:"+pattern+")$"))
	}
	return out, nil
}
