package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"deployster/apply"
	"deployster/internal/base/diag"
	"deployster/internal/base/words"
	"deployster/internal/runs"
	"deployster/internal/ui/render"
	"deployster/internal/ui/terminal"
)

func runsCommand(e Env) *cli.Command {
	asJSON := &cli.BoolFlag{Name: "json", Usage: "as JSON"}
	return &cli.Command{
		Name:  "runs",
		Usage: "look at the records of earlier runs: what images were sent, and what they said",
		Subcommands: []*cli.Command{
			{Name: "list", Usage: "list the runs that are kept, the newest first", Flags: []cli.Flag{asJSON},
				Action: func(c *cli.Context) error { return runRunsList(c, e) }},
			{Name: "show", Usage: "show what one run did, step by step (default: the latest)", ArgsUsage: "[RUN]", Flags: []cli.Flag{asJSON},
				Action: func(c *cli.Context) error { return runRunsShow(c, e) }},
			{Name: "logs", Usage: "print what a resource's images said in a run (default: the latest)", ArgsUsage: "[RUN] RESOURCE",
				Flags:  []cli.Flag{asJSON, &cli.StringFlag{Name: "step", Usage: "of the step `NAME` only: init, state, or an action"}},
				Action: func(c *cli.Context) error { return runRunsLogs(c, e) }},
		},
		Action: func(c *cli.Context) error { return cli.ShowSubcommandHelp(c) },
	}
}

// shownRuns is what `runs list -json` prints.
type shownRuns struct {
	Format int        `json:"format"`
	Runs   []runs.Run `json:"runs"` // the newest first
}

// shownRun is what `runs show -json` prints.
type shownRun struct {
	Format int           `json:"format"`
	Run    runs.Run      `json:"run"`
	Steps  []runs.Step   `json:"steps"`            // in the order in which they began
	Report *apply.Report `json:"report,omitempty"` // of an apply
}

// shownLogs is what `runs logs -json` prints.
type shownLogs struct {
	Format int         `json:"format"`
	Run    string      `json:"run"`
	Logs   []loggedRun `json:"logs"`
}

// loggedRun is what one run of an image was sent, and what it printed.
type loggedRun struct {
	runs.Step
	Stdin  string `json:"stdin"`
	Stdout string `json:"stdout"`
	Stderr string `json:"stderr"`
}

func runRunsList(c *cli.Context, e Env) error {
	if err := atMost(c, 0); err != nil {
		return err
	}
	s, err := newSession(c, e)
	if err != nil {
		return err
	}
	list, err := runs.List(s.dir)
	if err != nil {
		return diag.Errorf("Cannot read the records", "%s.", err)
	}
	if c.Bool("json") {
		return s.out.Document(shownRuns{Format: runs.Format, Runs: append([]runs.Run{}, list...)})
	}
	if len(list) == 0 {
		s.err.Printf("There are no records of runs in %s. plan, apply and destroy make them.\n", runs.Dir(s.dir))
		return nil
	}
	rows := [][]string{{"RUN", "COMMAND", "RESULT", "TOOK", "IMAGES RUN"}}
	for _, r := range list {
		rows = append(rows, []string{r.ID, r.Command, string(r.Status), tookOf(r), fmt.Sprint(r.Recorded + r.LeftOut)})
	}
	s.out.Table("", rows)
	return nil
}

func tookOf(r runs.Run) string {
	if r.Ended == nil {
		return "-"
	}
	return render.Took(r.Ended.Sub(r.Started))
}

// recorded finds a run by its name, "" for the latest.
func (s *session) recorded(name string) (runs.Run, error) {
	s.keysAround()
	run, err := runs.Find(s.dir, name)
	var missing *runs.NotFoundError
	switch {
	case !errors.As(err, &missing):
		return run.WithKeys(s.keys), err
	case len(missing.There) == 0:
		return run, diag.Errorf("No records", "There are no records of runs in %s. plan, apply and destroy make them.", runs.Dir(s.dir))
	case len(missing.Fits) > 1:
		return run, diag.Errorf("Which run?", "The names of %d runs begin with %q: %s.", len(missing.Fits), name, strings.Join(missing.Fits, ", "))
	}
	return run, diag.Errorf("No such run", "There is no record of a run %q. %s`deployster runs list` lists the %d that are kept; `latest` is one of them.",
		name, words.DidYouMean(name, append(slices.Clone(missing.There), "latest"), ""), len(missing.There))
}

func runRunsShow(c *cli.Context, e Env) error {
	if err := atMost(c, 1); err != nil {
		return err
	}
	s, err := newSession(c, e)
	if err != nil {
		return err
	}
	run, err := s.recorded(c.Args().First())
	if err != nil {
		return err
	}
	steps, err := run.Steps("")
	if err != nil {
		return diag.Errorf("Cannot read the records", "%s.", err)
	}
	report, err := reportOf(run)
	if err != nil {
		return err
	}
	if c.Bool("json") {
		return s.out.Document(shownRun{Format: runs.Format, Run: run, Steps: append([]runs.Step{}, steps...), Report: report})
	}
	s.out.Printf("%s  %s, %s\n", render.Bold(run.ID), run.Command, ending(run))
	s.out.Printf("%s\n", render.Dim(run.Path()))
	if len(steps) > 0 {
		s.out.Printf("\n")
		rows := [][]string{{"RESOURCE", "STEP", "BEGAN", "TOOK", "EXIT"}}
		for _, step := range steps {
			rows = append(rows, []string{step.Resource, step.Step, "+" + render.Took(step.Started.Sub(run.Started)), took(step), exitOf(step)})
		}
		s.out.Table("", rows)
	}
	if run.LeftOut > 0 {
		s.out.Printf("\n%d more asked for states that were valid. They were not recorded.\n", run.LeftOut)
	}
	printProblems(s.out, report)
	return nil
}

