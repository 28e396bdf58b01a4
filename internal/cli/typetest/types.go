package typetest

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"deployster/config"
	"deployster/internal/app"
	"deployster/internal/app/command"
	"deployster/internal/app/machine"
	"deployster/internal/app/workspace"
	"deployster/internal/base/diag"
	"deployster/internal/base/secret"
	"deployster/internal/cli/flagvalues"
	"deployster/internal/runtime/conformance"
	"deployster/internal/runtime/conformance/report"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/typeschema"
	"deployster/internal/ui/terminal"
	"deployster/protocol"
)

// Session is the session of one test.
type Session struct {
	Engine      *app.Engine
	Out, Err    terminal.Printer
	Interactive bool // a person can be asked
	Confirm     func(ctx context.Context, question string, whole bool) (bool, error)
	Inputs      workspace.Inputs // of the manifests that declare the host of -host
}

// The exit codes of a test.
const (
	done        = 0
	failed      = 1
	interrupted = 130
)

// Flags returns the flags of a test.
func Flags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "config", Usage: "`FILE` (.hcl, .json, .yaml) with the config of the resource to test with"},
		&cli.StringFlag{Name: "then", Usage: "`FILE` with a second config, to which the resource is changed"},
		&cli.StringSliceFlag{Name: "operation", Usage: "`NAME` of an operation to run, or NAME=FILE with its input; may be repeated"},
		&cli.StringSliceFlag{Name: "plug", Usage: "`NAME=PATH` that the image gets; PATH:ro is read only; may be repeated"},
		&cli.StringFlag{Name: "name", Usage: "`NAME` of the resource", Value: "test"},
		&cli.StringSliceFlag{Name: "env", Usage: "`NAME=VALUE` in the environment; may be repeated"},
		&cli.StringFlag{Name: "network", Usage: "`NETWORK` of the containers: host or none", Value: string(runner.HostNetwork)},
		&cli.BoolFlag{Name: "mount-workspace", Usage: "the image gets the working directory, as a type with mount_workspace"},
		&cli.DurationFlag{Name: "timeout", Usage: "`TIME` limit of each run of the image, such as 30s (default: as in an apply)"},
		&cli.BoolFlag{Name: "keep", Usage: "keep the resource at the end"},
		&cli.BoolFlag{Name: "replace", Usage: "allow to change and destroy a resource that exists already"},
		&cli.BoolFlag{Name: "whole-machine", Usage: "the image gets the whole machine, as a type with whole_machine"},
		&cli.BoolFlag{Name: "auto-approve", Usage: "with -whole-machine: do not ask"},
		&cli.BoolFlag{Name: "json", Usage: "print the report as JSON"},
		&cli.StringFlag{Name: "source", Usage: "test an image of artifacts: `FILE` with its source"},
		&cli.StringFlag{Name: "put", Usage: "with -source: `FILE` with the params of a put, which really publishes"},
		&cli.StringSliceFlag{Name: "input", Usage: "with -put: `NAME=PATH` that is copied for it; may be repeated"},
	}
}

// Run tests an image of a type, or with -source one of artifacts. It returns the exit code. The
// runtime must keep no workers of earlier commands: the test needs fresh containers.
func Run(c *cli.Context, s Session) (int, error) {
	if c.IsSet("source") && c.IsSet("host") {
		return failed, diag.Errorf("Conflicting flags", "An image of artifacts runs on this machine: leave out -host.")
	}
	if c.IsSet("source") {
		env, err := flagvalues.Environment(c)
		if err != nil {
			return failed, err
		}
		return testArtifacts(c, s, env)
	}
	o, err := testOptions(c, s)
	if err != nil {
		return failed, err
	}
	asJSON := c.Bool("json")
	o.About = func(ty protocol.Type) { begins(s.Err, o, ty) }
	if !asJSON {
		o.Done = func(c report.Check) { checked(s.Out, c) }
	}
	runtime, err := place(c, s, &o)
	if err != nil {
		return failed, err
	}
	found, err := conform(c.Context, s.Engine.Command(), runtime, o, asJSON)
	if asJSON && len(found.Checks) > 0 {
		if err := s.Out.Document(found); err != nil {
			return failed, err
		}
	}
	switch {
	case errors.Is(err, context.Canceled):
		detail := "Nothing was changed."
		if found.LeftBehind {
			detail = "What the test has created may still exist. `deployster type test -replace` with the same config removes it."
		}
		s.Engine.Workspace.Warn(diag.Errorf("Interrupted", "%s", detail))
		return interrupted, nil
	case err != nil:
		return failed, err
	case !asJSON:
		summary(s.Out, found)
	}
	if found.Status != report.Pass {
		return failed, nil
	}
	return done, nil
}

