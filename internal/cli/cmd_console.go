package cli

import (
	"bufio"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"deployster/config"
	"deployster/internal/app/workspace"
	"deployster/internal/base/diag"
	"deployster/internal/cli/settings"
	"deployster/internal/ui/terminal"
)

func consoleCommand(e Env) *cli.Command {
	return &cli.Command{
		Name:      "console",
		Usage:     "evaluate expressions, typed or from stdin",
		ArgsUsage: "[PATH ...]",
		Description: "PATH is a directory to work in, like -chdir, or manifests; the default is the working directory. It runs no " +
			"image:\n" +
			"resource.NAME.state is what the state has. From a pipe, each line is one expression.",
		Flags:  varFlags(),
		Action: e.action(runConsole),
	}
}

// console evaluates the expressions that a user types.
type console struct {
	s *session
	k *workspace.Console
}

func runConsole(c *cli.Context, s *session) error {
	evaluator, err := s.engine.Workspace.Console(c.Context, inputs(c, s))
	if err != nil {
		return err
	}
	k := console{s, evaluator}
	if file, ok := s.env.Stdin.(*os.File); ok && s.env.Interactive {
		return s.ui.Console(c.Context, terminal.Console{Input: file, History: s.env.historyFile(),
			Unfinished: func(text string) bool { return config.Unfinished(text) && len(text) < maxExpression },
			Answer:     func(text string) bool { end, _ := k.answer(text); return end }})
	}
	return k.pipe(s.env.Stdin)
}

// maxExpression is the maximum length of an expression, in bytes.
const maxExpression = 1 << 20

// pipe evaluates each line of stdin. It continues after an invalid one, and returns an
// error at the end if there was any.
func (k console) pipe(in io.Reader) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxExpression)
	wrong := false
	for lines.Scan() {
		done, ok := k.answer(lines.Text())
		if wrong = wrong || !ok; done {
			break
		}
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return diag.Errorf("Too long", "An expression has more than %d bytes. What came before it was evaluated.", maxExpression)
	case err != nil:
		return diag.Errorf("Cannot read the expressions", "%s.", err)
	case wrong:
		return exitStatus(exitError)
	}
	return nil
}

const consoleHelp = `Type an expression to see its value:
  var.NAME, local.NAME, resource.NAME.state, upper("a"), [for x in range(3) : x]
type(EXPRESSION) prints its type. Unknown values are shown as (known after apply),
secrets as (sensitive value).
An open bracket or quote continues in the next line. Up and down recall earlier
lines. Ctrl-C clears the line; exit, quit and Ctrl-D end.
`

// answer evaluates one expression or runs one of the console's own commands. done reports
// whether the console ends, ok whether the expression was valid.
func (k console) answer(text string) (done, ok bool) {
	switch strings.TrimSpace(text) {
	case "":
		return false, true
	case "exit", "quit":
		return true, true
	case "help":
		k.s.out.Printf("%s", consoleHelp)
		return false, true
	}
	shown, ok := k.k.Evaluate(text)
	if ok {
		k.s.out.Printf("%s\n", shown)
	}
	return false, ok
}

// historyFile returns the file in which the inputs of consoles are kept, "" if none.
func (e Env) historyFile() string {
	dir := settings.Lookup(e.get).StateDir(e.Home)
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, "console_history")
}
