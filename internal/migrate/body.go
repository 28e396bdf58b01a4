package migrate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"deployster/internal/migrate/layout"
	"deployster/internal/migrate/tfrefs"
)

// object returns the content of a body as the lines of an object. Nested blocks of one
// type become a list, or an object if there is only one and lists does not name them.
func (e *emitter) object(body *hclsyntax.Body, except, lists []string) string {
	all, rest := layout.Items(e.file.text, body)
	byType := map[string][]layout.Item{}
	for _, it := range all {
		if it.Block != nil {
			byType[tfrefs.BlockType(it.Block)] = append(byType[tfrefs.BlockType(it.Block)], it)
		}
	}
	var b strings.Builder
	for _, it := range all {
		name := it.Name
		if it.Block != nil {
			name = tfrefs.BlockType(it.Block)
		}
		if slices.Contains(except, name) {
			continue
		}
		b.WriteString(it.Lead)
		switch {
		case it.Attr != nil:
			fmt.Fprintf(&b, "%s = %s%s\n", name, e.expr(it.Attr.Expr), it.Trail)
		case len(byType[name]) > 0:
			fmt.Fprintf(&b, "%s = %s%s\n", name, e.blocks(byType[name], slices.Contains(lists, name)), it.Trail)
			delete(byType, name)
		}
	}
	return b.String() + rest
}

// blocks writes all blocks of one type as one value.
func (e *emitter) blocks(list []layout.Item, asList bool) string {
	dynamic := slices.ContainsFunc(list, func(it layout.Item) bool { return it.Block.Type == "dynamic" })
	if len(list) == 1 && !dynamic && !asList {
		return "{\n" + e.object(list[0].Block.Body, nil, nil) + "}"
	}
	var parts []string
	var static []string
	flush := func() {
		if len(static) > 0 {
			parts = append(parts, "[\n"+strings.Join(static, "")+"]")
			static = nil
		}
	}
	for _, it := range list {
		if it.Block.Type != "dynamic" {
			static = append(static, "{\n"+e.object(it.Block.Body, nil, nil)+"},\n")
			continue
		}
		flush()
		parts = append(parts, e.dynamic(it.Block))
	}
	flush()
	if len(parts) == 1 {
		return parts[0]
	}
	return "concat(" + strings.Join(parts, ", ") + ")"
}

// dynamic returns a dynamic block as a list with one object for each element.
func (e *emitter) dynamic(b *hclsyntax.Block) string {
	iterator, over := b.Labels[0], b.Body.Attributes["for_each"]
	if a := b.Body.Attributes["iterator"]; a != nil {
		iterator = hcl.ExprAsKeyword(a.Expr)
	}
	i := slices.IndexFunc(b.Body.Blocks, func(c *hclsyntax.Block) bool { return c.Type == "content" })
	if over == nil || i < 0 || b.Body.Attributes["labels"] != nil {
		e.refuse(b.DefRange(), "Unsupported dynamic block", "It must have for_each and content, and no labels.")
		return "[]"
	}
	inner := *e
	inner.iterators = append(slices.Clone(e.iterators), iterator)
	return fmt.Sprintf("[for %s_key, %s_value in %s : {\n%s}]", iterator, iterator, e.expr(over.Expr),
		inner.object(b.Body.Blocks[i].Body, nil, nil))
}

// resource returns the block for a resource or a data source.
func (e *emitter) resource(b *hclsyntax.Block) string {
	k := tfrefs.KeyOf(b)
	key := tfrefs.ProviderOf(b)
	kind := k.Kind
	if k.Data {
		kind = "data." + kind
	}
	var out strings.Builder
	typ, given := e.module.typeOf(key)
	if tfrefs.Clean(k.Name) != k.Name {
		e.noteName(b, k.Name, e.module.names[k])
	}
	fmt.Fprintf(&out, "resource %q {\n  type = \"${type.%s}#%s\"\n", e.module.names[k], typ, kind)
	if k.Data {
		out.WriteString("  read_only = true\n")
	}
	var lists []string
	lifecycle := ""
	all, _ := layout.Items(e.file.text, b.Body)
	for _, it := range all {
		switch {
		case it.Name == "count", it.Name == "for_each":
			fmt.Fprintf(&out, "%s%s = %s%s\n", it.Lead, it.Name, e.expr(it.Attr.Expr), it.Trail)
		case it.Name == "depends_on":
			out.WriteString(e.dependsOn(it))
		case it.Name == "lifecycle" && it.Block != nil:
			lifecycle, lists = e.lifecycle(b, it.Block)
			lifecycle = it.Lead + lifecycle
		case it.Name == "provisioner", it.Name == "connection":
			e.refuse(it.At(), "A provisioner", "%s has one, which is not supported: the type defines the actions.", k)
		}
	}
	config := ""
	if given != "" {
		config = "provider = " + given + "\n"
	}
	config += e.object(b.Body, metaArguments, lists)
	fmt.Fprintf(&out, "config = {\n%s}\n%s}", config, lifecycle)
	return out.String()
}

