package standalone

import (
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"deployster/config"
	"deployster/internal/app/workspace"
	"deployster/internal/base/diag"
	"deployster/internal/base/version"
	"deployster/internal/base/words"
	"deployster/internal/migrate"
	"deployster/internal/migrate/original"
	"deployster/internal/ui/terminal"
)

// autoVariables are the names of files of variables that the original reads by itself.
var autoVariables = regexp.MustCompile(`^vars\.(?:.*\.)?auto\.yaml$`)

// MigrateOriginal converts manifests of the original deployster: the named files, or those of
// the working directory. varFiles are files of variables, the stronger ones later; to is the
// directory that is written. complete: everything has a counterpart.
func MigrateOriginal(w *workspace.Workspace, out terminal.Printer, names, varFiles []string, to string) (complete bool, err error) {
	root, err := os.OpenRoot(w.Path("."))
	if err != nil {
		return false, diag.Errorf("Cannot read the working directory", "%s.", err)
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	options := original.Options{Version: version.Version, Include: func(name string) (string, error) {
		text, err := readWithin(root, name)
		return string(text), err
	}}
	skipped, err := findOriginal(w, &options, names, varFiles)
	if err != nil {
		return false, err
	}
	made, err := original.Run(options)
	if err != nil {
		return false, err
	}
	if err := (migrate.Result{Files: made.Files}).Write(w.Path(to)); err != nil {
		return false, err
	}
	for _, name := range skipped {
		out.Printf("skipped %s: it has no plugs and no resources\n", name)
	}
	for _, name := range slices.Sorted(maps.Keys(made.Files)) {
		out.Printf("wrote %s\n", name)
	}
	for _, note := range made.Notes {
		out.Printf("check %s\n", note)
	}
	for _, open := range made.Open {
		out.Printf("translate %s\n", open)
	}
	if len(made.Open) > 0 {
		out.Printf("%s without a counterpart: each is a comment above a variable without a value, var.untranslated_NUMBER. "+
			"Write it in HCL in the place of that variable.\n", words.Count(len(made.Open), "expression"))
	}
	out.Printf("Then `deployster plan` compares the manifests with what exists.\n")
	return len(made.Open) == 0, nil
}

// findOriginal reads the files of a migration. It returns the names of those that it skips.
func findOriginal(w *workspace.Workspace, o *original.Options, names, varFiles []string) (skipped []string, err error) {
	entries, err := os.ReadDir(w.Path("."))
	if err != nil {
		return nil, diag.Errorf("Cannot read the working directory", "%s.", err)
	}
	all := len(names) == 0
	for _, e := range entries { // sorted by name
		ext := filepath.Ext(e.Name())
		switch {
		case e.IsDir() || strings.HasPrefix(e.Name(), "."):
		case autoVariables.MatchString(e.Name()):
			if o.Variables, err = read(w, o.Variables, e.Name(), true); err != nil {
				return nil, err
			}
		case all && (ext == ".yaml" || ext == ".yml") && !slices.Contains(varFiles, e.Name()):
			names = append(names, e.Name())
		}
	}
	for _, name := range varFiles {
		if o.Variables, err = read(w, o.Variables, name, false); err != nil {
			return nil, err
		}
	}
	for _, name := range names {
		files, err := read(w, nil, name, false)
		if err != nil {
			return nil, err
		}
		if all && !original.IsManifest(files[0]) {
			skipped = append(skipped, name)
			continue
		}
		o.Manifests = append(o.Manifests, files...)
	}
	if len(o.Manifests) == 0 {
		return nil, diag.Errorf("There is no manifest", "No file *.yaml of this directory has plugs or resources. Name the manifests of "+
			"the original, as in `deployster migrate deployster site/main.yaml`.")
	}
	return skipped, nil
}

func read(w *workspace.Workspace, files []original.File, name string, auto bool) ([]original.File, error) {
	text, err := config.ReadSource(w.Path(name))
	if err != nil {
		return nil, diag.Errorf("Cannot read a manifest", "%s: %s.", name, err)
	}
	return append(files, original.File{Name: name, Bytes: text, Auto: auto}), nil
}

// readWithin reads a file below a directory.
func readWithin(root *os.Root, name string) ([]byte, error) {
	const most = 1 << 20
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	if err = errors.Join(err, f.Close()); err == nil && len(text) > most {
		err = errors.New("the file is larger than 1 MiB")
	}
	return text, err
}
