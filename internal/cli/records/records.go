package records

import (
	"fmt"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"deployster/apply"
	"deployster/internal/app"
	"deployster/internal/app/runs"
	"deployster/internal/app/workspace"
	"deployster/internal/base/diag"
	"deployster/internal/base/loglines"
	"deployster/internal/cli/flagvalues"
	"deployster/internal/ui/paint"
	"deployster/internal/ui/terminal"
)

// Session is the session in which a command runs.
type Session struct {
	Engine *app.Engine
	Out    terminal.Printer // for results
	Err    terminal.Printer // for everything else
}

// Run runs a command.
type Run func(*cli.Context, Session) error

// Command returns the command. action makes a cli action of a function that runs in a
// session.
func Command(action func(Run) cli.ActionFunc) *cli.Command {
	asJSON := &cli.BoolFlag{Name: "json", Usage: "as JSON"}
	return &cli.Command{
		Name:  "runs",
		Usage: "show the records of earlier runs: what images got, and what they answered",
		Subcommands: []*cli.Command{
			{Name: "list", Usage: "list the recorded runs, the newest first", Flags: []cli.Flag{asJSON},
				Action: action(list)},
			{Name: "show", Usage: "show what one run did, step by step (default: the latest)", ArgsUsage: "[RUN]",
				Flags:  []cli.Flag{asJSON},
				Action: action(show)},
			{Name: "logs", Usage: "print the logs of a resource in a run (default: the latest)", ArgsUsage: "[RUN] RESOURCE",
				Flags:  []cli.Flag{asJSON, &cli.StringFlag{Name: "step", Usage: "only the step `NAME`: init, state, or an action"}},
				Action: action(logs)},
		},
	}
}

func list(c *cli.Context, s Session) error {
	if err := flagvalues.AtMost(c, 0); err != nil {
		return err
	}
	found, err := runs.List(s.Engine.Workspace.Dir)
	if err != nil {
		return diag.Errorf("Cannot read the records", "%s.", err)
	}
	if c.Bool("json") {
		return s.Out.Document(workspace.RunsDocument{Format: runs.Format, Runs: append([]runs.Run{}, found...)})
	}
	if len(found) == 0 {
		s.Err.Printf("There are no records of runs in %s. plan, apply and destroy write them.\n", runs.Dir(s.Engine.Workspace.Dir))
		return nil
	}
	rows := [][]string{{"RUN", "COMMAND", "RESULT", "TOOK", "IMAGES RUN"}}
	for _, r := range found {
		rows = append(rows, []string{r.ID, r.Command, string(r.Status), runTook(r), fmt.Sprint(r.Recorded + r.LeftOut)})
	}
	s.Out.Table("", rows)
	return nil
}

func show(c *cli.Context, s Session) error {
	if err := flagvalues.AtMost(c, 1); err != nil {
		return err
	}
	run, err := s.Engine.Workspace.FindRun(c.Args().First())
	if err != nil {
		return err
	}
	steps, err := run.Steps("")
	if err != nil {
		return diag.Errorf("Cannot read the records", "%s.", err)
	}
	report, err := workspace.ReportOf(run)
	if err != nil {
		return err
	}
	if c.Bool("json") {
		return s.Out.Document(workspace.RunDocument{Format: runs.Format, Run: run, Steps: append([]runs.Step{}, steps...), Report: report})
	}
	s.Out.Printf("%s  %s, %s\n", paint.Bold(run.ID), run.Command, ending(run))
	s.Out.Printf("%s\n", paint.Dim(run.Path()))
	if len(steps) > 0 {
		s.Out.Printf("\n")
		s.Out.Table("", stepTable(run, steps))
	}
	if run.LeftOut > 0 {
		s.Out.Printf("\n%d more read states that were valid. They were not recorded.\n", run.LeftOut)
	}
	printProblems(s.Out, report)
	return nil
}

// printProblems prints the problems of an apply.
func printProblems(p terminal.Printer, r *apply.Report) {
	if r == nil {
		return
	}
	for _, d := range r.Problems {
		p.Printf("\n")
		p.Diagnostic(d)
	}
}

func logs(c *cli.Context, s Session) error {
	if err := flagvalues.AtMost(c, 2); err != nil {
		return err
	}
	name, resource := "", c.Args().First()
	if c.NArg() == 2 {
		name, resource = resource, c.Args().Get(1)
	}
	if resource == "" {
		return diag.Errorf("Missing argument", "Name the resource: deployster runs logs [RUN] RESOURCE. `deployster runs show` "+
			"lists them.")
	}
	run, err := s.Engine.Workspace.FindRun(name)
	if err != nil {
		return err
	}
	found, err := workspace.LogsOf(run, resource, c.String("step"))
	if err != nil {
		return err
	}
	if c.Bool("json") {
		return s.Out.Document(workspace.LogsDocument{Format: runs.Format, Run: run.ID, Logs: found})
	}
	for _, l := range found {
		ended := fmt.Sprintf("%sat %s, exit %s, %s", stepHost(l.Step), l.Started.Format(time.RFC3339), stepEnd(l.Step),
			stepTook(l.Step))
		s.Out.Printf("%s %s\n", paint.Bold(l.Resource+" "+l.Step.Step), paint.Dim(ended))
		for _, text := range []string{l.Stdout, l.Stderr} {
			for line := range strings.Lines(text) {
				s.Out.Printf("  %s\n", loglines.Shown([]byte(strings.TrimRight(line, "\n"))))
			}
		}
	}
	return nil
}
