package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"deployster/containerd"
	"deployster/internal/base/diag"
	"deployster/internal/base/imagefiles"
)

func packCommand(e Env) *cli.Command {
	return &cli.Command{Name: "pack", Usage: "make an image of files", ArgsUsage: "DIR|FILE ...",
		Description: "What is in a DIR comes to /, a FILE to /FILE. Without -entrypoint and -base the first FILE is what runs.\n" +
			"The same files give the same digest. -entrypoint and -cmd may be repeated, once for each word; -program, -add and -env too.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "t", Aliases: []string{"tag"}, Usage: "`NAME` of the image"},
			&cli.StringSliceFlag{Name: "entrypoint", Usage: "`WORD` of the entrypoint"},
			&cli.StringSliceFlag{Name: "cmd", Usage: "`WORD` of the default arguments"},
			&cli.StringSliceFlag{Name: "env", Usage: "`NAME=VALUE` in the environment"},
			&cli.StringFlag{Name: "base", Usage: "put the files on top of `IMAGE`"},
			&cli.BoolFlag{Name: "shell", Usage: "add what shell scripts need: busybox, and json to read and write JSON"},
			&cli.StringSliceFlag{Name: "program", Usage: "add a program of this machine, by its `PATH`, with the libraries that it needs"},
			&cli.StringSliceFlag{Name: "add", Usage: "add a file or directory at the same `PATH` as here, or PATH:TARGET"},
		},
		Action: func(c *cli.Context) error { return withRuntime(c, e, packImage) }}
}

func packImage(c *cli.Context, s *session) error {
	programs, more := c.StringSlice("program"), c.StringSlice("add")
	if c.String("t") == "" || c.NArg() == 0 && len(programs)+len(more) == 0 && !c.Bool("shell") {
		return diag.Errorf("Wrong command line", "pack takes the image's name, and files or directories: deployster image pack -t acme/file:1 -shell type.sh")
	}
	if c.String("base") != "" && (c.Bool("shell") || len(programs) > 0) {
		return diag.Errorf("Wrong command line", "-base is an image that has its programs; -shell and -program are for images without one.")
	}
	env, err := environment(c)
	if err != nil {
		return err
	}
	var files imagefiles.Set
	defer func() { _ = files.Close() }() // they were only read
	first, err := s.collect(c.Context, &files, c.Args().Slice(), programs, more, c.Bool("shell"))
	if err != nil {
		return err
	}
	o := containerd.PackOptions{Reference: c.String("t"), Files: &files,
		Entrypoint: c.StringSlice("entrypoint"), Cmd: c.StringSlice("cmd"), Env: env, Base: c.String("base")}
	if len(o.Entrypoint) == 0 && o.Base == "" && first != "" {
		o.Entrypoint = []string{first}
	}
	if err := runnable(&files, &o); err != nil {
		return err
	}
	image, err := s.runtime.Pack(c.Context, o)
	if err != nil {
		return err
	}
	printImages(s.out, []containerd.ImageInfo{image})
	return nil
}

// collect puts together what the command line names, and gives the name in the
// image of the first file among the arguments.
func (s *session) collect(ctx context.Context, files *imagefiles.Set, args, programs, more []string, shell bool) (first string, err error) {
	failed := func(name string, err error) error {
		var pe *os.PathError
		if errors.As(err, &pe) {
			err = pe.Err
		}
		return diag.Errorf("The files cannot be made an image", "%s: %s.", name, strings.TrimSuffix(err.Error(), "."))
	}
	for _, arg := range args {
		info, err := os.Stat(s.path(arg))
		switch {
		case err != nil:
			return "", failed(arg, err)
		case info.IsDir():
			err = files.AddTree(s.path(arg), "/")
		default:
			target := "/" + filepath.Base(arg)
			if first == "" {
				first = target
			}
			err = files.AddFile(s.path(arg), target)
		}
		if err != nil {
			return "", failed(arg, err)
		}
	}
	for _, pair := range more {
		source, target, ok := strings.Cut(pair, ":")
		source = s.path(source)
		if !ok {
			target = source
		}
		add := files.AddFile
		if info, err := os.Stat(source); err == nil && info.IsDir() {
			add = files.AddTree
		}
		if err := add(source, target); err != nil {
			return "", failed("-add "+pair, err)
		}
	}
	for _, program := range programs {
		if err := files.AddProgram(ctx, s.path(program)); err != nil {
			return "", failed("-program "+program, err)
		}
	}
	if shell {
		if err := files.AddShell(ctx); err != nil {
			return "", failed("-shell", err)
		}
	}
	return first, nil
}

// runnable sees to it that the image has something that can run, while it can
// still be said what is missing.
func runnable(files *imagefiles.Set, o *containerd.PackOptions) error {
	switch {
	case o.Base != "" && len(o.Entrypoint) == 0:
		return nil
	case len(o.Entrypoint)+len(o.Cmd) == 0:
		return diag.Errorf("The image has nothing to run", "Say what runs in it: -entrypoint /type, for a file /type among its files.")
	case len(o.Entrypoint) == 0:
		return nil
	}
	entry := o.Entrypoint[0]
	files.Executable(entry)
	if files.WindowsLines(entry) {
		return diag.Errorf("The image has nothing to run", "The lines of %s end with a carriage return, as on Windows, which would be taken for a part of the name in its first line. Give it Unix line ends: sed -i 's/\\r$//' FILE.", entry)
	}
	if o.Base != "" || !strings.HasPrefix(entry, "/") {
		return nil
	}
	if !files.Has(entry) {
		return diag.Errorf("The image has nothing to run", "The entrypoint is %s, and there is no such file among its files. Names in the image begin with /.", entry)
	}
	if !files.Program(entry) {
		return diag.Errorf("The image has nothing to run", "The entrypoint %s is neither a program nor a script, whose first line would say what runs it: #!/bin/sh.", entry)
	}
	interpreter := files.Interpreter(entry)
	if interpreter == "" || files.Has(interpreter) {
		return nil
	}
	hint := "add it with -program " + interpreter
	if strings.HasSuffix(interpreter, "/sh") || strings.HasSuffix(interpreter, "/env") {
		hint = "add it with -shell"
	}
	return diag.Errorf("The image has nothing to run", "The first line of %s asks for %s, which is not among the image's files: %s, or put the files on top of an image that has it, with -base.", entry, interpreter, hint)
}
