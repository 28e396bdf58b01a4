package migrate

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/migrate/layout"
)

// check loads the new manifests as each command does, with the values that variables have in Terraform, and
// refuses what is not valid in them.
func (m *migration) check(o Options) *config.Manifest {
	vars := m.values(o)
	src := m.sources(o)
	if m.problems.HasErrors() {
		return nil
	}
	builtins := config.Builtins{Version: o.Version}
	manifest, diags := config.Load(src, vars, builtins)
	if missing := manifest.Variables().Missing(); len(missing) > 0 {
		m.result.Notes = append(m.result.Notes, fmt.Sprintf("the variable %s: it has no value here, so that values computed from it, "+
			"such as the config of a provider, are recorded by the first apply; TF_VAR_%[1]s would give it one", missing[0].Name))
		manifest, diags = config.Check(src, vars, builtins)
	}
	for _, d := range diags {
		if d.Severity == diag.Error {
			m.invalid(d)
		}
	}
	m.copyRead(o, manifest.Sources())
	return manifest
}

// invalid refuses what the new manifests would have, and names its place in Terraform's files.
func (m *migration) invalid(d *diag.Diagnostic) {
	if d.Range == nil {
		m.problems = append(m.problems, d)
		return
	}
	became := ""
	if d.Snippet != nil {
		code, _, _ := strings.Cut(strings.TrimSpace(d.Snippet.Code), "\n")
		became = fmt.Sprintf("\nIt would be written as: %s", code)
	}
	at, ok := m.origin(d.Range.Filename, d.Range.Start.Line)
	if !ok { // an existing file, or one of variables
		at, became = hcl.Range{Filename: d.Range.Filename, Start: hcl.Pos{Line: d.Range.Start.Line}}, ""
	}
	m.refuse(at, d.Summary, "%s%s", d.Detail, became)
}

// placed is the origin of a new file.
type placed struct {
	file   string // the old one
	places []layout.Place
}

// origin returns where a line of a new file comes from: FILE:LINE of Terraform's files.
func (m *migration) origin(name string, line int) (at hcl.Range, ok bool) {
	from := m.origins[name]
	old, ok := layout.Find(from.places, line)
	return hcl.Range{Filename: from.file, Start: hcl.Pos{Line: old}}, ok
}

// sources returns the new manifests, with those that are already in their directories.
func (m *migration) sources(o Options) config.Sources {
	src := config.Sources{Workspace: m.dir, Dir: m.dir, Modules: map[string][]config.File{}, Reads: map[string][]byte{}}
	for _, name := range slices.Sorted(maps.Keys(m.result.Files)) {
		if !m.made[name] {
			src.Reads[name] = m.result.Files[name]
			continue
		}
		add(&src, name, m.result.Files[name])
	}
	dirs := append(slices.Collect(maps.Keys(src.Modules)), ".")
	for _, dir := range slices.Sorted(slices.Values(dirs)) {
		m.existing(&src, o.out(), dir)
	}
	return src
}

// out returns the directory into which the manifests are to be written.
func (o Options) out() string {
	if o.Out == "" {
		return o.Dir
	}
	return o.Out
}

func add(src *config.Sources, name string, text []byte) {
	f := config.File{Path: name, Bytes: text}
	if dir := path.Dir(name); dir != "." {
		src.Modules[dir] = append(src.Modules[dir], f)
		return
	}
	src.Manifests = append(src.Manifests, f)
}

// existing adds the manifests that a directory already has.
func (m *migration) existing(src *config.Sources, out, dir string) {
	entries, err := os.ReadDir(filepath.Join(out, dir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		m.problems = append(m.problems, diag.Errorf("Cannot read a directory", "%s.", err))
	}
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		isManifest := strings.HasSuffix(name, ".hcl") || strings.HasSuffix(name, ".hcl.json")
		if !isManifest || e.IsDir() || strings.HasPrefix(e.Name(), ".") || config.IsVariableFile(e.Name()) || m.result.Files[name] != nil {
			continue
		}
		text, err := config.ReadSource(filepath.Join(out, name))
		if err != nil {
			m.problems = append(m.problems, diag.Errorf("Cannot read a manifest", "%s: %s.", name, err))
			continue
		}
		add(src, name, text)
	}
}
