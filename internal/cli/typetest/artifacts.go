package typetest

import (
	"context"
	"errors"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/base/secret"
	"deployster/internal/runtime/artifact/imagetest"
	"deployster/internal/runtime/conformance/report"
	"deployster/internal/runtime/runner"
)

// testArtifacts tests an image of artifacts. env is the environment of its containers.
func testArtifacts(c *cli.Context, s Session, env map[string]string) (int, error) {
	o, err := artifactOptions(c, s)
	if err != nil {
		return failed, err
	}
	o.Settings.Env = env
	asJSON := c.Bool("json")
	if !asJSON {
		o.Done = func(c report.Check) { checked(s.Out, c) }
	}
	runtime, err := s.Engine.Runtime(c.Context)
	if err != nil {
		return failed, err
	}
	s.Engine.Workspace.Secrets.Add(secret.Values(o.Source, o.Sensitive))
	at := s.Engine.Workspace
	o.Runner, o.Inspector, o.Version, o.Workspace, o.Verbose, o.Hide = runtime, runtime, at.Version, at.Dir, at.Verbose, at.Secrets.Hide
	if !asJSON {
		o.Log = s.Engine.Command().Line
	}
	found, err := imagetest.Run(c.Context, o)
	switch {
	case errors.Is(err, context.Canceled) && found.LeftBehind:
		s.Engine.Workspace.Warn(diag.Errorf("Interrupted", "What was put by then stays."))
		return interrupted, nil
	case errors.Is(err, context.Canceled):
		s.Engine.Workspace.Warn(diag.Errorf("Interrupted", "Nothing was published."))
		return interrupted, nil
	case err != nil:
		return failed, err
	case asJSON:
		err = s.Out.Document(found)
	default:
		summary(s.Out, found)
	}
	if found.Status != report.Pass {
		return failed, err
	}
	return done, err
}

func artifactOptions(c *cli.Context, s Session) (o imagetest.Options, err error) {
	wrong := func(detail string, args ...any) (imagetest.Options, error) {
		return o, diag.Errorf("Invalid arguments", detail, args...)
	}
	for _, flag := range []string{"config", "then", "operation", "mount-workspace", "plug", "keep", "replace"} {
		if c.IsSet(flag) {
			return wrong("-%s is for resource types, and -source for images of artifacts.", flag)
		}
	}
	switch {
	case c.NArg() != 1:
		return wrong("test takes a source and an image: deployster type test -source file.hcl acme/git:1")
	case c.Duration("timeout") < 0:
		return wrong("-timeout must be more than 0.")
	case len(c.StringSlice("input")) > 0 && c.String("put") == "":
		return wrong("-input is for a put: name its params with -put.")
	}
	o = imagetest.Options{Image: c.Args().First(), Timeout: c.Duration("timeout"), Inputs: map[string]string{}}
	switch o.Settings.Network = runner.Network(c.String("network")); o.Settings.Network {
	case runner.HostNetwork, runner.NoNetwork:
	default:
		return wrong("-network is host or none, not %q.", c.String("network"))
	}
	var diags diag.Diagnostics
	file := c.String("source")
	if o.Source, o.Sensitive, diags = config.ReadMarked(s.Engine.Workspace.Path(file), file); diags.HasErrors() {
		return o, diags
	}
	if file = c.String("put"); file != "" {
		if o.Put, diags = config.ReadObject(s.Engine.Workspace.Path(file), file); diags.HasErrors() {
			return o, diags
		}
	}
	for _, pair := range c.StringSlice("input") {
		name, path, ok := strings.Cut(pair, "=")
		if !ok || name == "" || path == "" || strings.ContainsAny(name, "/\x00") || name == ".." || name == "." {
			return wrong("-input takes NAME=PATH, not %q.", pair)
		}
		path = s.Engine.Workspace.HomePath(path)
		if _, err := os.Stat(path); err != nil {
			return o, diag.Errorf("No such input", "-input %s: there is nothing at %s.", pair, path)
		}
		o.Inputs[name] = path
	}
	return o, nil
}
