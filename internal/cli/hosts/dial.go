package hosts

import (
	"cmp"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"deployster/internal/app/workspace"
	"deployster/internal/far"
	"deployster/internal/far/reach"
	"deployster/internal/runner"
)

// sshCommand is the variable with the command that replaces ssh.
const sshCommand = "DEPLOYSTER_SSH"

// Dialer returns a function that connects to hosts. version is the version of this
// program, which both ends must have.
func Dialer(o workspace.Options, version string) func(context.Context, runner.Host, far.Hello) (*far.Client, error) {
	return func(ctx context.Context, h runner.Host, as far.Hello) (*far.Client, error) {
		as.Build = version
		if strings.HasPrefix(h.IdentityFile, "~/") {
			h.IdentityFile = o.HomePath(h.IdentityFile)
		}
		return reach.Dial(ctx, h, as, reach.Options{Command: strings.Fields(o.Env(sshCommand)), Timing: far.DefaultTiming(),
			Arch: reach.Machine(runtime.GOARCH), Beside: o.Programs,
			Bundle: func(ctx context.Context) (reach.Bundle, error) { return bundle(ctx, o) }})
	}
}

// bundle returns this program with the programs that it needs, for a host without them.
func bundle(ctx context.Context, o workspace.Options) (reach.Bundle, error) {
	self, err := os.Executable()
	if err != nil {
		return reach.Bundle{}, err
	}
	programs := reach.Programs{"deployster": self}
	for _, name := range []string{"deployster-agent", "deployster-shim", "runc"} {
		beside := filepath.Join(filepath.Dir(self), name)
		if _, err := os.Stat(beside); err == nil {
			programs[name] = beside
		}
	}
	if own := o.Env("DEPLOYSTER_RUNC"); own != "" {
		programs["runc"] = o.Path(own)
	} else if programs["runc"] == "" {
		programs["runc"], _ = exec.LookPath("runc") // a host may have its own runc
	}
	data := cmp.Or(o.Env("DEPLOYSTER_DATA_DIR"), runner.DefaultHostDataDir)
	return reach.MakeBundle(ctx, programs, filepath.Join(o.Path(data), "bundles"))
}
