package examples

import (
	"embed"
	"io/fs"
	"path"
	"strings"
)

//go:embed new shell/type.sh python/type.py artifacts/copy/type.sh
var files embed.FS

// Example is a small project that works.
type Example struct {
	Name  string
	Means string
	more  []string // files of other examples that it uses
	text  map[string]string
	empty []string // directories
}

// All returns the examples, the default one first.
func All() []Example {
	return []Example{
		{Name: "machine", Means: "this machine, by standard types: files, packages, services and more"},
		{Name: "type-shell", Means: "a resource type of your own, as a shell script", more: []string{"shell/type.sh"},
			empty: []string{"notes"}},
		{Name: "type-python", Means: "the same in Python", more: []string{"python/type.py"}, empty: []string{"notes"}},
		{Name: "type-go", Means: "the same in Go", text: map[string]string{"go.mod": "module note\n\ngo 1.26\n"}, empty: []string{"notes"}},
		{Name: "terraform", Means: "a Terraform provider as a resource type"},
		{Name: "artifact", Means: "files of another place, by version", more: []string{"artifacts/copy/type.sh"}, empty: []string{"www"}},
	}
}

// Dirs returns the empty directories of the example.
func (e Example) Dirs() []string { return e.empty }

// Files returns the files of the example, by their path with slashes.
func (e Example) Files() (map[string]string, error) {
	found := map[string]string{}
	root := path.Join("new", e.Name)
	err := fs.WalkDir(files, root, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := files.ReadFile(file)
		found[strings.TrimPrefix(file, root+"/")] = string(text)
		return err
	})
	for _, file := range e.more {
		text, readErr := files.ReadFile(file)
		if err == nil {
			err = readErr
		}
		found[path.Base(file)] = string(text)
	}
	for name, text := range e.text {
		found[name] = text
	}
	return found, err
}
