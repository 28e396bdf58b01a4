package migrate

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"deployster/internal/migrate/packs"
	"deployster/internal/migrate/tfrefs"
)

// writeTypes writes the type blocks of providers without a config and the plug of files, and lists the commands that
// build all images.
func (m *migration) writeTypes() {
	var b strings.Builder
	var withFiles []string
	for _, name := range slices.Sorted(maps.Keys(m.images)) {
		p := m.images[name]
		if m.plain[name] {
			fmt.Fprintf(&b, "type %q {\n  image = %q\n}\n", name, p.Image())
		}
		m.result.Packs = append(m.result.Packs, p.Command())
		if p.NeedsFiles() {
			withFiles = append(withFiles, strconv.Quote("tf/"+name+":.*"))
		}
	}
	if len(withFiles) > 0 {
		fmt.Fprintf(&b, "plug %q {\n  path = \".\"\n  resource_types = [%s]\n}\n", packs.FilesPlug, strings.Join(withFiles, ", "))
	}
	if m.modules[m.dir].inOne {
		fmt.Fprintf(&b, "variable %q {\n  default = %q\n}\n", workspaceName, m.workspace)
	}
	if b.Len() > 0 {
		m.add("types.hcl", b.String())
	}
}

// findNeeds finds which files and programs the providers of a module's resources need.
func (d *module) findNeeds() {
	in := packs.Module{Dir: d.dir, Locals: d.locals, Note: d.note}
	for _, f := range d.files {
		for _, b := range f.body.Blocks {
			name := ""
			switch {
			case (b.Type == "resource" || b.Type == "data") && len(b.Labels) == 2:
				name = tfrefs.WithoutAlias(tfrefs.ProviderOf(b))
			case b.Type == "provider" && len(b.Labels) == 1:
				name = b.Labels[0]
			}
			if p := d.run.images[name]; p != nil {
				in.AddNeeds(p, b)
			}
		}
	}
}
