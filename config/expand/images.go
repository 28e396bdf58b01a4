package expand

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"deployster/config/decl"
	"deployster/config/eval"
	"deployster/config/instance"
	"deployster/config/results"
	"deployster/config/source"
	"deployster/internal/base/cosign"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/imagestore"
)

// TypesOf returns the types that the root declares, sorted by name.
func TypesOf(m *Instances) (list []instance.Type) {
	e := m.Modules.Evaluator(nil)
	for _, name := range slices.Sorted(maps.Keys(m.Modules.Top.Decl.Types)) {
		b := m.Modules.Top.Decl.Types[name]
		t := instance.Type{Name: name, TypeSettings: m.Modules.Top.Settings[b], Range: source.FromHCL(b.At)}
		if a := b.Attrs["defaults"]; a != nil {
			t.Defaults = results.Defaults(e, a.Expr, m.Modules.Top.Scope())
		}
		list = append(list, t)
	}
	return list
}

// TypesOfAll returns the types that the root and its modules declare, without defaults.
func TypesOfAll(m *Instances) (list []instance.Type) {
	if m.Modules.Top == nil {
		return nil
	}
	m.Modules.Top.Each(func(mod *instance.Module) {
		for _, name := range slices.Sorted(maps.Keys(mod.Decl.Types)) {
			b := mod.Decl.Types[name]
			list = append(list, instance.Type{Name: name, TypeSettings: mod.Settings[b], Range: source.FromHCL(b.At)})
		}
	})
	return list
}

// signedTwice returns an error for each type block whose verify block names another
// repository than that of an earlier block with the same image.
func signedTwice(top *instance.Module) hcl.Diagnostics {
	type want struct {
		repository string // as it is written
		at         hcl.Range
	}
	var diags hcl.Diagnostics
	first := map[string]want{}
	byPlace := func(a, b *decl.Block) int {
		return cmp.Or(cmp.Compare(a.At.Filename, b.At.Filename), cmp.Compare(a.At.Start.Byte, b.At.Start.Byte))
	}
	top.Each(func(mod *instance.Module) {
		for _, b := range slices.SortedFunc(maps.Values(mod.Decl.Types), byPlace) {
			t := mod.Settings[b]
			full, _, err := imagestore.FullName(t.Image)
			if t.Verify == nil || err != nil {
				continue
			}
			now := want{"no repository", b.At}
			if t.Verify.Repository != "" {
				now.repository = "the repository " + t.Verify.Repository
			}
			if before, known := first[full]; !known {
				first[full] = now
			} else if before.repository != now.repository {
				diags = append(diags, source.Failure(b.At, "Signatures of two repositories",
					"Here the verify block of %s names %s, and at %s it names %s. Write the same in all types of one image.",
					full, now.repository, source.FromHCL(before.at), before.repository))
			}
		}
	})
	return diags
}

// source decodes when to pull the image of a type, and whose signature it must have.
func (a *attrReader) source(t *decl.Block, files *source.Reader) (pull runner.PullPolicy, verify *runner.Verify) {
	a.read("pull", cty.String, func(v cty.Value) error {
		switch p := runner.PullPolicy(v.AsString()); p {
		case runner.PullMissing, runner.PullAlways, runner.PullNever:
			pull = p
			return nil
		}
		return fmt.Errorf("%q is not valid: it must be \"missing\", \"always\" or \"never\"", v.AsString())
	})
	if t.Verify == nil {
		return pull, nil
	}
	// A verify block requires a signature, even if it has errors.
	verify = &runner.Verify{}
	a.attrs, a.of = t.Verify, "a verify block"
	a.read("key", cty.String, func(v cty.Value) error { return source.VerifyKey(files, v.AsString(), verify) })
	a.read("repository", cty.String, func(v cty.Value) (err error) {
		verify.Repository, err = cosign.Repository(v.AsString())
		return err
	})
	return pull, verify
}

// TypesOfPending returns the images of the future instances of a pending block, in the form of resources at the address of the
// block. It leaves out a type that follows from what distinguishes the instances.
func TypesOfPending(p instance.Pending, of *Instances) (list []*instance.Resource) {
	f := future{of.Modules, p.Address}
	mod, name := p.X.Mod, blockName(p.X)
	if block := mod.Decl.Resources[name]; block != nil {
		return f.typeOfBlock(block, mod)
	}
	if child := mod.Decl.Children[strings.TrimPrefix(name, "module.")]; child != nil {
		return f.typesInside(child, mod)
	}
	return nil
}

// future is what will be at the address of a pending block, which has no instances yet.
type future struct {
	modules *eval.Modules
	address string
}

// typesInside returns the types of the resources of a module.
func (f future) typesInside(child *decl.Module, caller *instance.Module) (list []*instance.Resource) {
	mod := instance.NewModule(child, caller, instance.Occurrence{}, f.address)
	for _, b := range child.Types {
		mod.Settings[b], _ = settings(f.modules, b, mod) // its errors are reported when there are instances
	}
	for _, name := range slices.Sorted(maps.Keys(child.Resources)) {
		list = append(list, f.typeOfBlock(child.Resources[name], mod)...)
	}
	for _, name := range slices.Sorted(maps.Keys(child.Children)) {
		list = append(list, f.typesInside(child.Children[name], mod)...)
	}
	return list
}

// typeOfBlock returns the type of a resource block, in a list of one.
func (f future) typeOfBlock(block *decl.Resource, mod *instance.Module) []*instance.Resource {
	if block.Attrs["type"] == nil || block.Publish != nil {
		return nil
	}
	a := attrReader{m: f.modules, attrs: block.Attrs, of: "a resource", at: mod.Scope(), repeated: &block.Block}
	ref, set := a.image("the type of a resource")
	if a.diags.HasErrors() || ref == "" {
		return nil
	}
	return []*instance.Resource{{Address: f.address, TypeRef: ref, Pull: set.Pull, Verify: set.Verify, Settings: set.Settings,
		Range: source.FromHCL(block.At)}}
}

// blockName returns the name of a block in its module: "node", or "module.web".
func blockName(x *instance.Expansion) string {
	return strings.TrimPrefix(strings.TrimPrefix(x.Address, x.Mod.Address), ".")
}
