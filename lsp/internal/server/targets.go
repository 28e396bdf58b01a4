package server

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl-lang/lang"
	"github.com/hashicorp/hcl-lang/reference"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"deployster/lsp/internal/language"
	"deployster/lsp/internal/project"
)

// maxTargets is how many references are offered at a time: nobody reads more, and further letters make them fewer.
const maxTargets = 500

// targets collects what references can name.
type targets struct {
	prefix string // what is typed of the reference
	list   reference.Targets
	more   bool // there are more than maxTargets
}

// wants reports whether a name that begins with an address could be intended.
func (t *targets) wants(address string) bool {
	return strings.HasPrefix(address, t.prefix) || strings.HasPrefix(t.prefix, address)
}

func (t *targets) add(target reference.Target) {
	if len(t.list) >= maxTargets {
		t.more = true
		return
	}
	t.list = append(t.list, target)
}

// target returns a target of any type.
func target(address lang.Address, name, text string, nested reference.Targets) reference.Target {
	return reference.Target{Addr: address, Name: name, Type: cty.DynamicPseudoType, Description: lang.Markdown(text), NestedTargets: nested}
}

func addressOf(root string, steps ...string) lang.Address {
	a := lang.Address{lang.RootStep{Name: root}}
	for _, s := range steps {
		a = append(a, lang.AttrStep{Name: s})
	}
	return a
}

func below(a lang.Address, name string) lang.Address {
	return append(a.Copy(), lang.AttrStep{Name: name})
}

// instance matches an address with the key of an instance.
var instance = regexp.MustCompile(`^([a-z]+)\.([A-Za-z][\w-]*)\[("[^"\]]*"|\d+)\]`)

// indexed returns an address with the key of the instance that was typed, if one was.
func (t *targets) indexed(a lang.Address) lang.Address {
	found := instance.FindStringSubmatch(t.prefix)
	if found == nil || a.String() != found[1]+"."+found[2] {
		return a
	}
	if n, err := strconv.ParseInt(found[3], 10, 32); err == nil {
		return append(a.Copy(), lang.IndexStep{Key: cty.NumberIntVal(n)})
	}
	return append(a.Copy(), lang.IndexStep{Key: cty.StringVal(strings.Trim(found[3], `"`))})
}

// targets returns what references at the place can name whose text begins with a prefix.
func (p *place) targets(src *hcl.File, prefix string) *targets {
	t := &targets{prefix: prefix}
	block := outermost(src, p.offset)
	p.fixed(t, block)
	for _, file := range p.v.In(p.dir) {
		for _, d := range file.Decls {
			at := d.Whole
			if d.Kind == project.Output || d.Unnamed || !t.wants(d.Address()) ||
				file.Path == p.file.Path && at.Start.Byte <= p.offset && p.offset <= at.End.Byte {
				continue // nothing is made of itself
			}
			p.declared(t, d)
		}
	}
	seen := map[string]bool{p.dir: true}
	for above := p.v.Callers(p.dir); len(above) > 0; { // types of callers count too
		c := above[0]
		above = above[1:]
		if seen[c.From] {
			continue
		}
		seen[c.From] = true
		for _, file := range p.v.In(c.From) {
			for _, d := range file.Decls {
				if d.Kind == project.Type && t.wants(d.Address()) {
					p.declared(t, d)
				}
			}
		}
		above = append(above, p.v.Callers(c.From)...)
	}
	return t
}

// declared adds what a declaration gives a name.
func (p *place) declared(t *targets, d project.Decl) {
	address := t.indexed(addressOf(d.Kind, d.Name))
	var nested reference.Targets
	switch d.Kind {
	case project.Resource:
		nested = p.parts(address, d.Block)
	case project.Module:
		for _, c := range p.v.Calls(p.dir) {
			if c.Name != d.Name || c.Dir == "" {
				continue
			}
			for _, file := range p.v.In(c.Dir) {
				for _, out := range file.Decls {
					if out.Kind == project.Output {
						nested = append(nested, target(below(address, out.Name), "output", p.about(out), nil))
					}
				}
			}
		}
	case "host":
		nested = fields(address, "name", "address", "labels", "facts")
	case "plug":
		nested = fields(address, "name", "path", "read_only")
	case "artifact":
		nested = fields(address, "version", "metadata", "space", "name", "type", "spaces")
	case project.Publish:
		nested = fields(address, "version", "space", "metadata", "created", "deleted", "tree")
	case "secret":
		nested = fields(address, "value")
	case "remote_state":
		nested = fields(address, "outputs")
	}
	t.add(target(address, d.Kind, p.about(d), nested))
}

func fields(a lang.Address, names ...string) (list reference.Targets) {
	for _, name := range names {
		list = append(list, target(below(a, name), "", "", nil))
	}
	return list
}

// parts returns what a reference to a resource can read. What a type declares of its states is among it.
func (p *place) parts(address lang.Address, block *hclsyntax.Block) reference.Targets {
	var state, config []language.Property
	if block != nil {
		if ty := p.typeOf(block); ty != nil {
			state, config = language.Properties(ty.StateSchema), language.Properties(ty.ConfigSchema)
		}
	}
	return reference.Targets{target(below(address, "name"), "", "The address.", nil),
		target(below(address, "type"), "", "The image.", nil),
		target(below(address, "config"), "", "What the manifest declares.", properties(below(address, "config"), config)),
		target(below(address, "state"), "", "The real state, as the image reported it.", properties(below(address, "state"), state))}
}

func properties(a lang.Address, list []language.Property) (out reference.Targets) {
	for _, p := range list {
		out = append(out, target(below(a, p.Name), "", p.Text, properties(below(a, p.Name), p.Properties)))
	}
	return out
}

// fixed adds the names that no block declares, where they mean something.
func (p *place) fixed(t *targets, block *hclsyntax.Block) {
	has := func(name string) bool { return block != nil && block.Body.Attributes[name] != nil }
	for _, root := range p.s.language.Roots {
		switch root.Name {
		case "each":
			if !has("for_each") {
				continue
			}
		case "count":
			if !has("count") {
				continue
			}
		}
		for _, name := range root.Names {
			t.add(target(addressOf(root.Name, name), "", "", nil))
		}
	}
	if block == nil {
		return
	}
	if block.Type == "policy" {
		t.add(target(addressOf("plan"), "", "The plan that is judged.", nil))
		t.add(target(addressOf("deny"), "", "What is denied, in the message.", nil))
	}
	if block.Type != "resource" {
		return
	}
	t.add(target(addressOf("self"), "", "The resource itself, in its postconditions.", p.parts(addressOf("self"), block)))
	if has("dependencies") {
		for _, alias := range names(block.Body.Attributes["dependencies"].Expr) {
			address := addressOf("dep", alias)
			t.add(target(address, "dependency", "", p.parts(address, nil)))
		}
	}
}
