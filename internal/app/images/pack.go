package images

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"deployster/internal/base/diag"
	"deployster/internal/base/imagefiles"
	"deployster/internal/base/words"
	"deployster/internal/runtime/artifact"
	"deployster/internal/runtime/runner/imagestore"
)

// PackOptions declare what an image is made of.
type PackOptions struct {
	Reference       string                   // the new image's name
	Path            func(path string) string // makes a path of the user's absolute
	Args            []string                 // files, and directories whose content is put into /
	Programs        []string                 // of this machine, with their libraries
	Add             []string                 // PATH or PATH:TARGET
	Terraform       string                   // a Terraform provider, or the directory that it is in; "" = none
	Secret          string                   // a program that prints a secret; "" = none
	Shell           bool                     // the files that shell scripts need
	Python          bool                     // the Python of this machine
	Note            func(string, ...any)     // called with what is left out
	Base            string                   // an image whose files are the base of the new one; "" = none
	Entrypoint, Cmd []string
	WorkingDir      string // absolute
	Env             map[string]string
}

// Pack makes an image of files.
func Pack(ctx context.Context, s Store, o PackOptions) (imagestore.Image, error) {
	if o.Base != "" && (o.Shell || o.Python || len(o.Programs) > 0) {
		return imagestore.Image{}, diag.Errorf("Conflicting flags",
			"-base is an image that has its programs; -shell, -python and -program are for images without one.")
	}
	var files imagefiles.Set
	defer func() { _ = files.Close() }() // they were only read
	first, err := o.collect(ctx, &files)
	if err != nil {
		return imagestore.Image{}, err
	}
	p := imagestore.PackOptions{Reference: o.Reference, Files: &files, Entrypoint: o.Entrypoint, Cmd: o.Cmd, Env: o.Env, Base: o.Base,
		WorkingDir: o.WorkingDir}
	if o.Terraform != "" {
		p.Labels = map[string]string{imagestore.LabelReadOnly: "true"}
	}
	if len(p.Entrypoint) == 0 && p.Base == "" && first != "" {
		p.Entrypoint = []string{first}
	}
	if err := runnable(&files, &p); err != nil {
		return imagestore.Image{}, err
	}
	image, err := s.Pack(ctx, p)
	if script := o.startsOften(); err == nil && script != "" && o.Note != nil {
		o.Note("%s declares no \"reuse\": each query starts a container. With \"reuse\": true queries share one, and with "+
			"\"reuse_actions\": true actions do, too. deployster type test shows whether the type may declare them.", script)
	}
	return image, err
}

// startsOften returns the script of a type that declares neither "reuse" nor a worker; "" = there is none.
func (o PackOptions) startsOften() (script string) {
	if !o.Shell && !o.Python {
		return ""
	}
	for _, arg := range o.Args {
		text, err := os.ReadFile(o.Path(arg))
		switch {
		case err != nil: // a directory
		case strings.Contains(string(text), "reuse"), strings.Contains(string(text), "worker"):
			return ""
		case script == "" && strings.Contains(string(text), "state_action"):
			script = arg
		}
	}
	return script
}

