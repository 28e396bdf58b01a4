package cli

import (
	"github.com/urfave/cli/v2"

	"deployster/internal/base/diag"
	"deployster/internal/cli/standalone"
)

func migrateCommand(e Env) *cli.Command {
	return &cli.Command{
		Name:  "migrate",
		Usage: "convert the configuration of another tool",
		Subcommands: []*cli.Command{{
			Name:      "terraform",
			Usage:     "convert a configuration of Terraform, with its state",
			ArgsUsage: "DIR",
			Description: "It reads the configuration in DIR, the modules that it calls and its state, and writes manifests, a state, and " +
				"which\n" +
				"images to pack. It touches nothing else. What cannot be converted is listed in an error, and nothing is written.\n" +
				"Exit codes: 0 written, 1 error.",
			Flags: []cli.Flag{
				&cli.StringFlag{Name: "state", Usage: "Terraform's state is `FILE`; default: terraform.tfstate in DIR"},
				&cli.StringFlag{Name: "out", Usage: "write into `DIR`; default: the directory that is read"},
			},
			Action: e.action(runMigrateTerraform),
		}, {
			Name:      "deployster",
			Usage:     "convert manifests of the original deployster, in YAML with Jinja2",
			ArgsUsage: "[FILE.yaml ...]",
			Description: "It reads the named manifests, or those of the working directory, with its vars.auto.yaml and\n" +
				"vars.*.auto.yaml, and writes manifests in HCL. It touches nothing else. What has no counterpart becomes a\n" +
				"comment, and a variable without a value in its place.\n" +
				"Exit codes: 0 written, 3 written with such comments, 1 error.",
			Flags: []cli.Flag{
				&cli.StringSliceFlag{Name: "var-file", Usage: "read variables from `FILE`, in YAML; may be repeated"},
				&cli.StringFlag{Name: "out", Usage: "write into `DIR`; default: the working directory"},
			},
			Action: e.action(runMigrateOriginal),
		}},
	}
}

func runMigrateOriginal(c *cli.Context, s *session) error {
	complete, err := standalone.MigrateOriginal(s.engine.Workspace, s.out, c.Args().Slice(), c.StringSlice("var-file"), c.String("out"))
	if err == nil && !complete {
		return exitStatus(exitOpen)
	}
	return err
}

func runMigrateTerraform(c *cli.Context, s *session) error {
	if c.NArg() != 1 {
		return diag.Errorf("Wrong number of arguments", "Name one directory with a configuration of Terraform.")
	}
	return standalone.MigrateTerraform(c.Context, s.engine.Workspace, s.out, c.Args().First(), c.String("state"), c.String("out"))
}
