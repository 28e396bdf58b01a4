package cli

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"deployster/internal/base/diag"
	"deployster/internal/base/words"
	"deployster/internal/runner"
	"deployster/state"
)

func resolveCommand(e Env) *cli.Command {
	return &cli.Command{
		Name:      "resolve",
		Usage:     "say how an action ended, where nobody else can know; without ADDRESS, list those actions",
		ArgsUsage: "[ADDRESS]",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "as", Usage: "`done` = it ended well, `failed` = it did not", DefaultText: "none"},
			&cli.BoolFlag{Name: "dry-run", Usage: "say what would be done, and leave the state as it is"},
			&cli.BoolFlag{Name: "json", Usage: "say what was done, or what is open, as JSON"},
		},
		Action: func(c *cli.Context) error { return runResolve(c, e) },
	}
}

// openAction is an action of which it is not known, or was not, how it ended.
type openAction struct {
	Address string        `json:"address"`
	Action  string        `json:"action"`
	Started time.Time     `json:"started"`
	By      state.By      `json:"by,omitzero"`     // the process that had started it
	As      state.Verdict `json:"as,omitempty"`    // what a person has said; absent = nothing yet
	Key     string        `json:"idempotency_key"` // what its image was given
}

// openActions lists what nobody knows the end of, by address and start.
func openActions(s state.Snapshot, as state.Verdict, addresses ...string) (list []openAction) {
	for _, addr := range addresses {
		u := s.Unsettled[addr]
		for _, a := range u.Open() {
			list = append(list, openAction{Address: addr, Action: a.Action, Started: a.Started, By: u.By, As: as, Key: a.Key})
		}
	}
	return list
}

func runResolve(c *cli.Context, e Env) error {
	if err := atMost(c, 1); err != nil {
		return err
	}
	as := state.Verdict(c.String("as"))
	switch {
	case c.NArg() == 0 && as == "":
		return listOpen(c, e)
	case c.NArg() == 0:
		return diag.Errorf("Wrong command line", "resolve -as=%s takes the address of one resource. `deployster resolve` lists those that have an action whose end is not known.", diag.Visible(string(as)))
	case as != state.Done && as != state.Failed:
		return diag.Errorf("Wrong command line", "resolve takes -as=done (the action of %s ended well) or -as=failed (it did not).", diag.Visible(c.Args().First()))
	}
	addr := c.Args().First()
	return editState(c, e, func(s *session, now state.Snapshot) (state.Snapshot, stateEdit, error) {
		if !slices.Contains(now.Unknown(), addr) {
			return now, stateEdit{}, nothingOpen(now, addr)
		}
		if err := s.open(c.Context, c); err != nil {
			return now, stateEdit{}, err
		}
		defer s.close()
		for _, a := range now.Unsettled[addr].Open() {
			if err := s.mustBeOpen(c.Context, addr, a); err != nil {
				return now, stateEdit{}, err
			}
		}
		done := stateEdit{Resolved: openActions(now, as, addr)}
		return now.Judged(addr, as), done, nil
	})
}

// mustBeOpen refuses to let a person say what is known, or will be.
func (s *session) mustBeOpen(ctx context.Context, addr string, a state.Attempt) error {
	runs, err := s.runtime.Running(ctx, a.Key)
	if err != nil {
		return err
	}
	if runs {
		return errStillRuns(addr, a)
	}
	out, err := s.runtime.Adopt(ctx, a.Key, runner.Watch{})
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil || out.Fate == runner.Unknown:
		return nil // what apply cannot find out either, a person may say
	case out.Fate == runner.Exited:
		return diag.Errorf("It is known how the action ended",
			"%q of %s ended with exit code %d. The next `deployster apply` records that by itself. Nothing was changed.", a.Action, addr, out.ExitCode)
	}
	return diag.Errorf("It is known how the action ended",
		"%q of %s had not begun. The next `deployster apply` records that by itself. Nothing was changed.", a.Action, addr)
}

// errStillRuns is for what must not be done while an action runs.
func errStillRuns(addr string, a state.Attempt) error {
	return diag.Errorf("An action still runs",
		"%q of %s was started at %s and has not ended. `deployster apply` waits for its end, and looks how things are then. Nothing was changed.", a.Action, addr, a.Started.Format(time.RFC3339))
}

// nothingOpen says that there is nothing that a person would have to know.
func nothingOpen(now state.Snapshot, addr string) error {
	open := now.Unknown()
	rest := "`deployster plan` asks how it is."
	if len(open) > 0 {
		rest = words.DidYouMean(addr, open, "") + "There are such actions of: " + words.All(open) + "."
	}
	return diag.Errorf("Nothing to resolve", "There is no action of %s whose end is not known. %s Nothing was changed.", diag.Visible(addr), rest)
}

// listOpen lists what there is to resolve, and changes nothing.
func listOpen(c *cli.Context, e Env) error {
	s, snapshot, err := loadedState(c, e)
	if err != nil {
		return err
	}
	open := openActions(snapshot, "", snapshot.Unknown()...)
	if c.Bool("json") {
		return s.out.Document(stateEdit{Serial: snapshot.Serial, Open: open})
	}
	if len(open) == 0 {
		s.out.Printf("Of every action it is known how it ended.\n")
	}
	for _, o := range open {
		s.out.Printf("%s: %s, started at %s by %s\n", diag.Visible(o.Address), diag.Visible(o.Action), o.Started.Format(time.RFC3339), diag.Visible(o.By.String()))
	}
	return nil
}

// actionsOf names the actions of a list, for a sentence.
func actionsOf(list []openAction) string {
	var names []string
	for _, o := range list {
		names = append(names, diag.Visible(o.Address+"/"+o.Action))
	}
	return strings.Join(names, ", ")
}
