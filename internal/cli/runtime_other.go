//go:build !linux

package cli

import (
	"context"

	"github.com/urfave/cli/v2"

	"deployster/internal/app"
	"deployster/internal/app/workspace"
	"deployster/internal/base/diag"
)

// runsHere reports that this program runs images on hosts alone.
func runsHere() bool { return false }

// asRoot reports that each user has directories of his own.
func asRoot() bool { return false }

// enter does nothing: there is nothing to enter.
func enter(Env) error { return nil }

// artifactsHere returns no directory: nothing runs here.
func artifactsHere(workspace.Options) string { return "" }

// openContainerd returns an error: a person has named a containerd.
func (s *session) openContainerd(context.Context, *cli.Context) (app.Runtime, error) {
	return nil, errLinux()
}

func errLinux() error {
	return diag.Errorf("Containers run on Linux", "This deployster runs images on hosts alone: leave out -containerd-address and "+
		"CONTAINERD_ADDRESS, and give each resource a host.")
}

// installed returns the versions of the containerd and the runc that this program would use: it has none.
func installed(context.Context, workspace.Options) (daemon, runc, path string) { return "", "", "" }
