package artifacts

import (
	"context"
	"slices"

	"github.com/urfave/cli/v2"

	"deployster/internal/app"
	"deployster/internal/app/versions"
	"deployster/internal/app/workspace"
	"deployster/internal/base/diag"
	"deployster/internal/ui/terminal"
)

// Session is the session in which a command runs.
type Session struct {
	Engine   *app.Engine
	Out, Err terminal.Printer // Out is for results, Err for everything else
	Inputs   workspace.Inputs // without arguments
	Confirm  func(ctx context.Context, question string, whole bool) (bool, error)
}

// Run runs a command and returns its exit code.
type Run func(*cli.Context, Session) (code int, err error)

// The exit codes of these commands.
const (
	done   = 0
	failed = 1
	newer  = 2
)

// Command returns the command. variables returns the flags for values of variables, and
// action makes a cli action of a function that runs in a session.
func Command(variables func() []cli.Flag, action func(Run) cli.ActionFunc) *cli.Command {
	asJSON := func() cli.Flag { return &cli.BoolFlag{Name: "json", Usage: "as JSON"} }
	flags := func(own ...cli.Flag) []cli.Flag { return slices.Concat(variables(), own) }
	return &cli.Command{
		Name:  "artifact",
		Usage: "list, check, copy and pin artifacts, and clean up their files",
		Subcommands: []*cli.Command{
			{Name: "list", Usage: "list the declared artifacts, and which versions are in use", Flags: flags(asJSON()),
				Action: action(list)},
			{Name: "check", Usage: "query images for newer versions, and change nothing", ArgsUsage: "[NAME ...]",
				Description: "Without names it checks all artifacts in use. Exit codes: 0, and 1 for an error; with\n" +
					"-detailed-exitcode 2 if there are newer versions than those in use.",
				Flags:  flags(&cli.BoolFlag{Name: "detailed-exitcode", Usage: "exit with 2 if there are newer versions"}, asJSON()),
				Action: action(check)},
			{Name: "versions", Usage: "list the versions of an artifact, the newest last", ArgsUsage: "NAME",
				Flags: flags(&cli.StringFlag{Name: "space", Usage: "only the versions of the space `NAME`"},
					&cli.IntFlag{Name: "limit", Value: versions.DefaultLimit, Usage: "the `N` newest"}, asJSON()), Action: action(line)},
			{Name: "get", Usage: "copy the files of an artifact into an empty directory", ArgsUsage: "NAME DIR [KEY=VALUE ...]",
				Description: "The version is the one in use, or the newest if none is in use, or that with the given parts.",
				Flags:       flags(), Action: action(get)},
			{Name: "pin", Usage: "hold an artifact at a version, in the lock file", ArgsUsage: "NAME [KEY=VALUE ...]",
				Description: "The version is the one in use, or the only one that is listed with the given parts.", Flags: flags(),
				Action: action(pin)},
			{Name: "unpin", Usage: "remove the pin of an artifact from the lock file", ArgsUsage: "NAME", Flags: flags(),
				Action: action(unpin)},
			{Name: "delete", Usage: "delete a version where it comes from", ArgsUsage: "NAME KEY=VALUE ...",
				Description: "The version is the only one that is listed with the given parts. One that is in use or pinned\n" +
					"is refused. Only images of artifacts-2 with a delete can do it.",
				Flags:  flags(&cli.BoolFlag{Name: "yes", Usage: "do not prompt"}),
				Action: action(remove)},
			{Name: "prune", Usage: "remove the least recently used files, until the store is within its limit",
				Flags: []cli.Flag{&cli.BoolFlag{Name: "all", Usage: "remove all files that no command uses now"}}, Action: action(prune)},
			{Name: "verify", Usage: "check the files of all artifacts, and remove changed ones",
				Description: "Exit codes: 0 no file was changed, 1 some were.", Action: action(verify)},
		},
		Action: func(c *cli.Context) error { return cli.ShowSubcommandHelp(c) },
	}
}

// takes returns an error for too few or too many arguments.
func takes(c *cli.Context, least, most int) error {
	if c.NArg() >= least && (most < 0 || c.NArg() <= most) {
		return nil
	}
	return diag.Errorf("Wrong number of arguments", "%s takes %s. `%s -help` describes "+
		"it.", c.Command.HelpName, what(c), c.Command.HelpName)
}

func what(c *cli.Context) string {
	if c.Command.ArgsUsage == "" {
		return "no arguments"
	}
	return c.Command.ArgsUsage
}
