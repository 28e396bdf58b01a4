package cases

import (
	"maps"
	"os"
	"path/filepath"
	"slices"

	"deployster/config"
	"deployster/internal/app/workspace"
	"deployster/internal/base/diag"
)

// read reads files of tests, and those in directories.
func read(w *workspace.Workspace, args []string) ([]*config.TestFile, error) {
	given := len(args) > 0
	if !given {
		args = []string{"."}
	}
	var names []string
	for _, arg := range args {
		info, err := os.Stat(w.Path(arg))
		switch {
		case err != nil:
			return nil, diag.Errorf("No such file or directory", "%q cannot be read: %s. Give a file whose name ends in .test.hcl, or a "+
				"directory.", arg, err)
		case info.IsDir():
			found, err := config.FindTests(w.Path(arg))
			if err != nil {
				return nil, diag.Errorf("Unreadable directory", "%q cannot be read: %s.", arg, err)
			}
			for _, name := range found {
				names = append(names, filepath.Join(arg, name))
			}
		case !config.IsTestFile(filepath.Base(arg)):
			return nil, diag.Errorf("Not a file of tests", "The name of a file of tests ends in .test.hcl, and that of %q does not.", arg)
		default:
			names = append(names, filepath.Clean(arg))
		}
	}
	if len(names) == 0 && given {
		return nil, diag.Errorf("No tests", "There is no file whose name ends in .test.hcl in %s. Write one with case blocks: "+
			"case \"a name\" { assert { ... } }.", args[0])
	}
	var files []*config.TestFile
	var diags diag.Diagnostics
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			continue
		}
		f, wrong := config.ReadTests(w.Path(name), name)
		files, diags = append(files, f), append(diags, wrong...)
	}
	if diags.HasErrors() {
		return nil, diags
	}
	return files, nil
}

func sorted(names map[string]bool) []string { return slices.Sorted(maps.Keys(names)) }
