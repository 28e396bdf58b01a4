package migrate

import (
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"deployster/internal/migrate/layout"
	"deployster/internal/migrate/tfrefs"
)

// top returns the new form of a top-level block; "" = the new manifests do not have it.
func (e *emitter) top(b *hclsyntax.Block) string {
	switch b.Type {
	case "resource", "data":
		if tfrefs.IsRemote(tfrefs.KeyOf(b)) {
			return e.remote(b)
		}
		return e.resource(b)
	case "provider":
		return e.provider(b)
	case "terraform":
		e.settings(b)
		return ""
	case "module":
		return e.call(b)
	case "moved":
		return e.moved(b)
	case "removed":
		return e.removed(b)
	case "variable", "output", "check", "locals":
		return e.same(b)
	case "import":
		e.note(b.DefRange(), "the import block is left out: what it imported is in the state")
		return ""
	}
	e.refuse(b.DefRange(), "Unsupported block", "%s blocks are not supported.", b.Type)
	return ""
}

// settings checks a terraform block, which the new manifests do not have.
func (e *emitter) settings(b *hclsyntax.Block) {
	for _, inner := range b.Body.Blocks {
		switch inner.Type {
		case "required_providers":
		case "backend", "cloud":
			e.note(inner.DefRange(), "the state is the file deployster.state.json now; docs: shared state")
		case "provider_meta":
			e.note(inner.DefRange(), "provider_meta is left out: the provider does not get it")
		default:
			e.refuse(inner.DefRange(), "Unsupported block", "%s is not supported.", inner.Type)
		}
	}
}

// provider returns a provider as a type block whose defaults have its config. In modules
// it is a local value; if a module may get different configs, also in the root module.
func (e *emitter) provider(b *hclsyntax.Block) string {
	key := b.Labels[0]
	for k, known := range e.module.providers {
		if known == b {
			key = k
		}
	}
	p := e.module.run.images[tfrefs.WithoutAlias(key)]
	if p == nil {
		return "" // no resource uses it
	}
	config := "{\n" + e.object(b.Body, []string{"alias", "version"}, nil) + "}"
	local := fmt.Sprintf("locals {\n%s = %s\n}", providerName(key), config)
	switch {
	case e.module.out != "." && !e.module.run.configured[tfrefs.WithoutAlias(key)]:
		return ""
	case e.module.out != ".":
		return local
	case len(configItems(b.Body)) == 0 && !e.module.values[key]:
		return fmt.Sprintf("type %q {\nimage = %q\n}", e.module.run.types[key], p.Image())
	case !e.module.values[key]:
		return fmt.Sprintf("type %q {\nimage = %q\ndefaults = {\nprovider = %s\n}\n}", e.module.run.types[key], p.Image(), config)
	}
	return fmt.Sprintf("%s\n\ntype %q {\nimage = %q\ndefaults = { provider = local.%s }\n}",
		local, e.module.run.types[key], p.Image(), providerName(key))
}

// same returns a block that has the same form in manifests.
func (e *emitter) same(b *hclsyntax.Block) string {
	var out strings.Builder
	out.WriteString(b.Type)
	if len(b.Labels) > 0 {
		fmt.Fprintf(&out, " %q", e.renamed(b))
	}
	out.WriteString(" {\n")
	all, rest := layout.Items(e.file.text, b.Body)
	for _, it := range all {
		switch {
		case it.Attr != nil && it.Name == "ephemeral" && b.Type != "locals":
			e.ephemeral(b, it)
		case b.Type == "output" && it.Name == "depends_on":
			out.WriteString(e.dependsOn(it))
		case b.Type == "variable" && it.Name == "type":
			fmt.Fprintf(&out, "%stype = %s%s\n", it.Lead, e.variableType(it.Attr.Expr), it.Trail)
		case it.Attr != nil:
			fmt.Fprintf(&out, "%s%s = %s%s\n", it.Lead, it.Name, e.expr(it.Attr.Expr), it.Trail)
		case it.Block.Type == "data":
			e.refuse(it.At(), "A data source in a check", "Move it out of the check.")
		default:
			fmt.Fprintf(&out, "%s%s {\n%s}%s\n", it.Lead, it.Name, e.object(it.Block.Body, nil, nil), it.Trail)
		}
	}
	return out.String() + rest + "}"
}

