package workspace

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/base/durable"
)

// FormatOptions say what becomes of files that are not in the canonical format.
type FormatOptions struct {
	Stdin     io.Reader // what the argument - stands for
	Recursive bool      // also the directories below
	Write     bool      // the files are written
	Changed   func(name string, before, after []byte)
}

// StdinName is the name of standard input among files.
const StdinName = "<stdin>"

// Format goes through files and directories, and tells o of each file that is not in
// the canonical format, and of standard input in any case. One that cannot be
// formatted does not keep the others from it.
func (w *Workspace) Format(args []string, o FormatOptions) diag.Diagnostics {
	f := formatter{w: w, FormatOptions: o}
	for _, arg := range args {
		f.argument(arg)
	}
	return f.diags
}

type formatter struct {
	FormatOptions
	w     *Workspace
	diags diag.Diagnostics
}

func (f *formatter) fail(summary, detail string, args ...any) {
	f.diags = append(f.diags, diag.Errorf(summary, detail, args...))
}

func (f *formatter) argument(arg string) {
	if arg == "-" {
		f.stdin()
		return
	}
	info, err := os.Stat(f.w.Path(arg))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.fail("No such file or directory", "%q does not exist in %s.", arg, f.w.Dir)
	case err != nil:
		f.fail("Unreadable path", "%s.", err)
	case info.IsDir():
		f.directory(arg)
	case filepath.Ext(arg) != ".hcl":
		f.fail("Not a file to format", "%q is not in HCL's own syntax: the names of such files end in .hcl.", arg)
	default:
		f.file(arg)
	}
}

// directory formats what is in a directory. What begins with a dot is left out,
// and links to directories are not followed.
func (f *formatter) directory(dir string) {
	entries, err := os.ReadDir(f.w.Path(dir)) // sorted by name
	if err != nil {
		f.fail("Unreadable directory", "%s.", err)
		return
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		switch {
		case strings.HasPrefix(e.Name(), "."):
		case e.IsDir() && f.Recursive:
			f.directory(path)
		case !e.IsDir() && filepath.Ext(path) == ".hcl":
			f.file(path)
		}
	}
}

func (f *formatter) file(name string) {
	src, err := config.ReadSource(f.w.Path(name))
	if err != nil {
		f.fail("Unreadable file", "%q cannot be read: %s.", name, err)
		return
	}
	out, diags := config.Format(name, src)
	f.diags = append(f.diags, diags...)
	if diags.HasErrors() || bytes.Equal(src, out) {
		return
	}
	if f.Write {
		if err := durable.Replace(f.w.Path(name), out); err != nil {
			f.fail("Cannot write the file", "%s: %s.", name, err)
			if !errors.Is(err, durable.ErrUnsure) {
				return // it is as it was
			}
		}
	}
	f.Changed(name, src, out)
}

// stdin formats what comes in.
func (f *formatter) stdin() {
	src, err := io.ReadAll(io.LimitReader(f.Stdin, config.MaxFileSize+1))
	if err != nil {
		f.fail("Unreadable standard input", "%s.", err)
		return
	}
	out, diags := config.Format(StdinName, src)
	f.diags = append(f.diags, diags...)
	if diags.HasErrors() {
		return
	}
	f.Changed(StdinName, src, out)
}
