package migrate

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"deployster/config"
	"deployster/internal/migrate/tffiles"
)

// copyFiles copies the other files of a module whose manifests are written elsewhere: those next to its configuration
// if it comes from elsewhere, and the files and directories that its expressions name.
func (d *module) copyFiles(o Options) {
	at, vendored := d.run.vendored[d.out]
	if !vendored && filepath.Clean(o.out()) == filepath.Clean(o.Dir) {
		return // the files stay where they are
	}
	entries, err := os.ReadDir(d.dir)
	if err != nil {
		d.refuse(at, "Cannot read a module", "%s.", err)
		return
	}
	named := d.namesOfFiles()
	var skipped []string
	for _, e := range entries {
		name := e.Name()
		switch {
		case strings.HasPrefix(name, "."), tffiles.IsOwn(name):
		case e.IsDir() && named[name]:
			err = errors.Join(err, d.copyDir(name))
		case e.IsDir():
			skipped = append(skipped, name)
		case named[name], vendored:
			err = errors.Join(err, d.copyFile(name))
		}
	}
	if err != nil {
		d.refuse(at, "Cannot read a module", "%s.", err)
	}
	if vendored && len(skipped) > 0 {
		d.note(at, "of %s, these directories are not copied, because no expression there names them: %s", d.dir, strings.Join(skipped,
			", "))
	}
}

// namesOfFiles returns all parts of the paths in the texts of a module's expressions.
func (d *module) namesOfFiles() map[string]bool {
	named := map[string]bool{}
	for _, f := range d.files {
		_ = hclsyntax.VisitAll(f.body, func(n hclsyntax.Node) hcl.Diagnostics { // the function returns no diagnostics
			if x, ok := n.(*hclsyntax.LiteralValueExpr); ok && x.Val.Type().FriendlyName() == "string" && !x.Val.IsNull() {
				for _, part := range strings.Split(x.Val.AsString(), "/") {
					named[part] = true
				}
			}
			return nil
		})
	}
	for _, c := range d.calls { // the directory of a module that is called is not a file that is read
		if c.module != nil {
			if rel, err := filepath.Rel(d.dir, c.module.dir); err == nil {
				first, _, _ := strings.Cut(filepath.ToSlash(rel), "/")
				delete(named, first)
			}
		}
	}
	return named
}

// copyDir copies a directory of a module, without what is Terraform's own.
func (d *module) copyDir(name string) error {
	return filepath.WalkDir(filepath.Join(d.dir, name), func(at string, e fs.DirEntry, err error) error {
		rel, relErr := filepath.Rel(d.dir, at)
		switch {
		case err != nil || relErr != nil:
			return errors.Join(err, relErr)
		case e.IsDir() && strings.HasPrefix(e.Name(), ".terraform"):
			return fs.SkipDir
		case e.IsDir(), tffiles.IsOwn(e.Name()):
			return nil
		}
		return d.copyFile(rel)
	})
}

// copyFile copies a file of a module; a link is followed, and what is not a file is left out.
func (d *module) copyFile(name string) error {
	at := filepath.Join(d.dir, name)
	info, err := os.Stat(at)
	switch {
	case errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular():
		return nil
	case err != nil:
		return err
	}
	to := path.Join(d.out, filepath.ToSlash(name))
	if info.Size() > config.MaxFileSize {
		d.note(hcl.Range{Filename: at}, "it is larger than %d bytes, and not copied: put it to %s", config.MaxFileSize, to)
		return nil
	}
	text, err := os.ReadFile(at)
	if err == nil && d.run.result.Files[to] == nil {
		d.run.result.Files[to] = text
	}
	return err
}

// copyRead copies the files that the new manifests read and list, to where they search for them.
func (m *migration) copyRead(o Options, src config.Sources) {
	if filepath.Clean(o.out()) == filepath.Clean(o.Dir) {
		return
	}
	read := maps.Clone(src.Reads)
	for key, names := range src.Lists {
		dir, _, _ := strings.Cut(key, "\n") // and the pattern
		for _, name := range names {
			text, err := os.ReadFile(filepath.Join(m.dir, dir, name))
			if err != nil {
				m.refuse(hcl.Range{Filename: name, Start: hcl.Pos{Line: 1}}, "Cannot read a file", "%s.", err)
			}
			read[path.Join(dir, name)] = text
		}
	}
	for name, text := range read {
		if filepath.IsLocal(name) && m.result.Files[name] == nil {
			m.result.Files[name] = text
		}
	}
}
