package cli

import (
	"cmp"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"deployster/containerd"
	"deployster/internal/far"
	"deployster/internal/far/reach"
	"deployster/internal/runner"
)

// sshCommand names what is called in the place of ssh.
const sshCommand = "DEPLOYSTER_SSH"

// dial reaches a host.
func (s *session) dial(ctx context.Context, h runner.Host, as far.Hello) (*far.Client, error) {
	as.Build = Version
	if strings.HasPrefix(h.IdentityFile, "~/") {
		h.IdentityFile = s.HomePath(h.IdentityFile)
	}
	return reach.Dial(ctx, h, as, reach.Options{Command: strings.Fields(s.Env(sshCommand)), Bundle: s.bundle, Arch: machineName(),
		TempDir: os.TempDir(), Timing: far.DefaultTiming()})
}

// bundle is this program with what it needs, for a host that lacks it.
func (s *session) bundle() (reach.Bundle, error) {
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
	if own := s.Env("DEPLOYSTER_RUNC"); own != "" {
		programs["runc"] = s.Path(own)
	} else if programs["runc"] == "" {
		programs["runc"], _ = exec.LookPath("runc") // a host may have one of its own
	}
	data := cmp.Or(s.Env("DEPLOYSTER_DATA_DIR"), containerd.DefaultDataDir)
	return reach.MakeBundle(programs, filepath.Join(s.Path(data), "bundles"))
}

// machineName is the architecture of this program as uname says it.
func machineName() string {
	switch runtime.GOARCH {
	case "amd64":
		return "x86_64"
	case "arm64":
		return "aarch64"
	}
	return runtime.GOARCH
}