// collect adds all files that the options name, and returns the path in the image of the
// first file among the arguments.
func (o PackOptions) collect(ctx context.Context, files *imagefiles.Set) (first string, err error) {
	failed := func(name string, err error) error {
		if pe, ok := errors.AsType[*os.PathError](err); ok {
			err = pe.Err
		}
		return diag.Errorf("Cannot create an image from the files", "%s: %s.", name, strings.TrimSuffix(err.Error(), "."))
	}
	for _, arg := range o.Args {
		info, err := os.Stat(o.Path(arg))
		switch {
		case err != nil:
			return "", failed(arg, err)
		case info.IsDir():
			err = files.AddTree(o.Path(arg), "/")
		default:
			target := "/" + filepath.Base(arg)
			if first == "" {
				first = target
			}
			err = files.AddFile(o.Path(arg), target)
		}
		if err != nil {
			return "", failed(arg, err)
		}
	}
	for _, pair := range o.Add {
		source, target, ok := strings.Cut(pair, ":")
		source = o.Path(source)
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
	for _, program := range o.Programs {
		if err := files.AddProgram(ctx, o.Path(program)); err != nil {
			return "", failed("-program "+program, err)
		}
	}
	if flag, err := o.addType(ctx, files, &first); err != nil {
		return "", failed(flag, err)
	}
	o.Shell = o.Shell || o.Secret != "" && o.Base == ""
	if o.Python {
		if err := files.AddPython(ctx); err != nil {
			return "", failed("-python", err)
		}
	}
	if len(o.Add) > 0 && o.Base == "" {
		if err := files.AddLibraries(ctx); err != nil {
			return "", failed("-add", err)
		}
	}
	if left := files.LeftOut(); len(left) > 0 && o.Note != nil {
		o.Note("Left out, as images have no devices, sockets and pipes: %s.", words.List(left, 5))
	}
	if o.Shell {
		if err := files.AddShell(ctx); err != nil {
			return "", failed("-shell", err)
		}
	}
	if o.Shell || o.Python || len(o.Programs) > 0 {
		if err := files.AddAccounts(); err != nil {
			return "", failed("/etc/passwd", err)
		}
	}
	return first, nil
}

// addType adds what makes a type of a Terraform provider or of a program, and sets the first program. flag is that of an error.
func (o PackOptions) addType(ctx context.Context, files *imagefiles.Set, first *string) (flag string, err error) {
	if o.Terraform != "" {
		if *first, err = addTerraform(ctx, files, o.Path(o.Terraform)); err != nil {
			return "-terraform-provider " + o.Terraform, err
		}
	}
	if o.Secret != "" {
		*first = imagefiles.SecretProgram
		return "-secret-program " + o.Secret, files.AddSecret(ctx, o.Path(o.Secret))
	}
	return "", nil
}

// runnable returns an error if the image has nothing that can run, while it can still report
// what is missing. An image of artifacts in Concourse's layout is run by the paths of its
// programs, and needs no entrypoint.
func runnable(files *imagefiles.Set, o *imagestore.PackOptions) error {
	entries := o.Entrypoint[:min(1, len(o.Entrypoint))]
	for _, program := range artifact.ConcoursePrograms() {
		if files.Has(program) {
			entries = append(slices.Clip(entries), program)
		}
	}
	for _, entry := range entries {
		files.Executable(entry)
		if files.WindowsLines(entry) {
			return diag.Errorf("The image has nothing to run",
				"The lines of %s end with a carriage return, as on Windows, which would be taken for a part of the name in its first "+
					"line. Give it Unix line ends: sed -i 's/\\r$//' FILE.", entry)
		}
	}
	switch {
	case len(entries)+len(o.Cmd) == 0 && o.Base == "":
		return diag.Errorf("The image has nothing to run", "Name its program: -entrypoint /type, for a file /type among its files.")
	case len(o.Entrypoint) == 0:
		return nil
	}
	entry := o.Entrypoint[0]
	if o.Base != "" || !strings.HasPrefix(entry, "/") {
		return nil
	}
	if !files.Has(entry) {
		return diag.Errorf("The image has nothing to run",
			"The entrypoint is %s, and there is no such file among its files. Names in the image begin with /.", entry)
	}
	if !files.Program(entry) {
		return diag.Errorf("The image has nothing to run",
			"The entrypoint %s is neither a program nor a script, whose first line names its interpreter: #!/bin/sh.", entry)
	}
	interpreter := files.Interpreter(entry)
	if interpreter == "" || files.Has(interpreter) {
		return nil
	}
	hint := "add it with -program " + interpreter
	if strings.Contains(interpreter, "python") {
		hint = "add it with -python"
	}
	if strings.HasSuffix(interpreter, "/sh") || strings.HasSuffix(interpreter, "/env") {
		hint = "add it with -shell"
	}
	return diag.Errorf("The image has nothing to run",
		"The first line of %s names %s, which is not among the image's files: %s, or put the files on top of an image that has it, with "+
			"-base.", entry, interpreter, hint)
}
