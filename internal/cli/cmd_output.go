package cli

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"deployster/internal/diag"
	"deployster/state"
)

func outputCommand(e Env) *cli.Command {
	return &cli.Command{
		Name:      "output",
		Usage:     "print the outputs that the last apply recorded",
		ArgsUsage: "[NAME]",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "json", Usage: "as JSON"},
			&cli.BoolFlag{Name: "raw", Usage: "the bare text of one output, sensitive or not"},
		},
		Action: func(c *cli.Context) error { return runOutput(c, e) },
	}
}

func runOutput(c *cli.Context, e Env) error {
	if err := atMost(c, 1); err != nil {
		return err
	}
	s, err := newSession(c, e)
	if err != nil {
		return err
	}
	path := s.statePathAround(c)
	snapshot, recovery, err := state.Load(path)
	if err != nil {
		return err
	}
	s.tellUnlocked(c.Context, path, recovery)
	if c.NArg() == 0 {
		if c.Bool("raw") {
			return diag.Errorf("Wrong command line", "-raw prints one output: say which.")
		}
		return s.out.allOutputs(snapshot, c.Bool("json"))
	}
	name := c.Args().First()
	o, ok := snapshot.Outputs[name]
	if !ok {
		there := "It recorded none at all."
		if names := slices.Sorted(maps.Keys(snapshot.Outputs)); len(names) > 0 {
			there = didYouMean(name, names, "") + "There are: " + strings.Join(names, ", ") + "."
		}
		return diag.Errorf("No such output", "The last apply recorded no output %q. %s", name, there)
	}
	switch {
	case c.Bool("raw"):
		return s.out.bare(name, o)
	case c.Bool("json"):
		s.out.json(o.Value)
	default:
		s.out.printf("%s\n", outputText(o))
	}
	return nil
}

// allOutputs prints every output; sensitive ones are named and not shown.
func (p printer) allOutputs(s state.Snapshot, asJSON bool) error {
	if !asJSON {
		for _, name := range slices.Sorted(maps.Keys(s.Outputs)) {
			p.printf("%s = %s\n", name, outputText(s.Outputs[name]))
		}
		return nil
	}
	content, err := json.MarshalIndent(s.Masked().Outputs, "", "  ")
	if err != nil {
		return err
	}
	p.json(content)
	return nil
}

// bare prints a string, number or bool as a shell wants it.
func (p printer) bare(name string, o state.Output) error {
	var text string
	if json.Unmarshal(o.Value, &text) == nil {
		p.raw(text)
		return nil
	}
	if kind := o.Value[0]; kind == '{' || kind == '[' {
		return diag.Errorf("Not a plain value", "The output %q is no string, number or bool. Use -json.", name)
	}
	p.raw(string(o.Value))
	return nil
}

// outputText renders an output for a person.
func outputText(o state.Output) string {
	v := values{}
	if o.Sensitive {
		v.sensitive = []string{""}
	}
	return v.text(o.Value, 2)
}
