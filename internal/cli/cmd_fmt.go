package cli

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/base/durable"
)

func formatCommand(e Env) *cli.Command {
	return &cli.Command{
		Name:      "fmt",
		Usage:     "write manifests and variable files in the canonical format",
		ArgsUsage: "[FILE | DIR | -] ...",
		Description: "Only files whose names end in .hcl are looked at; a directory stands for those in it, and - for standard input.\n" +
			"Exit codes: 0 done, 1 error, and with -check 3 when a file is not in the canonical format.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "check", Usage: "write nothing; exit 3 when something would be changed"},
			&cli.BoolFlag{Name: "diff", Usage: "show what changes"},
			&cli.BoolFlag{Name: "list", Usage: "list the files that change (default: true)", Value: true},
			&cli.BoolFlag{Name: "recursive", Usage: "also the directories below"},
			&cli.BoolFlag{Name: "write", Usage: "write the files (default: true; false with -check and standard input)", Value: true},
		},
		Action: func(c *cli.Context) error { return runFormat(c, e) },
	}
}

// exitUnformatted is the exit code of `fmt -check`, which it shares with
// Terraform's.
const exitUnformatted = 3

func runFormat(c *cli.Context, e Env) error {
	s, err := newSession(c, e)
	if err != nil {
		return err
	}
	f := formatter{s: s, check: c.Bool("check"), diff: c.Bool("diff"), list: c.Bool("list"),
		recursive: c.Bool("recursive"), write: c.Bool("write") && !c.Bool("check")}
	args := c.Args().Slice()
	if len(args) == 0 {
		args = []string{"."}
	}
	for _, arg := range args {
		f.argument(arg)
	}
	switch {
	case len(f.diags) > 0:
		return f.diags
	case f.check && f.changed:
		return exitStatus(exitUnformatted)
	}
	return nil
}

// formatter goes through files. One that cannot be formatted does not keep the
// others from it.
type formatter struct {
	s                                   *session
	check, diff, list, recursive, write bool
	changed                             bool
	diags                               diag.Diagnostics
}

func (f *formatter) fail(summary, detail string, args ...any) {
	f.diags = append(f.diags, diag.Errorf(summary, detail, args...))
}

func (f *formatter) argument(arg string) {
	if arg == "-" {
		f.stdin()
		return
	}
	info, err := os.Stat(f.s.path(arg))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.fail("No such file or directory", "%q does not exist in %s.", arg, f.s.dir)
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
	entries, err := os.ReadDir(f.s.path(dir)) // sorted by name
	if err != nil {
		f.fail("Unreadable directory", "%s.", err)
		return
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		switch {
		case strings.HasPrefix(e.Name(), "."):
		case e.IsDir() && f.recursive:
			f.directory(path)
		case !e.IsDir() && filepath.Ext(path) == ".hcl":
			f.file(path)
		}
	}
}

func (f *formatter) file(name string) {
	src, err := config.ReadSource(f.s.path(name))
	if err != nil {
		f.fail("Unreadable file", "%q cannot be read: %s.", name, err)
		return
	}
	out, diags := config.Format(name, src)
	f.diags = append(f.diags, diags...)
	if diags.HasErrors() || bytes.Equal(src, out) {
		return
	}
	f.changed = true
	if f.write {
		if err := durable.Replace(f.s.path(name), out); err != nil {
			f.fail("Cannot write the file", "%s: %s.", name, err)
			if !errors.Is(err, durable.ErrUnsure) {
				return // it is as it was
			}
		}
	}
	if f.list {
		f.s.out.Printf("%s\n", name)
	}
	if f.diff {
		f.s.out.Diff(name, src, out)
	}
}

// stdin formats what comes in, to stdout.
func (f *formatter) stdin() {
	const name = "<stdin>"
	src, err := io.ReadAll(io.LimitReader(f.s.env.Stdin, config.MaxFileSize+1))
	if err != nil {
		f.fail("Unreadable standard input", "%s.", err)
		return
	}
	out, diags := config.Format(name, src)
	f.diags = append(f.diags, diags...)
	if diags.HasErrors() {
		return
	}
	f.changed = f.changed || !bytes.Equal(src, out)
	switch {
	case f.check:
	case f.diff:
		f.s.out.Diff(name, src, out)
	case f.s.env.Color: // a terminal: nothing in the text may steer it
		f.s.out.Printf("%s", out)
	default:
		f.s.out.Raw(string(out))
	}
}
