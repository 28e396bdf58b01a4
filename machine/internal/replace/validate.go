package replace

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"deployster/machine/internal/access"
	"deployster/protocol"
)

// placeholder stands for the path of the new file in the arguments of a validating command.
const placeholder = "%s"

// CheckValidate returns a config error at /validate if a command does not name the file.
func CheckValidate(args []string) error {
	if len(args) > 0 && !slices.ContainsFunc(args[1:], func(a string) bool { return strings.Contains(a, placeholder) }) {
		return protocol.Errorf(protocol.ConfigError, "/validate",
			"no argument of validate holds %s, which stands for the path of the new file", placeholder)
	}
	return nil
}

// Validator returns what checks a file with a command before it is visible; nil = no command.
func Validator(m *access.Machine, args []string) func(context.Context, string) error {
	if len(args) == 0 {
		return nil
	}
	return func(ctx context.Context, path string) error {
		with := slices.Clone(args)
		for i := 1; i < len(with); i++ {
			with[i] = strings.ReplaceAll(with[i], placeholder, m.Path(path))
		}
		if err := m.Run(ctx, access.Command{Args: with}); err != nil {
			return fmt.Errorf("the new content is not valid, and the file is unchanged: %w", err)
		}
		return nil
	}
}
