package commandline

import (
	"cmp"
	"fmt"
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

// Line is the parsed command line. It is parsed before the flag library parses it: events
// and the messages about mistakes depend on it, and the library requires flags before
// arguments, while people write them anywhere.
type Line struct {
	Global []string          // flags that all commands have
	Local  []string          // flags of the command
	Rest   []string          // arguments
	Path   []string          // the command, and the command within it
	Values map[string]string // of the flags; "true" for a switch that is on
	Err    error             // the first mistake
}

// Read parses the arguments to their end, whatever mistakes they have. It also reads the
// values of the lenient flags, even if the command does not have them.
func Read(app *cli.App, args []string, lenient []cli.Flag) Line {
	if len(args) > 0 && args[0] == CompleteCommand {
		return completing(app, args)
	}
	line := Line{Values: map[string]string{}}
	commands, local := app.Commands, []cli.Flag(nil)
	fail := func(err error) { line.Err = cmp.Or(line.Err, err) }
	for i := 0; i < len(args); i++ {
		arg := args[i]
		switch {
		case len(line.Path) == 0 && (arg == "--version" || arg == "-version"):
			arg = "version" // people try this form first
		case len(line.Path) == 0 && arg == "help":
			arg = "-help"
		}
		if arg == "--" {
			line.Rest = append(line.Rest, args[i+1:]...)
			break
		}
		if len(arg) < 2 || arg[0] != '-' {
			command := find(commands, arg)
			switch {
			case len(line.Rest) > 0 || len(commands) == 0:
				line.Rest = append(line.Rest, arg)
			case command == nil:
				line.Path = append(line.Path, arg)
				fail(unknownCommand(line.Path, commands))
				commands = nil
			default:
				line.Path = append(line.Path, arg)
				commands, local = command.Subcommands, command.Flags
			}
			continue
		}
		name, value, hasValue := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		into, flag := &line.Local, lookup(local, name)
		if flag == nil {
			if flag = lookup(app.Flags, name); flag != nil {
				into = &line.Global
			}
		}
		if flag == nil && !isHelp(name) {
			fail(unknownFlag(arg, line.Path, slices.Concat(local, app.Flags)))
			flag = lookup(lenient, name) // these flags decide how the mistake is reported
		}
		*into = append(*into, arg)
		if _, isBool := flag.(*cli.BoolFlag); (isBool || flag == nil && isHelp(name)) && !hasValue {
			value = "true"
		} else if flag != nil && !hasValue {
			if i++; i == len(args) || len(line.Path) == 0 && find(commands, args[i]) != nil && !slices.ContainsFunc(args[i+1:], notFlag) {
				fail(noValue(arg, args[i:]))
				i--
				continue
			}
			value = args[i]
			*into = append(*into, value)
		}
		line.Values[name] = value
	}
	fail(emptyPath(line))
	return line
}

// CompleteCommand is the hidden command by which shells complete words: its arguments are
// the words of another command line, which may be invalid.
const CompleteCommand = "complete"

// completing returns the line of that command, with the directory and the state of the other command line.
func completing(app *cli.App, args []string) Line {
	words := args[1:]
	if len(words) > 0 && words[0] == "--" {
		words = words[1:]
	}
	line := Line{Path: args[:1], Rest: words, Values: map[string]string{}}
	other := Read(app, words[:max(0, len(words)-1)], nil)
	for _, name := range []string{"chdir", "state"} {
		if value := other.Values[name]; value != "" {
			line.Values[name] = value
			line.Global = append(line.Global, "-"+name+"="+value)
		}
	}
	return line
}

// Help reports whether the user requests only the help of the command.
func (l Line) Help() bool { return l.Bool("help") || l.Bool("h") }

// standingArgs is the environment variable with flags for all commands; with _COMMAND
// after it, such as DEPLOYSTER_CLI_ARGS_plan, it has the flags for one.
const standingArgs = "DEPLOYSTER_CLI_ARGS"

// WithStanding adds the flags of the environment. Flags of the command line override them.
func (l Line) WithStanding(app *cli.App, env func(string) string) Line {
	words := strings.Fields(env(standingArgs))
	if len(l.Path) > 0 {
		words = append(words, strings.Fields(env(standingArgs+"_"+strings.Join(l.Path, "_")))...)
	}
	if len(words) == 0 || l.Err != nil {
		return l
	}
	standing := Read(app, slices.Concat(l.Path, words), nil)
	if l.Err = standing.Err; l.Err != nil {
		l.Err = diag.Errorf("Wrong flags in "+standingArgs, "%s", diag.From("", l.Err)[0].Detail)
	}
	if len(standing.Rest) > 0 {
		l.Err = diag.Errorf("Wrong flags in "+standingArgs, "%q is not a flag: the variable must contain flags only.", standing.Rest[0])
	}
	l.Global, l.Local = slices.Concat(standing.Global, l.Global), slices.Concat(standing.Local, l.Local)
	for name, value := range standing.Values {
		if _, given := l.Values[name]; !given {
			l.Values[name] = value
		}
	}
	return l
}

// Args returns the arguments in the order that the library requires.
func (l Line) Args() []string {
	args := slices.Concat(l.Global, l.Path, l.Local)
	if len(l.Rest) > 0 {
		args = append(append(args, "--"), l.Rest...)
	}
	return args
}

// takesPaths are the commands whose arguments are manifests and directories.
var takesPaths = []string{"init", "plan", "apply", "drift", "watch", "validate", "graph", "console"}

// emptyPath returns an error for an empty argument: it comes from a variable that is not
// set, and ignoring it would mean the whole directory.
func emptyPath(l Line) error {
	if !slices.Contains(l.Rest, "") || !slices.Contains(append(takesPaths, "fmt", "show", "sign"), l.Command()) {
		return nil
	}
	return diag.Errorf("Empty argument", "An argument of `deployster %s` is empty, as \"$NAME\" is whose variable is not set. Without "+
		"it, the working directory is used; or name a file.", l.Command())
}

// InDirectory turns a single argument that is a directory into -chdir, for the commands
// to which both mean the same. path makes paths absolute.
func (l Line) InDirectory(path func(string) string) Line {
	if len(l.Rest) != 1 || !slices.Contains(takesPaths, l.Command()) {
		return l
	}
	dir := l.Rest[0]
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(path(l.Values["chdir"]), dir)
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return l
	}
	l.Global, l.Rest, l.Values = append(slices.Clone(l.Global), "-chdir="+dir), nil, maps.Clone(l.Values)
	l.Values["chdir"] = dir
	return l
}

