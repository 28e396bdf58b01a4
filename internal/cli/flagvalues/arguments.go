package flagvalues

import (
	"strings"

	"github.com/urfave/cli/v2"

	"deployster/internal/base/diag"
)

// Environment returns the values of the -env flags.
func Environment(c *cli.Context) (map[string]string, error) {
	env := map[string]string{}
	for _, pair := range c.StringSlice("env") {
		name, value, ok := strings.Cut(pair, "=")
		if !ok {
			return nil, diag.Errorf("Invalid flag value", "-env takes NAME=VALUE, not %q.", pair)
		}
		env[name] = value
	}
	return env, nil
}

// AtMost returns an error for more arguments than a command takes.
func AtMost(c *cli.Context, most int) error {
	if c.NArg() <= most {
		return nil
	}
	return diag.Errorf("Unexpected argument", "%s takes no argument %q. `%s -help` lists its arguments.",
		c.Command.HelpName, diag.Visible(c.Args().Get(most)), c.Command.HelpName)
}

// Given returns the value of a flag; nil = it was not given.
func Given(c *cli.Context, name string) *string {
	if !c.IsSet(name) {
		return nil
	}
	return new(c.String(name))
}

// WordsOf returns the values of a flag that may be repeated.
func WordsOf(c *cli.Context, name string) []string {
	if list, ok := c.Generic(name).(*Words); ok {
		return list.List
	}
	return nil
}
