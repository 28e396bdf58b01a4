package images

import (
	"context"
	"path"
	"strings"

	"github.com/urfave/cli/v2"

	"deployster/internal/app/images"
	"deployster/internal/app/machine"
	"deployster/internal/base/diag"
	"deployster/internal/cli/flagvalues"
	"deployster/internal/runtime/runner/imagestore"
)

func packCommand(action func(Run) cli.ActionFunc) *cli.Command {
	return &cli.Command{Name: "pack", Usage: "create an image from files", ArgsUsage: "DIR|FILE ...",
		Description: "The content of a DIR is put at /, a FILE at /FILE. Without -entrypoint and -base the first FILE is the program.\n" +
			"The same files give the same digest. -entrypoint and -cmd may be repeated, once for each word; -program, -add and -env too.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "t", Aliases: []string{"tag"}, Usage: "`NAME` of the image"},
			&cli.StringSliceFlag{Name: "entrypoint", Usage: "`WORD` of the entrypoint"},
			&cli.StringSliceFlag{Name: "cmd", Usage: "`WORD` of the default arguments"},
			&cli.StringSliceFlag{Name: "env", Usage: "`NAME=VALUE` in the environment"},
			&cli.StringFlag{Name: "base", Usage: "put the files on top of `IMAGE`"},
			&cli.BoolFlag{Name: "shell", Usage: "add what shell scripts need: busybox, and json to read and write JSON"},
			&cli.BoolFlag{Name: "python", Usage: "add the python3 of this machine, with its standard library"},
			&cli.StringSliceFlag{Name: "program", Usage: "add a program of this machine, by its `PATH`, with the libraries that it needs"},
			&cli.StringFlag{Name: "secret-program", Usage: "create a type of secret blocks from a program that prints a " +
				"secret, by its `PATH`; it adds what -shell adds"},
			&cli.StringFlag{Name: "terraform-provider", Usage: "create a type from a Terraform provider: `PATH` of its binary or its " +
				"directory"},
			&cli.StringSliceFlag{Name: "plug",
				Usage: "with -terraform-provider: the image needs a plug, `NAME=PATH` in the container, or NAME=PATH:rw"},
			&cli.StringFlag{Name: "workdir", Usage: "absolute `PATH` in the image at which programs start; default: that of the base, " +
				"else /"},
			&cli.StringSliceFlag{Name: "add",
				Usage: "add a file or directory at the same `PATH` as here, or PATH:TARGET, with the libraries that a .so file needs"},
		},
		Action: action(packImage)}
}

func packImage(c *cli.Context, s Session) error {
	programs, more := c.StringSlice("program"), c.StringSlice("add")
	terraform, secret := c.String("terraform-provider"), c.String("secret-program")
	nothing := c.NArg() == 0 && len(programs)+len(more)+len(terraform)+len(secret) == 0
	if c.String("t") == "" || nothing && !c.Bool("shell") && !c.Bool("python") {
		return diag.Errorf("Missing argument",
			"pack takes the image's name, and files or directories: deployster image pack -t acme/file:1 -shell type.sh")
	}
	env, err := flagvalues.Environment(c)
	if err != nil {
		return err
	}
	if plugs := c.StringSlice("plug"); len(plugs) > 0 {
		if err := images.CheckPlugs(plugs); err != nil || terraform == "" {
			return diag.Errorf("Invalid flag value", "-plug must be NAME=PATH or NAME=PATH:rw, with an absolute path, and needs "+
				"-terraform-provider.")
		}
		env[images.PlugsVariable] = strings.Join(plugs, ",")
	}
	store, err := s.Store(c.Context)
	if err != nil {
		return err
	}
	o := images.PackOptions{Reference: c.String("t"), Path: s.Engine.Workspace.Path, Args: c.Args().Slice(),
		Programs: programs, Terraform: terraform, Secret: secret, Add: more, Shell: c.Bool("shell"), Python: c.Bool("python"),
		Note: s.Engine.Workspace.Note, Base: c.String("base"), Entrypoint: c.StringSlice("entrypoint"), Cmd: c.StringSlice("cmd"), Env: env,
		WorkingDir: c.String("workdir")}
	if dir := o.WorkingDir; dir != "" && !path.IsAbs(dir) {
		return diag.Errorf("Invalid flag value", "-workdir must be an absolute path in the image, not %q.", dir)
	}
	pack := images.Pack
	if terraform != "" && len(o.Entrypoint) == 0 {
		pack = func(ctx context.Context, store images.Store, o images.PackOptions) (imagestore.Image, error) {
			return images.PackProvider(ctx, store, o, func(ctx context.Context, image string) error {
				runtime, err := s.Engine.Runtime(ctx)
				if err == nil {
					_, _, err = machine.Inspect(ctx, s.Engine.Command(), runtime, image)
				}
				return err
			})
		}
	}
	image, err := pack(c.Context, store, o)
	if err != nil {
		return err
	}
	printImages(s.Out, []imagestore.Image{image})
	return nil
}
