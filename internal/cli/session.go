package cli

import (
	"cmp"
	"context"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/urfave/cli/v2"

	"deployster/containerd/elsewhere"
	"deployster/internal/app"
	"deployster/internal/app/workspace"
	"deployster/internal/base/diag"
	"deployster/internal/base/encryption"
	"deployster/internal/base/version"
	"deployster/internal/cli/hosts"
	"deployster/internal/cli/images"
	"deployster/internal/cli/settings"
	"deployster/internal/runtime/runner"
	"deployster/internal/ui/terminal"
)

// session is the session of one command: the engine, and the terminal that shows it.
type session struct {
	engine   *app.Engine
	env      Env
	ui       *terminal.UI
	out, err terminal.Printer // out is for results, err for everything else

	images images.Store  // those of the runtime; set when the engine has opened one
	keep   time.Duration // how long idle workers are kept for the next command
}

// action makes a cli action of a function that runs in a session.
func (e Env) action(run func(*cli.Context, *session) error) cli.ActionFunc {
	return func(c *cli.Context) error {
		s, err := newSession(c, e)
		if err != nil {
			return err
		}
		defer func() {
			s.ui.Close()
			s.engine.Close()
		}()
		return run(c, s)
	}
}

// newSession returns the session that the flags of all commands describe.
func newSession(c *cli.Context, e Env) (*session, error) {
	dir := e.Dir
	if to := c.String("chdir"); to != "" {
		dir = e.path(to)
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return nil, diag.Errorf("No such directory", "-chdir=%s names no directory.", to)
		}
	}
	r, color := e.run, e.wantsColor()
	s := &session{env: e}
	shown, shownColor, err := e.shownOn()
	if err != nil {
		return nil, err
	}
	s.ui = terminal.New(terminal.Options{Stdin: e.Stdin, Stdout: shown, Stderr: e.Stderr, Hide: r.secrets.Hide,
		Color: shownColor && color, ErrColor: e.ErrColor && color, OneTerminal: e.Color, Size: e.liveSize(),
		Events: r.json, Verbose: c.Bool("verbose"), Compact: c.Bool("compact")})
	s.out, s.err = s.ui.Out, s.ui.Err
	in := workspace.Options{Dir: dir, Home: e.Home, Environ: e.Environ, Version: version.Version, Verbose: c.Bool("verbose"),
		LockTimeout: c.Duration("lock-timeout"), NoLock: c.IsSet("lock") && !c.Bool("lock"),
		Secrets: r.secrets, Events: r.stream.Send, Stdin: e.Stdin, Stdout: e.Stdout}
	in.Where = where(c, e)
	dirs := settings.Lookup(in.Env).Dirs(in.Home, address(c, in) != "" || asRoot())
	in.State, in.DataDir, in.CacheDir = c.String("state"), dirs.Data, dirs.Cache
	kept, err := settings.Lookup(in.Env).Size("DEPLOYSTER_MAX_ARTIFACTS")
	if err != nil {
		return nil, err
	}
	files, notHere := s.place(c, in)
	s.engine = app.New(app.Options{
		UI: s.ui, Abort: e.Abort, MaxArtifacts: kept,
		Records:   func(dir string, keys *encryption.Keyring) app.Records { return r.record(dir, keys) },
		Workspace: in,
		Open:      func(ctx context.Context) (app.Runtime, error) { return s.open(ctx, c) },
		Bundled:   elsewhere.Bundled(), Artifacts: files, NotHere: notHere,
		Dial: hosts.Dialer(in, version.Version, s.note), MayHaveMachine: settings.Lookup(in.Env).Machines(false).Check,
	})
	if _, err := settings.Lookup(s.engine.Workspace.Env).Size("DEPLOYSTER_MAX_IMAGE"); err != nil {
		return nil, err
	}
	s.keep, err = settings.Lookup(s.engine.Workspace.Env).KeepWorkers()
	return s, err
}

// note shows what is noteworthy at a host.
func (s *session) note(h runner.Host, text string) {
	s.ui.Diagnostics(diag.Diagnostics{diag.Warningf("Mind this on "+diag.Visible(h.Name), "%s.", text)})
}

// where returns the flags that declare in which directory a command works, and on which state.
func where(c *cli.Context, e Env) (flags []string) {
	dir := c.String("chdir")
	if rel, err := filepath.Rel(e.Dir, dir); err == nil && filepath.IsLocal(rel) {
		dir = rel // it was given as PATH, which was made absolute
	}
	if dir != "" && dir != "." {
		flags = append(flags, "-chdir="+dir)
	}
	if c.IsSet("state") {
		flags = append(flags, "-state="+c.String("state"))
	}
	return flags
}

// shownOn returns the writer of results for people, and whether it is a terminal. If
// stdout gets a plan or a report, it is stderr.
func (e Env) shownOn() (io.Writer, bool, error) {
	for _, flag := range []string{"out", "report"} {
		switch {
		case e.line.Values[flag] != workspace.Std:
			continue
		case e.run.json:
			return nil, false, diag.Errorf("Conflicting flags",
				"-%s=- and -json both write to stdout. -json-into=FILE writes the events elsewhere.", flag)
		case flag == "out" && e.Color:
			return nil, false, diag.Errorf("Invalid flag value",
				"-out=- writes a plan to stdout, which is a terminal. Send it on with |, or into a file with -out=FILE.")
		}
		return e.Stderr, e.ErrColor, nil
	}
	return e.Stdout, e.Color, nil
}

// address returns the socket of the containerd that a person has named; "" = none.
func address(c *cli.Context, in workspace.Options) string {
	return cmp.Or(c.String("containerd-address"), in.Env("CONTAINERD_ADDRESS"))
}

// place returns where the files of artifacts are, and what returns the error about what would run on this machine; nil = images
// can run here.
func (s *session) place(c *cli.Context, in workspace.Options) (artifacts string, notHere func() error) {
	if address(c, in) != "" || runsHere() {
		return artifactsHere(in), nil
	}
	return elsewhere.Artifacts(in.CacheDir), func() error { return elsewhere.NotHere(s.env.notHere) }
}

// open opens what runs images: a containerd, or nothing here for who has none.
func (s *session) open(ctx context.Context, c *cli.Context) (app.Runtime, error) {
	if address(c, s.engine.Workspace.Options) != "" || runsHere() {
		return s.openContainerd(ctx, c)
	}
	from, err := s.registries()
	if err != nil {
		return nil, err
	}
	away, err := elsewhere.Open(s.engine.Workspace.CacheDir, from, s.env.notHere)
	if err != nil {
		return nil, err
	}
	s.images = away.Images
	return away, nil
}

// registries returns how registries are reached.
func (s *session) registries() (elsewhere.RegistryOptions, error) {
	env := settings.Lookup(s.engine.Workspace.Env)
	maxImage, err := env.Size("DEPLOYSTER_MAX_IMAGE")
	return elsewhere.RegistryOptions{CertDirs: env.CertDirs(), DockerConfig: s.dockerConfig(), MaxImage: maxImage,
		Progress: s.engine.Pulling}, err
}

// dockerConfig returns the file where docker keeps credentials for registries.
func (s *session) dockerConfig() string {
	if dir := s.engine.Workspace.Env("DOCKER_CONFIG"); dir != "" {
		return filepath.Join(s.engine.Workspace.Path(dir), "config.json")
	}
	if s.engine.Workspace.Home == "" {
		return ""
	}
	return filepath.Join(s.engine.Workspace.Home, ".docker", "config.json")
}
