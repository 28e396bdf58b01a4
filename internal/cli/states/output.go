package states

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"deployster/internal/app/workspace"
	"deployster/internal/base/diag"
	"deployster/internal/base/words"
	"deployster/internal/cli/flagvalues"
	"deployster/internal/ui/jsondiff"
	"deployster/internal/ui/terminal"
	"deployster/state"
)

// OutputCommand returns the command that prints outputs.
func OutputCommand(action func(Run) cli.ActionFunc) *cli.Command {
	return &cli.Command{
		Name:      "output",
		Usage:     "print the outputs of the last apply",
		ArgsUsage: "[NAME]",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "json", Usage: "as JSON, with sensitive values"},
			&cli.BoolFlag{Name: "raw", Usage: "one output as bare text, also if it is sensitive"},
		},
		Action: action(output),
	}
}

func output(c *cli.Context, s Session) error {
	if err := flagvalues.AtMost(c, 1); err != nil {
		return err
	}
	if c.Bool("raw") && c.Bool("json") {
		return diag.Errorf("Conflicting flags", "-raw and -json exclude each other. Remove one of them.")
	}
	if c.Bool("raw") && c.NArg() == 0 {
		return diag.Errorf("Missing argument", "-raw prints one output: name it.")
	}
	snapshot, err := s.Engine.Workspace.ReadState(c.Context, s.Engine.Workspace.StatePlaceAround())
	if err != nil {
		return err
	}
	if snapshot.Lineage == "" && s.Engine.Workspace.State != "" {
		return NoState(s.Engine.Workspace.StatePlaceAround())
	}
	if c.NArg() == 0 {
		workspace.Hide(s.Engine.Workspace, snapshot)
		switch {
		case snapshot.Lineage == "":
			s.Engine.Workspace.Warn(diag.Warningf("No outputs", "There is no state file at %s: nothing was applied that could record any.",
				s.Engine.Workspace.StatePlaceAround()))
		case len(snapshot.Outputs) == 0:
			s.Engine.Workspace.Warn(diag.Warningf("No outputs", "The state file %s has no outputs. "+
				"They are recorded by an apply of manifests that have output blocks.", s.Engine.Workspace.StatePlaceAround()))
		}
		return printOutputs(s.Out, snapshot, c.Bool("json"))
	}
	name := c.Args().First()
	o, ok := snapshot.Outputs[name]
	if !ok {
		there := "It recorded none at all."
		if names := slices.Sorted(maps.Keys(snapshot.Outputs)); len(names) > 0 {
			there = "There are: " + strings.Join(names, ", ") + "." + words.DidYouMean(name, names)
		}
		return diag.Errorf("No such output", "The last apply recorded no output %q. %s", name, there)
	}
	switch {
	case c.Bool("raw"):
		return printBare(s.Out, name, o)
	case c.Bool("json"):
		s.Out.Value(o.Value)
	default: // a user who names one output expects its value
		s.Out.Printf("%s\n", jsondiff.TextWithin(jsondiff.Value{JSON: o.Value}, 0, -1, nil))
	}
	return nil
}

// printOutputs prints every output. Sensitive ones are listed without their values.
func printOutputs(p terminal.Printer, s state.Snapshot, asJSON bool) error {
	if asJSON {
		all, err := workspace.OutputDocuments(s)
		if err != nil {
			return err
		}
		return p.Values(all)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Outputs)) {
		p.Output(name, s.Outputs[name])
	}
	return nil
}

// printBare prints a string, number or bool as bare text, for shells.
func printBare(p terminal.Printer, name string, o state.Output) error {
	var text string
	if string(o.Value) == "null" {
		return diag.Errorf("Not a plain value", "The output %q is null, which has no bare text. Use -json.", name)
	}
	if json.Unmarshal(o.Value, &text) == nil {
		p.Raw(text)
		return nil
	}
	if kind := o.Value[0]; kind == '{' || kind == '[' {
		return diag.Errorf("Not a plain value", "The output %q is not a string, number or bool. Use -json.", name)
	}
	p.Raw(string(o.Value))
	return nil
}
