package hosts

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"deployster/internal/app/workspace"
	"deployster/internal/base/packed"
	"deployster/internal/base/programs"
	"deployster/internal/runtime/remote"
	"deployster/internal/runtime/remote/cluster"
	"deployster/internal/runtime/remote/ssh"
	"deployster/internal/runtime/runner"
)

// sshCommand is the variable with the command that replaces ssh.
const sshCommand = "DEPLOYSTER_SSH"

// Dialer returns a function that connects to hosts. version is the version of this
// program, which both ends must have. note is called with what is noteworthy at a host.
func Dialer(o workspace.Options, version string, note func(h runner.Host, text string)) func(context.Context, runner.Host,
	remote.Hello) (*remote.Client, error) {
	return func(ctx context.Context, h runner.Host, as remote.Hello) (*remote.Client, error) {
		as.Build = version
		if h.Kubernetes != nil {
			at := *h.Kubernetes
			if at.Kubeconfig != "" {
				at.Kubeconfig = o.HomePath(at.Kubeconfig)
			}
			return cluster.Dial(ctx, at, as, cluster.Options{Host: h.Name, Find: programs.Find, Timing: remote.DefaultTiming(),
				Note: func(text string) { note(h, text) }})
		}
		if strings.HasPrefix(h.IdentityFile, "~/") {
			h.IdentityFile = o.HomePath(h.IdentityFile)
		}
		options := ssh.Options{Command: strings.Fields(o.Env(sshCommand)), Timing: remote.DefaultTiming(),
			Arch: ssh.Machine(runtime.GOARCH), Find: programs.Find}
		if runtime.GOOS == "linux" {
			options.Bundle = func(ctx context.Context) (ssh.Bundle, error) { return bundle(ctx, o) }
		}
		return ssh.Dial(ctx, h, as, options)
	}
}

// bundle returns the program that runs on hosts, with those that it needs, for a host without them.
func bundle(ctx context.Context, o workspace.Options) (ssh.Bundle, error) {
	parts := ssh.Programs{packed.Restorer: programs.Find(packed.Restorer)}
	for _, name := range []string{ssh.Host, "deployster-shim", "runc"} {
		parts[name] = part(programs.Dirs(), name)
	}
	for _, name := range []string{packed.Restorer, ssh.Host} {
		if parts[name] == "" {
			return ssh.Bundle{}, fmt.Errorf("%s is not installed with this deployster", name)
		}
	}
	if own := o.Env("DEPLOYSTER_RUNC"); own != "" {
		parts["runc"] = o.Path(own)
	} else if parts["runc"] == "" {
		parts["runc"], _ = exec.LookPath("runc") // a host may have its own runc
	}
	return ssh.MakeBundle(ctx, parts, filepath.Join(o.Path(o.CacheDir), "bundles"))
}

// part returns the file of a program for hosts: what a build has compressed, unless the program next to it is newer; "" = there
// is neither.
func part(dirs []string, name string) string {
	for _, dir := range dirs {
		path := filepath.Join(dir, name)
		program, err := os.Stat(path)
		small, smallErr := os.Stat(path + packed.Ending)
		switch {
		case smallErr == nil && (err != nil || !program.ModTime().After(small.ModTime())):
			return path + packed.Ending
		case err == nil:
			return path
		}
	}
	return ""
}
