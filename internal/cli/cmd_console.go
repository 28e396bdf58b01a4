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
	"deployster/internal/base/diag"
	"deployster/internal/ui/terminal"
	"deployster/plan"
)

func consoleCommand(e Env) *cli.Command {
	return &cli.Command{
		Name:      "console",
		Usage:     "evaluate expressions, typed or from stdin",
		ArgsUsage: "[PATH ...]",
		Description: "PATH names manifests or directories of them; the default is the working directory. It runs no image:\n" +
			"what resource.NAME.state is, the state file says. From a pipe each line is an expression.",
		Flags:  varFlags(),
		Action: func(c *cli.Context) error { return runConsole(c, e) },
	}
}

// console evaluates what somebody types.
type console struct {
	s        *session
	manifest *config.Manifest
	scope    config.States
}

func runConsole(c *cli.Context, e Env) error {
	s, err := newSession(c, e)
	if err != nil {
		return err
	}
	m, err := s.consoleManifest(c)
	if err != nil {
		return err
	}
	path := s.statePath(c, m)
	snapshot, err := s.readState(c.Context, path)
	if err != nil {
		return err
	}
	k := &console{s: s, manifest: m, scope: config.States{}}
	for addr, entry := range snapshot.Resources {
		s.vault.add(plan.EntrySecrets(entry))
		if entry.Incomplete() {
			continue // what it is nobody knows
		}
		k.scope[addr] = config.ResourceState{Known: entry.State, Complete: true, Sensitive: entry.Sensitive.State}
	}
	if file, ok := e.Stdin.(*os.File); ok && e.Interactive {
		return s.ui.Console(c.Context, terminal.Console{Input: file, History: e.historyFile(),
			Unfinished: func(text string) bool { return config.Unfinished(text) && len(text) < maxExpression },
			Answer:     func(text string) bool { end, _ := k.answer(text); return end }})
	}
	return k.pipe(e.Stdin)
}

// consoleManifest reads the manifests; where there are none at all, expressions
// can be evaluated all the same.
func (s *session) consoleManifest(c *cli.Context) (*config.Manifest, error) {
	if _, diags := config.Find(s.dir, nil); c.NArg() == 0 && len(diags) == 1 && diags[0].Summary == config.NoManifest {
		m, diags := config.Load(config.Sources{Workspace: s.dir, Dir: s.dir}, nil, s.builtins())
		return s.loaded(m, diags)
	}
	return s.manifest(c)
}

// maxExpression is how long a line may be, in bytes.
const maxExpression = 1 << 20

// pipe evaluates each line of stdin. It goes on after a mistake, and ends with
// an error when there was one.
func (k *console) pipe(in io.Reader) error {
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
type(EXPRESSION) says what type it has. What is not known yet is shown as
(known after apply), what is secret as (sensitive value).
An open bracket or quote goes on in the next line. Up and down bring back what
was typed. Ctrl-C throws away what is typed; exit, quit and Ctrl-D end.
`

// answer evaluates one expression or does one of the console's own words, and
// reports whether that was the end, and whether it went well.
func (k *console) answer(text string) (done, ok bool) {
	switch strings.TrimSpace(text) {
	case "":
		return false, true
	case "exit", "quit":
		return true, true
	case "help":
		k.s.out.Printf("%s", consoleHelp)
		return false, true
	}
	shown, diags := k.manifest.Evaluate(text, k.scope)
	k.s.err.Diagnostics(k.s.hidden(diags))
	if diags.HasErrors() {
		return false, false
	}
	k.s.out.Printf("%s\n", shown)
	return false, true
}

// historyFile is where what was typed at consoles is kept, "" if nowhere.
func (e Env) historyFile() string {
	dir := e.get("XDG_STATE_HOME")
	if !filepath.IsAbs(dir) {
		if e.Home == "" {
			return ""
		}
		dir = filepath.Join(e.Home, ".local", "state")
	}
	return filepath.Join(dir, "deployster", "console_history")
}
