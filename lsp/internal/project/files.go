package project

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"deployster/config"
	"deployster/lsp/internal/text"
)

// File is a file as it is in the editor, or else on the disk. It is never changed.
type File struct {
	Path     string
	Lines    *text.Lines
	HCL      *hcl.File // nil = the file is not in HCL's native syntax
	Manifest bool      // it is a manifest, and not a file of values or of tests
	Decls    []Decl
	Refs     []Ref
}

// Body returns the content of the file; nil = it is not in HCL's native syntax.
func (f *File) Body() *hclsyntax.Body {
	if f.HCL == nil {
		return nil
	}
	body, _ := f.HCL.Body.(*hclsyntax.Body)
	return body
}

// entry is a file that was read.
type entry struct {
	file     *File
	modified time.Time
	size     int64
}

// Files reads files, and keeps what it has read. Its methods are safe for concurrent use.
type Files struct {
	kinds   map[string]string
	roots   map[string]bool
	unnamed map[string]bool

	mu   sync.Mutex
	open map[string]*File // in the editor
	kept map[string]entry
}

// NewFiles returns the files of an editor that has none open.
func NewFiles() *Files {
	f := &Files{kinds: map[string]string{"output": Output}, roots: map[string]bool{}, unnamed: map[string]bool{}, open: map[string]*File{},
		kept: map[string]entry{}}
	for _, root := range config.ReferenceRoots() {
		if root.Block != "" {
			f.kinds[root.Block], f.roots[root.Name] = root.Name, true
		}
	}
	for _, b := range config.Language().Blocks {
		if b.Named && f.kinds[b.Block] == "" {
			f.kinds[b.Block], f.unnamed[b.Block] = b.Block, true
		}
	}
	return f
}

// Open makes a text of the editor count in place of that of the file.
func (f *Files) Open(path string, src []byte) {
	file := f.parse(path, src)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.open[path] = file
}

// Close makes the file count again.
func (f *Files) Close(path string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.open, path)
}

// Opened returns a file that is open in the editor; nil = it is not.
func (f *Files) Opened(path string) *File {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.open[path]
}

// Edited returns the texts that are open in the editor.
func (f *Files) Edited() config.Edited {
	f.mu.Lock()
	defer f.mu.Unlock()
	edited := config.Edited{}
	for path, file := range f.open {
		edited[path] = file.Lines.Text
	}
	return edited
}

// Get returns a file; nil = it cannot be read.
func (f *Files) Get(path string) *File {
	f.mu.Lock()
	file, kept := f.open[path], f.kept[path]
	f.mu.Unlock()
	if file != nil {
		return file
	}
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > config.MaxFileSize {
		return nil
	}
	if kept.file != nil && kept.modified.Equal(info.ModTime()) && kept.size == info.Size() {
		return kept.file
	}
	src, err := config.ReadSource(path)
	if err != nil {
		return nil
	}
	file = f.parse(path, src)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.kept[path] = entry{file, info.ModTime(), info.Size()}
	return file
}

// parse reads a text as far as it can be read. The parser gives what stands before and after a mistake.
func (f *Files) parse(path string, src []byte) *File {
	name := filepath.Base(path)
	file := &File{Path: path, Lines: text.New(src), Manifest: config.IsManifest(name)}
	if !strings.HasSuffix(name, ".hcl") || len(src) > config.MaxFileSize || config.IsNested(src) {
		return file
	}
	file.HCL, _ = hclsyntax.ParseConfig(src, path, hcl.InitialPos)
	if body := file.Body(); body != nil {
		x := index{dir: filepath.Dir(path), kinds: f.kinds, roots: f.roots, unnamed: f.unnamed}
		switch {
		case file.Manifest:
			x.file(body)
		case config.IsVariableFile(name):
			x.values(body)
		}
		file.Decls, file.Refs = x.decls, x.refs
	}
	return file
}

// In returns the files of a directory that are manifests, or values of variables in HCL, sorted by name.
func (f *Files) In(dir string) []*File {
	var names []string
	entries, _ := os.ReadDir(dir) // a directory that cannot be read has what is open in it
	for _, e := range entries {
		if !e.IsDir() {
			names = append(names, e.Name())
		}
	}
	f.mu.Lock()
	for path := range f.open {
		if filepath.Dir(path) == dir {
			names = append(names, filepath.Base(path))
		}
	}
	f.mu.Unlock()
	slices.Sort(names)
	var files []*File
	for _, name := range slices.Compact(names) {
		if !config.IsManifest(name) && !(config.IsVariableFile(name) && strings.HasSuffix(name, ".hcl")) {
			continue
		}
		if file := f.Get(filepath.Join(dir, name)); file != nil && !(file.Manifest && config.HasValuesOnly(name, file.Lines.Text)) {
			files = append(files, file)
		}
	}
	return files
}