// Command returns the command, "" if there is none.
func (l Line) Command() string {
	if len(l.Path) == 0 {
		return ""
	}
	return l.Path[0]
}

// Bool reports whether a switch is on.
func (l Line) Bool(name string) bool {
	value, _ := strconv.ParseBool(l.Values[name]) // the library reports an invalid value later
	return value
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
		if !c.Hidden {
			names = append(names, c.Name)
		}
	}
	wrong := path[len(path)-1]
	return diag.Errorf("Unknown command", "Unknown command %q.%s The commands are: %s.",
		diag.Visible(strings.Join(path, " ")), words.DidYouMean(wrong, names), strings.Join(names, ", "))
}

// notFlag reports whether a word may be a command, or the value of a flag.
func notFlag(word string) bool { return !strings.HasPrefix(word, "-") }

// noValue returns the error for a flag after which nothing, or the command, stands.
func noValue(arg string, next []string) error {
	after := ""
	if len(next) > 0 {
		after = fmt.Sprintf(" What follows it, %s, is the command.", next[0])
	}
	return diag.Errorf("Missing flag value", "The flag needs an argument: %s.%s Write "+
		"%s=VALUE.", diag.Visible(arg), after, diag.Visible(arg))
}

func unknownFlag(arg string, path []string, flags []cli.Flag) error {
	var names []string
	for _, f := range flags {
		names = append(names, "-"+f.Names()[0])
	}
	name, _, _ := strings.Cut(arg, "=")
	command := strings.Join(append([]string{"deployster"}, path...), " ")
	return diag.Errorf("Unknown flag", "%s has no flag %s.%s `%s -help` lists all.",
		command, diag.Visible(name), words.DidYouMean("-"+strings.TrimLeft(name, "-"), names), command)
}

// isHelp reports whether a flag is the help flag, which the library adds to every command.
func isHelp(name string) bool { return name == "help" || name == "h" }
