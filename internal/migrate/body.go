package migrate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// object returns the content of a body as the lines of an object. Nested blocks of one
// type become a list, or an object if there is only one and lists does not name them.
func (e *emitter) object(body *hclsyntax.Body, except, lists []string) string {
	all, rest := items(e.file, body)
	byType := map[string][]item{}
	for _, it := range all {
		if it.block != nil {
			byType[blockName(it.block)] = append(byType[blockName(it.block)], it)
		}
	}
	var b strings.Builder
	for _, it := range all {
		name := it.name
		if it.block != nil {
			name = blockName(it.block)
		}
		if slices.Contains(except, name) {
			continue
		}
		b.WriteString(it.lead)
		switch {
		case it.attr != nil:
			fmt.Fprintf(&b, "%s = %s%s\n", name, e.expr(it.attr.Expr), it.trail)
		case len(byType[name]) > 0:
			fmt.Fprintf(&b, "%s = %s%s\n", name, e.blocks(byType[name], slices.Contains(lists, name)), it.trail)
			delete(byType, name)
		}
	}
	return b.String() + rest
}

// blockName returns the type of a block; a dynamic block has it as its label.
func blockName(b *hclsyntax.Block) string {
	if b.Type == "dynamic" && len(b.Labels) == 1 {
		return b.Labels[0]
	}
	return b.Type
}

// blocks writes all blocks of one type as one value.
func (e *emitter) blocks(list []item, asList bool) string {
	dynamic := slices.ContainsFunc(list, func(it item) bool { return it.block.Type == "dynamic" })
	if len(list) == 1 && !dynamic && !asList {
		return "{\n" + e.object(list[0].block.Body, nil, nil) + "}"
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
		if it.block.Type != "dynamic" {
			static = append(static, "{\n"+e.object(it.block.Body, nil, nil)+"},\n")
			continue
		}
		flush()
		parts = append(parts, e.dynamic(it.block))
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
		e.refuse(b.DefRange(), "A dynamic block that is not understood", "It has for_each and content, and no labels.")
		return "[]"
	}
	inner := *e
	inner.iterators = append(slices.Clone(e.iterators), iterator)
	return fmt.Sprintf("[for %s_key, %s_value in %s : {\n%s}]", iterator, iterator, e.expr(over.Expr),
		inner.object(b.Body.Blocks[i].Body, nil, nil))
}

// resource returns the block for a resource or a data source.
func (e *emitter) resource(b *hclsyntax.Block) string {
	k := resourceKey{b.Type == "data", b.Labels[0], b.Labels[1]}
	key := keyOf(b)
	kind := k.kind
	if k.data {
		kind = "data." + kind
	}
	var out strings.Builder
	typ, given := e.typeOf(key)
	fmt.Fprintf(&out, "resource %q {\n  type = \"${type.%s}#%s\"\n", e.names[k], typ, kind)
	if k.data {
		out.WriteString("  read_only = true\n")
	}
	var lists []string
	lifecycle := ""
	all, _ := items(e.file, b.Body)
	for _, it := range all {
		switch {
		case it.name == "count", it.name == "for_each":
			fmt.Fprintf(&out, "%s%s = %s%s\n", it.lead, it.name, e.expr(it.attr.Expr), it.trail)
		case it.name == "depends_on":
			bare := *e
			bare.bare = true
			fmt.Fprintf(&out, "%sdepends_on = %s%s\n", it.lead, bare.expr(it.attr.Expr), it.trail)
		case it.name == "lifecycle" && it.block != nil:
			lifecycle, lists = e.lifecycle(b, it.block)
			lifecycle = it.lead + lifecycle
		case it.name == "provisioner", it.name == "connection":
			e.refuse(it.at(), "A provisioner", "%s has one, which has no place here: what is to be done is said by the type.", k)
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
	all, rest := items(e.file, b.Body)
	for _, it := range all {
		switch it.name {
		case "create_before_destroy":
			if v, diags := it.attr.Expr.Value(nil); diags.HasErrors() || v.Type().FriendlyName() != "bool" || v.True() {
				e.createFirst(of, it)
			}
		case "ignore_changes":
			kept, named := e.ignored(of, it.attr.Expr)
			if lists = named; kept != "" {
				fmt.Fprintf(&out, "%signore_changes = %s%s\n", it.lead, kept, it.trail)
			}
		case "replace_triggered_by":
			bare := *e
			bare.bare = true
			fmt.Fprintf(&out, "%s%s = %s%s\n", it.lead, it.name, bare.expr(it.attr.Expr), it.trail)
		case "precondition", "postcondition":
			inner := *e
			inner.self = true
			fmt.Fprintf(&out, "%s%s {\n%s}\n", it.lead, it.name, inner.object(it.block.Body, nil, nil))
		default:
			if it.attr == nil {
				e.refuse(it.at(), "A block that is not known", "lifecycle has no %s here.", it.name)
				continue
			}
			fmt.Fprintf(&out, "%s%s = %s%s\n", it.lead, it.name, e.expr(it.attr.Expr), it.trail)
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
		e.refuse(x.Range(), "A list that is not understood", "ignore_changes is a list, or all.")
		return "", nil
	}
	var paths []string
	for _, path := range list {
		name := hcl.ExprAsKeyword(path)
		if t, diags := hcl.AbsTraversalForExpr(path); !diags.HasErrors() {
			name = t.RootName()
		}
		isBlock := slices.ContainsFunc(of.Body.Blocks, func(b *hclsyntax.Block) bool { return blockName(b) == name })
		if of.Body.Attributes[name] == nil && !isBlock {
			e.note(path.Range(), "ignore_changes names %s, which the config does not have: it is left out", name)
			continue
		}
		if isBlock {
			lists = append(lists, name)
		}
		r := path.Range()
		paths = append(paths, string(e.file.text[r.Start.Byte:r.End.Byte]))
	}
	if len(paths) == 0 {
		return "", lists
	}
	return "[" + strings.Join(paths, ", ") + "]", lists
}
