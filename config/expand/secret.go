package expand

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"deployster/config/decl"
	"deployster/config/instance"
	"deployster/config/results"
	"deployster/config/source"
	"deployster/config/values"
	"deployster/internal/base/secretref"
)

// secret decodes a secret block.
func (m *Instances) secret(b *decl.Block) (s instance.Secret, _ hcl.Diagnostics) {
	s.Name, s.Range, s.Compare = b.Name, source.FromHCL(b.At), true
	a := attrReader{m: m.Modules, attrs: b.Attrs, of: "a secret block", at: m.Modules.Top.Scope()}
	s.Image, s.TypeSettings = a.typeOf("the type of a secret block")
	switch at := b.Attrs["type"]; {
	case s.Host != nil:
		a.diags = append(a.diags, source.Failure(at.Expr.Range(), "A secret from another machine", "Secrets are read on this machine, "+
			"and this type has host = host.%s. Declare a type without host for it.", s.Host.Name))
	case s.WholeMachine:
		a.diags = append(a.diags, source.Failure(at.Expr.Range(), "A secret from the whole machine", "The image of a secret reads nothing "+
			"but its config and what its network gives, and this type has whole_machine. Declare a type without it."))
	}
	a.read("compare", cty.Bool, func(v cty.Value) error { s.Compare = v.True(); return nil })
	var more hcl.Diagnostics
	s.Config, more = results.StaticObject(m.Modules, b.Attrs["config"], "the config of a secret block", a.at)
	return s, append(a.diags, more...)
}

// secretCycles returns an error for each secret whose image needs its own value, also by those of others: the env of its type
// names it.
func secretCycles(list []instance.Secret, blocks map[string]*decl.Block) (diags hcl.Diagnostics) {
	needs := map[string][]string{}
	for _, s := range list {
		for _, text := range s.Env {
			needs[s.Name] = append(needs[s.Name], secretref.Names(text)...)
		}
		slices.Sort(needs[s.Name])
	}
	for _, s := range list {
		if way := wayTo(needs, s.Name, s.Name, map[string]bool{}); way != nil {
			at := blocks[s.Name].Attrs["type"].Expr.Range()
			diags = append(diags, source.Failure(at, "A secret needs itself", "The env of its type has "+
				"the value of a secret that is read with its own: secret.%s. Read one of them without the other.",
				strings.Join(append([]string{s.Name}, way...), " -> secret.")))
		}
	}
	return diags
}

// wayTo returns the secrets from one to another, each of which needs the next; nil = there is none.
func wayTo(needs map[string][]string, from, to string, seen map[string]bool) []string {
	for _, next := range needs[from] {
		if next == to {
			return []string{to}
		}
		if seen[next] {
			continue
		}
		seen[next] = true
		if rest := wayTo(needs, next, to, seen); rest != nil {
			return append([]string{next}, rest...)
		}
	}
	return nil
}

// typeOf reads the type of a block: an image, and how it is run.
func (a *attrReader) typeOf(what string) (string, instance.TypeSettings) {
	image, set := a.image(what)
	set.Image = image
	return image, set
}

// content reads the content of a plug.
func (a *attrReader) content(p *instance.Plug) {
	attr := a.attrs["content"]
	v, diags := a.m.AttrAt(attr, cty.String, decl.Usage{What: "the content of a plug", Static: true, Secrets: true}, a.at)
	a.diags = append(a.diags, diags...)
	if v == cty.NilVal {
		return
	}
	if _, err := values.CheckSecrets(v); err != nil {
		a.diags = append(a.diags, source.Failure(attr.Expr.Range(), "A secret cannot be used here", "%s.",
			values.Capital(err.Error())))
		return
	}
	plain, _ := v.Unmark()
	if p.Content, p.ReadOnly = plain.AsString(), true; p.Content == "" || len(p.Content) > maxContent {
		a.diags = append(a.diags, source.Failure(attr.Expr.Range(), "Invalid content", "The content of a plug is a text of 1 to %d bytes.",
			maxContent))
	}
	if !secretref.In([]byte(p.Content)) && v.HasMark(values.Sensitive{}) {
		a.diags = append(a.diags, source.Failure(attr.Expr.Range(), "A sensitive value would be recorded", "The content of a plug is in "+
			"plans and states. Of a secret block, only its name is: use secret.NAME.value."))
	}
}

// maxContent is the limit of the content of a plug, in bytes.
const maxContent = 64 << 10
