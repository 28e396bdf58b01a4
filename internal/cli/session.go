package cli

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/urfave/cli/v2"

	"deployster/config"
	"deployster/containerd"
	"deployster/internal/base/diag"
	"deployster/internal/base/encryption"
	"deployster/internal/runner/typeclient"
	"deployster/internal/runner/worker"
	"deployster/internal/ui/terminal"
	"deployster/plan"
	"deployster/state"
)

// defaultState is the state file's name when nobody says another.
const defaultState = "deployster.state.json"

// session is what the commands share: where they work, how they print, and the
// parts that they have opened.
type session struct {
	env      Env
	dir      string // absolute: the working directory after -chdir
	verbose  bool
	started  time.Time        // the time of the plan that is made
	out      terminal.Printer // results
	err      terminal.Printer // everything else
	runtime  *containerd.Runtime
	pool     *worker.Pool // runs images with the runtime, in workers where it can
	released chan error   // gives how both were given up; nil = they may be needed
	ui       *terminal.UI
	vault    *vault              // what must never be shown
	keys     *encryption.Keyring // of what is encrypted
	pullTold pullTold            // what programs know of the same

	keep     time.Duration // for which idle workers are kept for the next command
	maxImage int64         // bytes that an image may have that is pulled; 0 = the default
}

// newSession reads the flags that all commands have.
func newSession(c *cli.Context, e Env) (*session, error) {
	dir := e.Dir
	if to := c.String("chdir"); to != "" {
		dir = e.path(to)
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return nil, diag.Errorf("No such directory", "-chdir=%s names no directory.", to)
		}
	}
	v, color := e.account.vault, e.wantsColor()
	s := &session{env: e, dir: dir, verbose: c.Bool("verbose"), started: time.Now(), vault: v}
	s.ui = terminal.New(terminal.Options{Stdin: e.Stdin, Stdout: e.Stdout, Stderr: e.Stderr, Hide: v.hide, Tell: e.account.Diagnostic,
		Color: e.Color && color, ErrColor: e.ErrColor && color, OneTerminal: e.Color, Size: e.liveSize(),
		Events: e.account.json, Verbose: s.verbose, Compact: c.Bool("compact")})
	s.out, s.err = s.ui.Out, s.ui.Err
	s.keys = encryption.New(encryption.AsFound, func() (encryption.Keys, error) { return s.loadKeys(config.Encryption{}) })
	if text := e.get("DEPLOYSTER_MAX_IMAGE"); text != "" {
		size, err := config.ParseBytes(text)
		if err != nil {
			return nil, diag.Errorf("DEPLOYSTER_MAX_IMAGE is not a size", "%s.", err)
		}
		s.maxImage = size
	}
	var err error
	if s.keep, err = e.keepWorkers(); err != nil {
		return nil, err
	}
	return s, nil
}

// dockerConfig is where docker keeps credentials for registries.
func (s *session) dockerConfig() string {
	if dir := s.env.get("DOCKER_CONFIG"); dir != "" {
		return filepath.Join(s.path(dir), "config.json")
	}
	if s.env.Home == "" {
		return ""
	}
	return filepath.Join(s.env.Home, ".docker", "config.json")
}

// path makes a path of the user's absolute.
func (e Env) path(p string) string {
	if filepath.IsAbs(p) {
		return filepath.Clean(p)
	}
	return filepath.Join(e.Dir, p)
}

// path makes a path of the user's absolute, after -chdir.
func (s *session) path(p string) string {
	if filepath.IsAbs(p) {
		return filepath.Clean(p)
	}
	return filepath.Join(s.dir, p)
}

// statePath says which state file to use: the flag wins over the manifest.
func (s *session) statePath(c *cli.Context, m *config.Manifest) string {
	if flag := c.String("state"); flag != "" {
		return s.path(flag)
	}
	if m != nil && m.StatePath() != "" {
		return s.path(m.StatePath())
	}
	return s.path(defaultState)
}

// statePathAround is the same for commands that only look at the state: where
// there are manifests that name a state file, it is that one. That they have
// mistakes does not matter here.
func (s *session) statePathAround(c *cli.Context) string {
	sources, diags := config.Find(s.dir, nil)
	if diags.HasErrors() {
		return s.statePath(c, nil)
	}
	m, _ := config.Load(sources, nil, s.builtins())
	s.useKeys(m)
	return s.statePath(c, m)
}

// stateOptions are how commands open the state: in what name, and how long they
// wait for whoever has it.
func (s *session) stateOptions(c *cli.Context, command string) state.Options {
	return state.Options{Command: "deployster " + command, Keys: s.keys, Wait: c.Duration("lock-timeout"), Waiting: func(who string) {
		s.note("The state is in use by %s. Waiting for at most %s.", who, c.Duration("lock-timeout"))
	}}
}

