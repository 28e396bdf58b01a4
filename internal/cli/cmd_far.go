package cli

import "github.com/urfave/cli/v2"

// farCommand is the command that ssh starts on a host: people do not use it.
func farCommand(e Env) *cli.Command {
	return &cli.Command{Name: "far", Hidden: true, Usage: "serve one client on stdin and stdout", Action: e.action(runFar)}
}

// guardCommand is the command that a unit of systemd starts on a host: people do not use it.
func guardCommand(e Env) *cli.Command {
	return &cli.Command{Name: "guard", Hidden: true, Usage: "undo a group of guarded actions unless it is confirmed", ArgsUsage: "KEY",
		Action: e.action(runGuard)}
}