// lifecycle returns the lifecycle block; lists are the blocks of the config that its
// paths refer to, which must therefore be lists.
func (e *emitter) lifecycle(of, b *hclsyntax.Block) (text string, lists []string) {
	var out strings.Builder
	all, rest := layout.Items(e.file.text, b.Body)
	for _, it := range all {
		switch it.Name {
		case "create_before_destroy":
			if v, diags := it.Attr.Expr.Value(nil); diags.HasErrors() || v.Type().FriendlyName() != "bool" || v.True() {
				e.createFirst(of, it)
			}
		case "ignore_changes":
			kept, named := e.ignored(of, it.Attr.Expr)
			if lists = named; kept != "" {
				fmt.Fprintf(&out, "%signore_changes = %s%s\n", it.Lead, kept, it.Trail)
			}
		case "replace_triggered_by":
			bare := *e
			bare.bare = true
			fmt.Fprintf(&out, "%s%s = %s%s\n", it.Lead, it.Name, bare.expr(it.Attr.Expr), it.Trail)
		case "precondition", "postcondition":
			inner := *e
			inner.self = true
			fmt.Fprintf(&out, "%s%s {\n%s}\n", it.Lead, it.Name, inner.object(it.Block.Body, nil, nil))
		default:
			if it.Attr == nil {
				e.refuse(it.At(), "Unknown block", "lifecycle has no %s here.", it.Name)
				continue
			}
			fmt.Fprintf(&out, "%s%s = %s%s\n", it.Lead, it.Name, e.expr(it.Attr.Expr), it.Trail)
		}
	}
	if out.Len() == 0 && rest == "" {
		return "", lists
	}
	return "lifecycle {\n" + out.String() + rest + "}\n", lists
}

// ignored returns the paths of ignore_changes that the config contains, since only those
// can change; lists are those of the paths that name blocks.
func (e *emitter) ignored(of *hclsyntax.Block, x hclsyntax.Expression) (kept string, lists []string) {
	if hcl.ExprAsKeyword(x) == "all" {
		return "all", nil
	}
	list, diags := hcl.ExprList(x)
	if diags.HasErrors() {
		e.refuse(x.Range(), "Unsupported list", "ignore_changes is a list, or all.")
		return "", nil
	}
	var paths, absent []string
	for _, path := range list {
		t, text, ok := e.reference(path)
		if !ok {
			e.refuse(path.Range(), "Unsupported list", "ignore_changes has names of arguments.")
			continue
		}
		name := t.RootName()
		isBlock := slices.ContainsFunc(of.Body.Blocks, func(b *hclsyntax.Block) bool { return tfrefs.BlockType(b) == name })
		if of.Body.Attributes[name] == nil && !isBlock {
			absent = append(absent, name)
			continue
		}
		if isBlock {
			lists = append(lists, name)
		}
		paths = append(paths, text)
	}
	if len(absent) > 0 {
		e.note(x.Range(), "ignore_changes names %s, which the config does not have: left out", strings.Join(absent, ", "))
	}
	if len(paths) == 0 {
		return "", lists
	}
	return "[" + strings.Join(paths, ", ") + "]", lists
}

// metaArguments are the arguments and blocks of a resource that Terraform itself reads.
var metaArguments = []string{"count", "for_each", "depends_on", "provider", "lifecycle", "provisioner", "connection"}

// configItems returns the names of the attributes and blocks in a provider's config.
func configItems(body *hclsyntax.Body) (names []string) {
	for name := range body.Attributes {
		if name != "alias" && name != "version" {
			names = append(names, name)
		}
	}
	for _, b := range body.Blocks {
		names = append(names, b.Type)
	}
	return names
}
