package cli

import (
	"cmp"
	"context"
	"os"
	"slices"

	"github.com/urfave/cli/v2"

	"deployster/containerd"
	"deployster/internal/app"
	"deployster/internal/app/workspace"
	"deployster/internal/base/rootless"
	"deployster/internal/cli/settings"
)

// runsHere reports whether this process can start a containerd of its own. One that cannot runs images on hosts alone.
func runsHere() bool { return os.Geteuid() == 0 }

// asRoot reports whether the directories of root are used.
func asRoot() bool { return runsHere() && !rootless.Inside() }

// inContainers are the commands that may run images.
var inContainers = []string{"init", "plan", "apply", "destroy", "drift", "watch", "resolve", "type", "policy", "image", "module",
	"artifact"}

// enter has a command that may run images continue in the namespace of its user, if that is not root.
// It returns why that is not possible.
func enter(e Env) error {
	if runsHere() {
		return nil
	}
	line := e.parse(newApp(e))
	if line.Err != nil || line.Help() || !slices.Contains(inContainers, line.Command()) ||
		line.Values["containerd-address"] != "" || e.get("CONTAINERD_ADDRESS") != "" {
		return nil
	}
	return rootless.Enter()
}

// dataDir returns the directory of the embedded containerd; "" = that of root.
func dataDir(w workspace.Options) string {
	env := settings.Lookup(w.Env)
	if dir := env("DEPLOYSTER_DATA_DIR"); dir != "" || !rootless.Inside() {
		return dir
	}
	return env.DataHome(w.Home)
}

// artifactsHere returns the directory of the files of artifacts.
func artifactsHere(w workspace.Options) string { return containerd.Artifacts(dataDir(w)) }

// openContainerd connects to the containerd that is named, or to the embedded one.
func (s *session) openContainerd(ctx context.Context, c *cli.Context) (app.Runtime, error) {
	opened, err := s.dial(ctx, c)
	if err != nil {
		return nil, err
	}
	s.images = opened.Images.Store
	return opened, nil
}

// dial connects to a containerd, and starts the embedded one if necessary.
func (s *session) dial(ctx context.Context, c *cli.Context) (*containerd.Runtime, error) {
	w := s.engine.Workspace
	from, err := s.registries()
	if err != nil {
		return nil, err
	}
	env := settings.Lookup(w.Env)
	return containerd.Open(ctx, containerd.Options{
		Address:      address(c, w.Options),
		Namespace:    cmp.Or(c.String("containerd-namespace"), w.Env("CONTAINERD_NAMESPACE")),
		DataDir:      dataDir(w.Options),
		Runc:         w.Env("DEPLOYSTER_RUNC"),
		AllowOldRunc: w.Env("DEPLOYSTER_ALLOW_OLD_RUNC") == "1",
		IdleExit:     env.IdleExit(),
		Keep:         s.keep,
		KeepScope:    w.Dir,
		Private:      w.Secrets.Private,
		Registries:   from,
		Machines:     env.Machines(false), Warn: w.Warn,
	})
}

// installed returns the versions of the containerd and the runc that this program would use, and where that runc is.
func installed(ctx context.Context, o workspace.Options) (daemon, runc, path string) {
	return containerd.Versions(ctx, o.DataDir, o.Env("DEPLOYSTER_RUNC"))
}
