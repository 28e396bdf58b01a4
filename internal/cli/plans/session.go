package plans

import (
	"github.com/urfave/cli/v2"

	"deployster/internal/app"
	"deployster/internal/app/workspace"
	"deployster/internal/ui/terminal"
)

// Session is the session in which a command runs.
type Session struct {
	Engine *app.Engine
	Out    terminal.Printer
	Inputs workspace.Inputs
}

// Run runs a command.
type Run func(*cli.Context, Session) error