// call returns a module block.
func (e *emitter) call(b *hclsyntax.Block) string {
	c := e.module.calls[b.Labels[0]]
	if c.module == nil {
		return ""
	}
	source, err := filepath.Rel(filepath.FromSlash(path.Join("/", e.module.out)), filepath.FromSlash(path.Join("/", c.module.out)))
	if err != nil {
		e.refuse(b.DefRange(), "A module has no place", "%s.", err)
	}
	if source = filepath.ToSlash(source); !strings.HasPrefix(source, "../") {
		source = "./" + source
	}
	var out strings.Builder
	fmt.Fprintf(&out, "module %q {\n", e.renamed(b))
	all, rest := layout.Items(e.file.text, b.Body)
	waits := e.waitsOf(c)
	for _, it := range all {
		switch {
		case it.Name == "source":
			fmt.Fprintf(&out, "%s%ssource = %q%s\n", it.Lead, cameFrom(b), source, it.Trail)
		case it.Name == "version", it.Name == "providers":
		case it.Name == "depends_on":
			out.WriteString(e.dependsOn(it, waits...))
			waits = nil
		case it.Attr != nil:
			fmt.Fprintf(&out, "%s%s = %s%s\n", it.Lead, c.module.variable(it.Name), e.expr(it.Attr.Expr), it.Trail)
		default:
			e.refuse(it.At(), "Unknown block", "A module has no %s.", it.Name)
		}
	}
	if len(waits) > 0 {
		fmt.Fprintf(&out, "depends_on = [%s]\n", strings.Join(waits, ", "))
	}
	for _, key := range slices.Sorted(maps.Keys(c.module.needs)) {
		fmt.Fprintf(&out, "%s = %s\n", providerName(key), e.module.providerConfig(c.given(key)))
	}
	if c.module.inOne {
		fmt.Fprintf(&out, "%s = var.%[1]s\n", workspaceName)
	}
	return out.String() + rest + "}"
}

// cameFrom returns a comment for a module that was fetched, and is copied.
func cameFrom(b *hclsyntax.Block) string {
	text := func(name string) string {
		if a := b.Body.Attributes[name]; a != nil {
			if v, diags := a.Expr.Value(nil); !diags.HasErrors() && v.Type() == cty.String && v.IsWhollyKnown() && !v.IsNull() {
				return strings.Join(strings.Fields(v.AsString()), " ")
			}
		}
		return ""
	}
	source, version := text("source"), text("version")
	published := tfrefs.Published(source, version)
	if published == "" {
		return ""
	}
	return fmt.Sprintf("# A copy of %s. Once its manifests are published, the source can be %q.\n", strings.TrimSpace(source+" "+
		""+version), published)
}

// moved returns a moved block.
func (e *emitter) moved(b *hclsyntax.Block) string {
	from, fromKey, ok1 := e.address(b.Body.Attributes["from"])
	to, toKey, ok2 := e.address(b.Body.Attributes["to"])
	switch {
	case !ok1 || !ok2:
		e.refuse(b.DefRange(), "Unsupported moved block", "It leads from one resource or module to another.")
		return ""
	case fromKey.Kind != toKey.Kind:
		e.refuse(b.DefRange(), "A move between types", "%s became %s: have terraform apply it first, and remove the block.", fromKey, toKey)
		return ""
	case from == to:
		return ""
	}
	return fmt.Sprintf("moved {\nfrom = %s\nto = %s\n}", from, to)
}

// removed returns a removed block.
func (e *emitter) removed(b *hclsyntax.Block) string {
	from, _, ok := e.address(b.Body.Attributes["from"])
	if !ok {
		e.refuse(b.DefRange(), "Unsupported removed block", "It names a resource or a module.")
		return ""
	}
	var out strings.Builder
	fmt.Fprintf(&out, "removed {\nfrom = %s\n", from)
	for _, inner := range b.Body.Blocks {
		if inner.Type != "lifecycle" {
			e.refuse(inner.DefRange(), "A provisioner", "It is not supported: the type defines the actions.")
			continue
		}
		fmt.Fprintf(&out, "lifecycle {\n%s}\n", e.object(inner.Body, nil, nil))
	}
	return out.String() + "}"
}

// address returns a resource or a module as manifests refer to it.
func (e *emitter) address(a *hclsyntax.Attribute) (text string, k tfrefs.Key, ok bool) {
	if a == nil {
		return "", k, false
	}
	modules, k, key, ok := tfrefs.Address(a.Expr)
	if !ok {
		return "", k, false
	}
	to := e.module.newPath(modules)
	if k.Kind == "" {
		return strings.Join(to, "."), k, true
	}
	name := tfrefs.Clean(k.Name)
	if at := e.module.under(modules); at != nil && at.names[k] != "" {
		name = at.names[k]
	}
	return strings.Join(append(to, "resource."+name+key), "."), k, true
}

// under returns the module at a path of calls; nil = there is none.
func (d *module) under(modules []string) *module {
	for _, step := range modules {
		name, _, _ := strings.Cut(strings.TrimPrefix(step, "module."), "[")
		c := d.calls[name]
		if c == nil || c.module == nil {
			return nil
		}
		d = c.module
	}
	return d
}