func testOptions(c *cli.Context, s Session) (conformance.Options, error) {
	wrong := func(detail string, args ...any) (conformance.Options, error) {
		return conformance.Options{}, diag.Errorf("Invalid arguments", detail, args...)
	}
	if c.NArg() != 1 || c.String("config") == "" {
		return wrong("test takes a config and an image: deployster type test -config file.hcl acme/file:1; or, of an image of artifacts, " +
			"a source: deployster type test -source file.hcl acme/git:1")
	}
	o := conformance.Options{Image: c.Args().First(), Name: c.String("name"),
		Keep: c.Bool("keep"), Replace: c.Bool("replace"), Timeout: c.Duration("timeout"), Plugs: map[string]conformance.Plug{}}
	if o.Timeout < 0 {
		return wrong("-timeout must be more than 0.")
	}
	for flag, into := range map[string]*json.RawMessage{"config": &o.Config, "then": &o.Then} {
		if file := c.String(flag); file != "" {
			raw, diags := config.ReadObject(s.Engine.Workspace.Path(file), file)
			if diags.HasErrors() {
				return o, diags
			}
			*into = raw
		}
	}
	if err := inputsOf(c, s, &o); err != nil {
		return o, err
	}
	for _, pair := range c.StringSlice("plug") {
		name, path, ok := strings.Cut(pair, "=")
		path, readOnly := strings.CutSuffix(path, ":ro")
		if !ok || name == "" || path == "" {
			return wrong("-plug takes NAME=PATH or NAME=PATH:ro, not %q.", pair)
		}
		if c.IsSet("host") {
			if !filepath.IsAbs(path) {
				return wrong("-plug %s: a path on a host must be absolute.", pair)
			}
		} else if path = s.Engine.Workspace.HomePath(path); missing(path) {
			return o, diag.Errorf("No such plug", "-plug %s: there is nothing at %s. Create the directory or the file first; the image "+
				"sees it.", pair, path)
		}
		o.Plugs[name] = conformance.Plug{Path: path, ReadOnly: readOnly}
	}
	env, err := flagvalues.Environment(c)
	if err != nil {
		return o, err
	}
	if o.Settings.Env = env; c.Bool("mount-workspace") {
		if c.IsSet("host") {
			return wrong("-mount-workspace and -host exclude each other: the working directory is on this machine.")
		}
		o.Settings.Workdir = s.Engine.Workspace.Dir
	}
	switch o.Settings.Network = runner.Network(c.String("network")); o.Settings.Network {
	case runner.HostNetwork, runner.NoNetwork:
	default:
		return wrong("-network is host or none, not %q.", c.String("network"))
	}
	return o, wholeMachine(c, &o)
}

// inputsOf reads the inputs of operations.
func inputsOf(c *cli.Context, s Session, o *conformance.Options) error {
	o.Inputs = map[string]json.RawMessage{}
	for _, pair := range c.StringSlice("operation") {
		name, file, ok := strings.Cut(pair, "=")
		switch {
		case name == "" || ok && file == "":
			return diag.Errorf("Invalid arguments", "-operation takes NAME or NAME=FILE, not %q.", pair)
		case !ok:
			o.Inputs[name] = json.RawMessage("{}")
			continue
		}
		raw, diags := config.ReadObject(s.Engine.Workspace.Path(file), file)
		if diags.HasErrors() {
			return diags
		}
		o.Inputs[name] = raw
	}
	return nil
}

func missing(path string) bool {
	_, err := os.Stat(path)
	return err != nil
}

// conform tests whether an image keeps the protocol. It sets those of the options
// that the command decides. It calls their About once the secrets of the configs are
// known. Without quiet it shows the output of the image.
func conform(ctx context.Context, c command.Command, runtime machine.Place, o conformance.Options,
	quiet bool) (report.Report, error) {
	w := c.Work
	o.Runner, o.Launcher, o.Version, o.Workspace, o.Verbose, o.Hide = runtime, runtime, w.Version, w.Dir, w.Verbose, w.Secrets.Hide
	if !quiet {
		o.Log = c.Line
	}
	about := o.About
	o.About = func(ty protocol.Type) {
		for _, config := range []json.RawMessage{o.Config, o.Then} {
			w.Secrets.Add(secret.Values(config, new(typeschema.Schemas).WriteOnly(ty.ConfigSchema, config)))
		}
		about(ty)
	}
	return conformance.Run(ctx, o)
}
