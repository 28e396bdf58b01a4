package cli

import (
	"bytes"

	"github.com/urfave/cli/v2"

	"deployster/internal/app/workspace"
)

func formatCommand(e Env) *cli.Command {
	return &cli.Command{
		Name:      "fmt",
		Usage:     "format manifests and variable files",
		ArgsUsage: "[FILE | DIR | -] ...",
		Description: "It formats files whose names end in .hcl; a directory stands for those in it, and - for standard input.\n" +
			"Exit codes: 0 done, 1 error, and with -check 3 when a file is not in the canonical format.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "check", Usage: "write nothing; exit with 3 when a file is not formatted"},
			&cli.BoolFlag{Name: "diff", Usage: "show the differences"},
			&cli.BoolFlag{Name: "list", Usage: "do not list the files that change", Value: true},
			&cli.BoolFlag{Name: "recursive", Usage: "include the directories below"},
			&cli.BoolFlag{Name: "write", Usage: "do not write the files; -check and standard input imply it", Value: true},
		},
		Action: e.action(runFormat),
	}
}

// exitUnformatted is the exit code of `fmt -check` for unformatted files, the same as
// Terraform's.
const exitUnformatted = 3

func runFormat(c *cli.Context, s *session) error {
	check, changed := c.Bool("check"), false
	args := c.Args().Slice()
	if len(args) == 0 {
		args = []string{"."}
	}
	diags := workspace.Format(s.engine.Workspace.Options, args, workspace.FormatOptions{Stdin: s.env.Stdin, Recursive: c.Bool("recursive"),
		Write: c.Bool("write") && !check,
		Changed: func(name string, before, after []byte) {
			same, stdin := bytes.Equal(before, after), name == workspace.StdinName
			changed = changed || !same
			if c.Bool("list") && !stdin {
				s.out.Printf("%s\n", name)
			}
			switch {
			case c.Bool("diff") && !(stdin && check):
				s.out.Diff(name, before, after)
			case !stdin || check:
			case s.env.Color: // a terminal: the text must not control it
				s.out.Printf("%s", after)
			default:
				s.out.Raw(string(after))
			}
		}})
	switch {
	case len(diags) > 0:
		return diags
	case check && changed:
		return exitStatus(exitUnformatted)
	}
	return nil
}
