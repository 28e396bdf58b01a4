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

// FormatOptions declare what to do with files that are not in the canonical format.
type FormatOptions struct {
	Stdin     io.Reader // read for the argument -
	Recursive bool      // also in subdirectories
	Write     bool      // write the formatted files
	Changed   func(name string, before, after []byte)
}

// StdinName is the name of standard input among files.
const StdinName = "<stdin>"

// Format formats files and directories. It calls how.Changed for each file that is not in
// the canonical format, and for standard input in any case. An error in one file does not
// keep it from formatting the others.
func Format(o Options, args []string, how FormatOptions) diag.Diagnostics {
	f := formatter{o: o, FormatOptions: how}
	for _, arg := range args {
		f.argument(arg)
	}
	return f.diags
}

type formatter struct {
	FormatOptions
	o     Options
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
	info, err := os.Stat(f.o.Path(arg))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.fail("No such file or directory", "%q does not exist in %s.", arg, f.o.Dir)
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

// directory formats the files in a directory. It leaves out names that begin with a dot,
// and does not follow links to directories.
func (f *formatter) directory(dir string) {
	entries, err := os.ReadDir(f.o.Path(dir)) // sorted by name
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
	src, err := config.ReadSource(f.o.Path(name))
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
		if err := durable.Replace(f.o.Path(name), out); err != nil {
			f.fail("Cannot write the file", "%s: %s.", name, err)
			if !errors.Is(err, durable.ErrUnsure) {
				return // the file is unchanged
			}
		}
	}
	f.Changed(name, src, out)
}

// stdin formats standard input.
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
