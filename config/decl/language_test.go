package decl

import (
	"slices"
	"testing"
)

// Language has what the loader reads by, no more and no less: each block at the top, and in each
// block its attributes and blocks.
func TestLanguage_IsWhatIsRead(t *testing.T) {
	t.Parallel()
	manifest := Language()
	root := rootSchema()
	if len(manifest.Blocks) != len(root.Blocks) {
		t.Fatalf("%d blocks, and the loader reads %d", len(manifest.Blocks), len(root.Blocks))
	}
	seen := 0
	for i, header := range root.Blocks {
		got := manifest.Blocks[i]
		if got.Block != header.Type || got.Named != (len(header.LabelNames) == 1) {
			t.Errorf("%s: the loader reads %s %q", got.Block, header.Type, header.LabelNames)
		}
		if k := kinds[slices.IndexFunc(kinds, func(k Kind) bool { return k.Block == header.Type })]; k.schema.BodySchema != nil {
			var names []string
			for _, a := range got.Attributes {
				names = append(names, a.Name)
			}
			for _, b := range got.Blocks {
				names = append(names, b.Block)
			}
			if got.Block == "module" { // it has arguments that its schema leaves to the module
				names = slices.DeleteFunc(names, func(name string) bool { return slices.Contains(metaArguments, name) })
			}
			if seen += len(names); !slices.Equal(names, k.schema.Names()) {
				t.Errorf("%s: %q, and the loader reads %q", header.Type, names, k.schema.Names())
			}
		} else if !got.Open {
			t.Errorf("%s has neither names nor is it open", header.Type)
		}
	}
	if seen < 100 {
		t.Errorf("only %d names were compared", seen)
	}
}

func TestRoots_AreThoseOfReferences(t *testing.T) {
	t.Parallel()
	fixed := map[string][]string{}
	for _, r := range Roots() {
		if KindOf(r.Name) == nil {
			t.Errorf("no reference begins with %s", r.Name)
		}
		fixed[r.Name] = r.Names
	}
	if len(fixed) < 15 {
		t.Errorf("only %d roots: %v", len(fixed), fixed)
	}
	if !slices.Equal(fixed["path"], []string{"cwd", "module", "root"}) || fixed["resource"] != nil {
		t.Errorf("%v", fixed)
	}
}
