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
			return nil, diag.Errorf("Wrong command line", "-env takes NAME=VALUE, not %q.", pair)
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
	return diag.Errorf("Wrong command line", "%s does not know what to do with %q. `%s -help` tells what it takes.",
		c.Command.HelpName, diag.Visible(c.Args().Get(most)), c.Command.HelpName)
}
