package cli

import (
	"cmp"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"deployster/internal/base/diag"
	"deployster/internal/base/words"

	"github.com/urfave/cli/v2"
)

// commandLine is what the arguments of the process say. It is read before the flag
// library reads it: events and the words of mistakes depend on it, and the library
// wants flags before arguments, where people write them where they think of them.
type commandLine struct {
	global []string          // flags that all commands have
	local  []string          // flags of the command
	rest   []string          // arguments
	path   []string          // the command, and the command within it
	values map[string]string // of the flags; a switch that is on has "true"
	err    error             // the first mistake
}

// readCommandLine reads it to its end, whatever mistakes are in it.
func readCommandLine(app *cli.App, args []string) commandLine {
	line := commandLine{values: map[string]string{}}
	commands, local := app.Commands, []cli.Flag(nil)
	fail := func(err error) { line.err = cmp.Or(line.err, err) }
	for i := 0; i < len(args); i++ {
		arg := args[i]
		switch {
		case len(line.path) == 0 && (arg == "--version" || arg == "-version"):
			arg = "version" // where people look for it first
		case len(line.path) == 0 && arg == "help":
			arg = "-help"
		}
		if arg == "--" {
			line.rest = append(line.rest, args[i+1:]...)
			break
		}
		if len(arg) < 2 || arg[0] != '-' {
			command := find(commands, arg)
			switch {
			case len(line.rest) > 0 || len(commands) == 0:
				line.rest = append(line.rest, arg)
			case command == nil:
				line.path = append(line.path, arg)
				fail(unknownCommand(line.path, commands))
				commands = nil
			default:
				line.path = append(line.path, arg)
				commands, local = command.Subcommands, command.Flags
			}
			continue
		}
		name, value, hasValue := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		into, flag := &line.local, lookup(local, name)
		if flag == nil {
			if flag = lookup(app.Flags, name); flag != nil {
				into = &line.global
			}
		}
		if flag == nil && !isHelp(name) {
			fail(unknownFlag(arg, line.path, slices.Concat(local, app.Flags)))
			flag = lookup(eventFlags(), name) // the mistake is told by them
		}
		*into = append(*into, arg)
		if _, isBool := flag.(*cli.BoolFlag); isBool && !hasValue {
			value = "true"
		} else if flag != nil && !hasValue && i+1 < len(args) {
			i++
			value = args[i]
			*into = append(*into, value)
		}
		line.values[name] = value
	}
	return line
}

// standingArgs is the environment variable with flags of all commands; followed by
// _COMMAND, such as DEPLOYSTER_CLI_ARGS_plan, with those of one.
const standingArgs = "DEPLOYSTER_CLI_ARGS"

// withStanding adds the flags of the environment. Those of the command line win.
func (l commandLine) withStanding(app *cli.App, e Env) commandLine {
	words := strings.Fields(e.get(standingArgs))
	if len(l.path) > 0 {
		words = append(words, strings.Fields(e.get(standingArgs+"_"+strings.Join(l.path, "_")))...)
	}
	if len(words) == 0 || l.err != nil {
		return l
	}
	standing := readCommandLine(app, slices.Concat(l.path, words))
	if l.err = standing.err; len(standing.rest) > 0 {
		l.err = diag.Errorf("Wrong flags in "+standingArgs, "%q is no flag: the variable holds flags only.", standing.rest[0])
	}
	l.global, l.local = slices.Concat(standing.global, l.global), slices.Concat(standing.local, l.local)
	for name, value := range standing.values {
		if _, given := l.values[name]; !given {
			l.values[name] = value
		}
	}
	return l
}

// args are the arguments as the library wants them.
func (l commandLine) args() []string {
	args := slices.Concat(l.global, l.path, l.local)
	if len(l.rest) > 0 {
		args = append(append(args, "--"), l.rest...)
	}
	return args
}

// takesPaths are the commands whose arguments are manifests and directories.
var takesPaths = []string{"init", "plan", "apply", "drift", "watch", "validate", "graph", "console"}

// inDirectory gives the line that works in the one directory that it names: as
// an argument that means what -chdir to it means.
func (l commandLine) inDirectory(e Env) commandLine {
	if len(l.rest) != 1 || !slices.Contains(takesPaths, l.command()) {
		return l
	}
	dir := l.rest[0]
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(e.path(l.values["chdir"]), dir)
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return l
	}
	l.global, l.rest, l.values = append(slices.Clone(l.global), "-chdir="+dir), nil, maps.Clone(l.values)
	l.values["chdir"] = dir
	return l
}

// command returns the command, "" if there is none.
func (l commandLine) command() string {
	if len(l.path) == 0 {
		return ""
	}
	return l.path[0]
}

// on reports whether a switch is on.
func (l commandLine) on(name string) bool {
	on, _ := strconv.ParseBool(l.values[name]) // what is no bool is an error of the library, later
	return on
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
	return diag.Errorf("Unknown command", "There is no command %q.%s There are: %s.",
		diag.Visible(strings.Join(path, " ")), words.DidYouMean(wrong, names), strings.Join(names, ", "))
}

func unknownFlag(arg string, path []string, flags []cli.Flag) error {
	var names []string
	for _, f := range flags {
		names = append(names, "-"+f.Names()[0])
	}
	name, _, _ := strings.Cut(arg, "=")
	command := strings.Join(append([]string{"deployster"}, path...), " ")
	return diag.Errorf("Wrong command line", "%s has no flag %s.%s `%s -help` lists what there is.",
		command, diag.Visible(name), words.DidYouMean("-"+strings.TrimLeft(name, "-"), names), command)
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
