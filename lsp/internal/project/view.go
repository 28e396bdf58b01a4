package project

import (
	"path/filepath"
	"slices"
	"strings"
)

// Call is a module block.
type Call struct {
	Name string
	From string // the directory of the block
	Dir  string // the module's directory; "" = its source is not known
}

// View is a project as one request sees it: what it has read once it does not read again. It is used by one
// goroutine.
type View struct {
	p        *Project
	dirs     []string // nil = not determined yet
	files    map[string][]*File
	declared map[string]map[Symbol][]Decl
	calls    map[string][]Call
	callers  map[string][]Call // nil = not determined yet
	types    map[Symbol]Symbol
}

// View returns the project as it is now.
func (p *Project) View() *View {
	return &View{p: p, files: map[string][]*File{}, declared: map[string]map[Symbol][]Decl{}, calls: map[string][]Call{},
		types: map[Symbol]Symbol{}}
}

// Dirs returns the directories with manifests.
func (v *View) Dirs() []string {
	if v.dirs == nil {
		v.dirs = append([]string{}, v.p.Dirs()...)
	}
	return v.dirs
}

// File returns a file; nil = it cannot be read.
func (v *View) File(path string) *File { return v.p.Get(path) }

// In returns the manifests and the files of values of a directory, sorted by name.
func (v *View) In(dir string) []*File {
	files, ok := v.files[dir]
	if !ok {
		files = v.p.In(dir)
		v.files[dir] = files
	}
	return files
}

// Calls returns the module blocks of a directory.
func (v *View) Calls(dir string) []Call {
	calls, ok := v.calls[dir]
	if ok {
		return calls
	}
	for _, file := range v.In(dir) {
		for _, d := range file.Decls {
			if d.Kind != Module || d.Block == nil {
				continue
			}
			c := Call{Name: d.Name, From: dir}
			switch source := Attribute(d.Block.Body, "source"); {
			case strings.HasPrefix(source, "./"), strings.HasPrefix(source, "../"):
				c.Dir = filepath.Join(dir, source)
			case source != "":
				c.Dir = v.p.packages.dir(dir, source)
			}
			calls = append(calls, c)
		}
	}
	v.calls[dir] = calls
	return calls
}

// Callers returns the module blocks in other directories that call a directory.
func (v *View) Callers(dir string) []Call {
	if v.callers == nil {
		v.callers = map[string][]Call{}
		for _, from := range v.Dirs() {
			for _, c := range v.Calls(from) {
				if c.Dir != "" && c.Dir != from {
					v.callers[c.Dir] = append(v.callers[c.Dir], c)
				}
			}
		}
	}
	return v.callers[dir]
}

// Roots returns the directories that deployster works in when a file of a directory counts: those that
// call it as a module, directly or through others, and are called by none; or itself.
func (v *View) Roots(dir string) []string {
	var roots []string
	seen := map[string]bool{}
	var up func(dir string)
	up = func(dir string) {
		if seen[dir] {
			return
		}
		seen[dir] = true
		callers := v.Callers(dir)
		if len(callers) == 0 {
			roots = append(roots, dir)
		}
		for _, c := range callers {
			up(c.From)
		}
	}
	if up(dir); len(roots) == 0 { // they call each other in a cycle
		roots = append(roots, dir)
	}
	slices.Sort(roots)
	return roots
}

// Declared returns the declarations of a symbol: one, unless it is declared twice.
func (v *View) Declared(s Symbol) []Decl {
	if s.Dir == "" {
		return nil
	}
	all, ok := v.declared[s.Dir]
	if !ok {
		all = map[Symbol][]Decl{}
		for _, file := range v.In(s.Dir) {
			for _, d := range file.Decls {
				all[d.Symbol] = append(all[d.Symbol], d)
			}
		}
		v.declared[s.Dir] = all
	}
	return all[s]
}
