package cli

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"deployster/internal/base/diag"
	"deployster/internal/base/words"
)

// permute sorts a command line so that flags may stand anywhere: the library
// wants them before the arguments, as Go's own flag package does, and people
// write them where they think of them.
func permute(app *cli.App, args []string) ([]string, error) {
	var global, path, flags, rest []string
	commands, known := app.Commands, app.Flags[:len(app.Flags):len(app.Flags)]
	local := []cli.Flag(nil)
	for i := 0; i < len(args); i++ {
		arg := args[i]
		switch {
		case len(path) == 0 && (arg == "--version" || arg == "-version"):
			arg = "version" // where people look for it first
		case len(path) == 0 && arg == "help":
			arg = "-help"
		}
		if arg == "--" {
			rest = append(rest, args[i+1:]...)
			break
		}
		if len(arg) < 2 || arg[0] != '-' {
			if command := find(commands, arg); command != nil && len(rest) == 0 {
				path = append(path, arg)
				commands, local = command.Subcommands, command.Flags
				continue
			}
			if len(commands) > 0 && len(rest) == 0 {
				return nil, unknownCommand(append(path, arg), commands)
			}
			rest = append(rest, arg)
			continue
		}
		name, _, hasValue := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		into := &flags
		flag := lookup(local, name)
		if flag == nil {
			if flag = lookup(known, name); flag != nil {
				into = &global
			}
		}
		if flag == nil && !isHelp(name) {
			return nil, unknownFlag(arg, path, slices.Concat(local, known))
		}
		*into = append(*into, arg)
		if _, isBool := flag.(*cli.BoolFlag); flag != nil && !isBool && !hasValue && i+1 < len(args) {
			i++
			*into = append(*into, args[i])
		}
	}
	line := slices.Concat(global, path, flags)
	if len(rest) > 0 {
		line = append(append(line, "--"), rest...)
	}
	return line, nil
}

func find(commands []*cli.Command, name string) *cli.Command {
	for _, c := range commands {
		if c.HasName(name) {
			return c
		}
	}
	return nil
}

func lookup(flags []cli.Flag, name string) cli.Flag {
	for _, f := range flags {
		if slices.Contains(f.Names(), name) {
			return f
		}
	}
	return nil
}

func unknownCommand(path []string, commands []*cli.Command) error {
	var names []string
	for _, c := range commands {
		names = append(names, c.Name)
	}
	wrong := path[len(path)-1]
	return diag.Errorf("Unknown command", "There is no command %q. %sThere are: %s.",
		diag.Visible(strings.Join(path, " ")), words.DidYouMean(wrong, names, ""), strings.Join(names, ", "))
}

func unknownFlag(arg string, path []string, flags []cli.Flag) error {
	var names []string
	for _, f := range flags {
		names = append(names, f.Names()[0])
	}
	name, _, _ := strings.Cut(arg, "=")
	command := strings.Join(append([]string{"deployster"}, path...), " ")
	return diag.Errorf("Wrong command line", "%s has no flag %s. %s`%s -help` lists what there is.",
		command, diag.Visible(name), words.DidYouMean(strings.TrimLeft(name, "-"), names, "-"), command)
}

// isHelp names the flag that the library adds to every command.
func isHelp(name string) bool { return name == "help" || name == "h" }

// atMost refuses what a command would not look at.
func atMost(c *cli.Context, most int) error {
	if c.NArg() <= most {
		return nil
	}
	return diag.Errorf("Wrong command line", "%s does not know what to do with %q. `%s -help` tells what it takes.",
		c.Command.HelpName, diag.Visible(c.Args().Get(most)), c.Command.HelpName)
}