// manifest reads the manifests that the arguments name, and the variables.
func (s *session) manifest(c *cli.Context) (*config.Manifest, error) {
	m, diags, err := s.read(c, config.Load)
	if err != nil {
		return nil, err
	}
	return s.loaded(m, diags)
}

// load is config.Load or config.Check.
type load func(config.Sources, []config.VarInput, config.Builtins) (*config.Manifest, diag.Diagnostics)

// read does so without judging what the manifests' own mistakes mean.
func (s *session) read(c *cli.Context, with load) (*config.Manifest, diag.Diagnostics, error) {
	if c.NArg() == 1 && c.Command.Name == "apply" {
		if name := c.Args().First(); !isManifest(name) {
			if _, err := os.Stat(s.path(name)); errors.Is(err, os.ErrNotExist) {
				return nil, nil, diag.Errorf("No such file", "%s is neither a saved plan nor a manifest nor a directory. `deployster plan -out=%s` would make a plan of that name.", name, name)
			}
		}
	}
	sources, diags := config.Find(s.dir, c.Args().Slice())
	if diags.HasErrors() {
		return nil, nil, diags
	}
	inputs, more := config.FindVariables(s.dir, s.env.Home, s.env.Environ, variableFlags(c))
	if diags = append(diags, more...); diags.HasErrors() {
		return nil, nil, diags
	}
	m, more := with(sources, inputs, s.builtins())
	answers, err := s.askVariables(c, m, more)
	if err != nil {
		return nil, nil, err
	}
	if len(answers) > 0 {
		m, more = with(sources, append(inputs, answers...), s.builtins())
	}
	return m, append(diags, more...), nil
}

// replay gives the manifests that a plan carries, as they were when it was made.
func (s *session) replay(sources config.Sources, variables map[string]json.RawMessage, planned time.Time) (*config.Manifest, error) {
	builtins := s.builtins()
	builtins.PlanTime = planned
	inputs, diags := config.Pinned(variables)
	if diags.HasErrors() {
		return nil, diags
	}
	m, more := config.Load(sources, inputs, builtins)
	return s.loaded(m, append(diags, more...))
}

// loaded shows warnings, and learns what must never be shown.
func (s *session) loaded(m *config.Manifest, diags diag.Diagnostics) (*config.Manifest, error) {
	if diags.HasErrors() {
		return nil, diags
	}
	s.err.Diagnostics(diags)
	s.vault.add(m.Secrets())
	s.useKeys(m)
	return m, nil
}

func (s *session) builtins() config.Builtins {
	return config.Builtins{Version: Version, Verbose: s.verbose, Workspace: s.dir, Home: s.env.Home, PlanTime: s.started}
}

// client speaks to images, shows what they log, and records what was said. What
// the state file holds as sensitive is hidden as what the manifest does.
func (s *session) client(prior state.Snapshot, pins map[string]string, y *supply) *typeclient.Client {
	for _, entry := range prior.Resources {
		s.vault.add(plan.EntrySecrets(entry))
	}
	records := s.env.account.record(s.dir, s.keys)
	return typeclient.New(typeclient.Options{Runner: s.pool, Version: Version, Verbose: s.verbose,
		Workspace: s.dir, Pins: pins, Obtain: y.use, Log: s.line, Record: records.Add, Inits: newInitCache(s.dir)})
}

// close ends what was opened.
func (s *session) close() {
	s.ui.Close()
	s.release()
	if err := <-s.released; err != nil {
		s.err.Diagnostic(diag.Warningf("Something was left in containerd",
			"Tidying up after this run failed: %s. The next run tidies up after this one by itself.", err))
	}
}

// readState reads a state for commands that take no lock.
func (s *session) readState(ctx context.Context, path string) (state.Snapshot, error) {
	snapshot, recovery, err := state.Load(state.File(path), s.keys)
	if err == nil {
		s.tellUnlocked(ctx, path, recovery)
	}
	return snapshot, err
}

// tellUnlocked is tell for commands that take no lock: what looks as if an apply
// had died may be one that is at work.
func (s *session) tellUnlocked(ctx context.Context, path string, r *state.Recovery) {
	if r == nil {
		return
	}
	held, err := state.ReadShared(ctx, state.File(path), state.Options{Command: "deployster", Keys: s.keys})
	if errors.Is(err, state.ErrLocked) {
		s.note("An apply is at work. This is what it has recorded so far.")
		return
	}
	if err == nil {
		_ = held.Close() // it was only to know whether somebody else holds it
	}
	s.tell(r)
}

// tell says what an earlier run left behind when it died.
func (s *session) tell(r *state.Recovery) {
	if r == nil {
		return
	}
	s.err.Diagnostic(r.Warning())
}

// variableFlags gives -var and -var-file in the order of the command line, which
// the flag library does not keep between two flags.
func variableFlags(c *cli.Context) []config.VarFlag {
	var flags []config.VarFlag
	if list, ok := c.Generic("var").(*varList); ok {
		flags = list.flags
	}
	return flags
}