// reportOf reads the report of a run; nil = it has none.
func reportOf(run runs.Run) (*apply.Report, error) {
	content, err := run.Report()
	if err != nil || content == nil {
		return nil, err
	}
	var report apply.Report
	if err := json.Unmarshal(content, &report); err != nil {
		return nil, diag.Errorf("Cannot read the records", "%s: the report is damaged: %s.", run.Path(), err)
	}
	return &report, nil
}

// printProblems lists what of an apply did not go well.
func printProblems(p terminal.Printer, r *apply.Report) {
	if r == nil {
		return
	}
	for _, d := range r.Problems {
		p.Printf("\n")
		p.Diagnostic(d)
	}
}

// ending says how a run ended.
func ending(r runs.Run) string {
	switch {
	case r.Status == runs.Running:
		return "still at work"
	case r.Ended == nil || r.ExitCode == nil:
		return string(r.Status)
	}
	return fmt.Sprintf("%s, exit code %d after %s", r.Status, *r.ExitCode, tookOf(r))
}

func took(s runs.Step) string { return render.Took(time.Duration(s.Took * float64(time.Second))) }

func exitOf(s runs.Step) string {
	if s.ExitCode == nil {
		return s.Problem
	}
	return fmt.Sprint(*s.ExitCode)
}

func runRunsLogs(c *cli.Context, e Env) error {
	if err := atMost(c, 2); err != nil {
		return err
	}
	s, err := newSession(c, e)
	if err != nil {
		return err
	}
	name, resource := "", c.Args().First()
	if c.NArg() == 2 {
		name, resource = resource, c.Args().Get(1)
	}
	if resource == "" {
		return diag.Errorf("Wrong command line", "Say of which resource: deployster runs logs [RUN] RESOURCE. `deployster runs show` lists them.")
	}
	run, err := s.recorded(name)
	if err != nil {
		return err
	}
	found, err := s.logsOf(run, resource, c.String("step"))
	if err != nil {
		return err
	}
	if c.Bool("json") {
		return s.out.Document(shownLogs{Format: runs.Format, Run: run.ID, Logs: found})
	}
	for _, l := range found {
		s.out.Printf("%s %s\n", render.Bold(l.Resource+" "+l.Step.Step), render.Dim(
			fmt.Sprintf("at %s, exit %s, %s", l.Started.Format(time.RFC3339), exitOf(l.Step), took(l.Step))))
		for _, text := range []string{l.Stdout, l.Stderr} {
			for line := range strings.Lines(text) {
				s.out.Printf("  %s\n", strings.TrimRight(line, "\n"))
			}
		}
	}
	return nil
}

// logsOf reads what was recorded of a resource, of all its steps or one.
func (s *session) logsOf(run runs.Run, resource, step string) ([]loggedRun, error) {
	steps, err := run.Steps(resource)
	if err != nil {
		return nil, diag.Errorf("Cannot read the records", "%s.", err)
	}
	if len(steps) == 0 {
		return nil, s.noLogs(run, resource)
	}
	var names []string
	var found []loggedRun
	for _, one := range steps {
		if names = append(names, one.Step); step != "" && one.Step != step {
			continue
		}
		l := loggedRun{Step: one}
		for name, into := range map[string]*string{runs.Stdin: &l.Stdin, runs.Stdout: &l.Stdout, runs.Stderr: &l.Stderr} {
			content, err := one.Read(name)
			if err != nil {
				return nil, diag.Errorf("Cannot read the records", "%s.", err)
			}
			*into = string(content)
		}
		found = append(found, l)
	}
	if len(found) == 0 {
		names = slices.Compact(slices.Sorted(slices.Values(names)))
		return nil, diag.Errorf("No such step", "The run %s did not do %q with %s. %sIt did: %s.", run.ID, step, resource, words.DidYouMean(step, names, ""), strings.Join(names, ", "))
	}
	return found, nil
}

// noLogs says that a run has no record of a resource, and of which it has.
func (s *session) noLogs(run runs.Run, resource string) error {
	steps, err := run.Steps("")
	if err != nil {
		return diag.Errorf("Cannot read the records", "%s.", err)
	}
	var names []string
	for _, step := range steps {
		names = append(names, step.Resource)
	}
	names = slices.Compact(slices.Sorted(slices.Values(names)))
	if run.LeftOut > 0 {
		return diag.Errorf("No record of the resource", "The run %s has no record of %q. It left out %d states that were valid.", run.ID, resource, run.LeftOut)
	}
	const most = 20
	more := ""
	if len(names) > most {
		names, more = names[:most], fmt.Sprintf(", and %d more", len(names)-most)
	}
	return diag.Errorf("No record of the resource", "The run %s (%s) ran no image for %q. %sThere are records of: %s%s.",
		run.ID, run.Command, resource, words.DidYouMean(resource, names, ""), strings.Join(names, ", "), more)
}
