package cli

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"deployster/config"
	"deployster/internal/app/types"
	"deployster/internal/base/diag"
	"deployster/internal/cli/artifacts"
	"deployster/internal/cli/flagvalues"
	"deployster/internal/runtime/conformance"
	"deployster/internal/runtime/runner"
	"deployster/internal/ui/typeview"
	"deployster/protocol"
)

func testCommand(e Env) *cli.Command {
	return &cli.Command{Name: "test", Usage: "test whether an image follows the protocol", ArgsUsage: "IMAGE",
		Description: "It runs everything that deployster ever runs of an image: it really creates, changes and destroys what the config\n" +
			"describes. A resource that exists already is an error, and is not touched. Exit codes: 0 passed, 1 failed.",
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "config", Usage: "`FILE` (.hcl, .json, .yaml) with the config of the resource to test with"},
			&cli.StringFlag{Name: "then", Usage: "`FILE` with a second config, to which the resource is changed"},
			&cli.StringSliceFlag{Name: "plug", Usage: "`NAME=PATH` that the image gets; PATH:ro is read only; may be repeated"},
			&cli.StringFlag{Name: "name", Usage: "`NAME` of the resource", Value: "test"},
			&cli.StringSliceFlag{Name: "env", Usage: "`NAME=VALUE` in the environment; may be repeated"},
			&cli.StringFlag{Name: "network", Usage: "`NETWORK` of the containers: host or none", Value: string(runner.HostNetwork)},
			&cli.DurationFlag{Name: "timeout", Usage: "`TIME` limit of each run of the image, such as 30s (default: as in an apply)"},
			&cli.BoolFlag{Name: "keep", Usage: "keep the resource at the end"},
			&cli.BoolFlag{Name: "replace", Usage: "allow to change and destroy a resource that exists already"},
			&cli.BoolFlag{Name: "json", Usage: "print the report as JSON"},
		}, artifacts.TestFlags()...),
		Action: e.action(testType)}
}

func testType(c *cli.Context, s *session) error {
	if c.IsSet("source") {
		return testArtifacts(c, s)
	}
	o, err := testOptions(c, s)
	if err != nil {
		return err
	}
	s.keep = 0 // the test needs fresh containers
	asJSON := c.Bool("json")
	o.About = func(ty protocol.Type) { typeview.TestBegins(s.err, o, ty) }
	if !asJSON {
		o.Done = func(c conformance.Check) { typeview.Checked(s.out, c) }
	}
	runtime, err := s.Runtime(c.Context)
	if err != nil {
		return err
	}
	report, err := types.Conformance(c.Context, s.Command(), runtime, o, asJSON)
	if asJSON && len(report.Checks) > 0 {
		if err := s.out.Document(report); err != nil {
			return err
		}
	}
	if err != nil {
		return testEnded(s, err, report)
	}
	if !asJSON {
		typeview.Summary(s.out, report)
	}
	if report.Status != conformance.Pass {
		return exitStatus(exitError)
	}
	return nil
}

// testArtifacts tests an image of artifacts.
func testArtifacts(c *cli.Context, s *session) error {
	env, err := flagvalues.Environment(c)
	if err != nil {
		return err
	}
	code, err := artifacts.Test(c, artifacts.Session{Engine: s.Engine, Out: s.out, Err: s.err}, env)
	if err == nil && code != exitDone {
		return exitStatus(code)
	}
	return err
}

// testEnded returns the error of a test that did not complete.
func testEnded(s *session, err error, r conformance.Report) error {
	if !errors.Is(err, context.Canceled) {
		return err
	}
	detail := "Nothing was changed."
	if r.LeftBehind {
		detail = "What the test has created may still exist. `deployster type test -replace` with the same config removes it."
	}
	s.Warn(diag.Errorf("Interrupted", "%s", detail))
	return exitStatus(exitInterrupted)
}

func testOptions(c *cli.Context, s *session) (conformance.Options, error) {
	wrong := func(detail string, args ...any) (conformance.Options, error) {
		return conformance.Options{}, diag.Errorf("Wrong command line", detail, args...)
	}
	if c.NArg() != 1 || c.String("config") == "" {
		return wrong("test takes a config and an image: deployster type test -config file.hcl acme/file:1; or, of an image of artifacts, a " +
			"source: deployster type test -source file.hcl acme/git:1")
	}
	o := conformance.Options{Image: c.Args().First(), Name: c.String("name"),
		Keep: c.Bool("keep"), Replace: c.Bool("replace"), Timeout: c.Duration("timeout"), Plugs: map[string]conformance.Plug{}}
	if o.Timeout < 0 {
		return wrong("-timeout must be more than 0.")
	}
	for flag, into := range map[string]*json.RawMessage{"config": &o.Config, "then": &o.Then} {
		if file := c.String(flag); file != "" {
			raw, diags := config.ReadObject(s.Path(file), file)
			if diags.HasErrors() {
				return o, diags
			}
			*into = raw
		}
	}
	for _, pair := range c.StringSlice("plug") {
		name, path, ok := strings.Cut(pair, "=")
		path, readOnly := strings.CutSuffix(path, ":ro")
		if !ok || name == "" || path == "" {
			return wrong("-plug takes NAME=PATH or NAME=PATH:ro, not %q.", pair)
		}
		path = s.HomePath(path)
		if _, err := os.Stat(path); err != nil {
			return o, diag.Errorf("No such plug", "-plug %s: there is nothing at %s. Create the directory or the file first; the image sees "+
				"it.", pair, path)
		}
		o.Plugs[name] = conformance.Plug{Path: path, ReadOnly: readOnly}
	}
	env, err := flagvalues.Environment(c)
	if err != nil {
		return o, err
	}
	o.Settings.Env = env
	switch o.Settings.Network = runner.Network(c.String("network")); o.Settings.Network {
	case runner.HostNetwork, runner.NoNetwork:
	default:
		return wrong("-network is host or none, not %q.", c.String("network"))
	}
	return o, nil
}
