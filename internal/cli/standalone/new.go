package standalone

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"deployster/docs/examples"
	"deployster/internal/base/diag"
	"deployster/internal/base/words"
	"deployster/internal/ui/terminal"
)

// Examples returns the names of the examples, the default one first.
func Examples() (names []string) {
	for _, e := range examples.All() {
		names = append(names, e.Name)
	}
	return names
}

// DescribeExamples returns a line for each example.
func DescribeExamples() string {
	var text strings.Builder
	for _, e := range examples.All() {
		fmt.Fprintf(&text, "\n  %-12s %s", e.Name, e.Means)
	}
	return text.String()
}

// New writes an example into a directory, and prints how to run it. It replaces no file: if
// one exists, it writes nothing.
func New(out terminal.Printer, dir, name string) error {
	list := examples.All()
	i := slices.IndexFunc(list, func(e examples.Example) bool { return e.Name == name })
	if i < 0 {
		return diag.Errorf("Unknown example", "There is no example %q.%s There are: %s.", diag.Visible(name),
			words.DidYouMean(name, Examples()), strings.Join(Examples(), ", "))
	}
	files, err := list[i].Files()
	if err != nil {
		return err
	}
	names := slices.Sorted(maps.Keys(files))
	for _, file := range names {
		if _, err := os.Lstat(filepath.Join(dir, file)); !errors.Is(err, os.ErrNotExist) {
			return diag.Errorf("A file exists already", "%s exists, and no file is replaced. Nothing was written. "+
				"Run it in an empty directory.", filepath.Join(dir, file))
		}
	}
	for _, empty := range list[i].Dirs() {
		err = errors.Join(err, os.MkdirAll(filepath.Join(dir, empty), 0o755))
	}
	for _, file := range names {
		path := filepath.Join(dir, filepath.FromSlash(file))
		if err = errors.Join(err, os.MkdirAll(filepath.Dir(path), 0o755)); err == nil {
			err = writeNew(path, files[file])
		}
	}
	if err != nil {
		return diag.Errorf("The example was not written completely", "%s.", err)
	}
	for _, file := range names {
		out.Printf("wrote %s\n", file)
	}
	out.Printf("Next, as the first lines of main.hcl explain:\n")
	for line := range strings.Lines(files["main.hcl"]) {
		if command, ok := strings.CutPrefix(line, "#   "); ok {
			out.Printf("  %s", command)
		}
	}
	return nil
}

// writeNew writes a file that does not exist yet. A script can be run.
func writeNew(path, text string) error {
	mode := os.FileMode(0o644)
	if strings.HasPrefix(text, "#!") {
		mode = 0o755
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// FirstSteps returns the help for an empty directory, "" if the directory has files.
func FirstSteps(dir string) string {
	entries, err := os.ReadDir(dir)
	if err != nil || slices.ContainsFunc(entries, func(e os.DirEntry) bool { return !strings.HasPrefix(e.Name(), ".") }) {
		return ""
	}
	return "There is no manifest in this directory yet. Write one, such as main.hcl, or start with an example:\n" +
		"  deployster new       writes an example for this machine; `deployster new -help` lists the others\n" +
		"  deployster -help     lists all commands; `man deployster-language` describes manifests\n"
}
