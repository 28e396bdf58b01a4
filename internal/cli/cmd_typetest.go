package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/runner"
	"deployster/internal/runner/conformance"
	"deployster/internal/runner/typeclient"
	"deployster/internal/ui/render"
	"deployster/protocol"
)

func testCommand(e Env) *cli.Command {
	return &cli.Command{Name: "test", Usage: "find out whether an image keeps the protocol", ArgsUsage: "IMAGE",
		Description: "It asks the image all that deployster ever asks, and really makes, changes and removes what the config\n" +
			"describes. What is there already is left alone, and is an error. Exit codes: 0 all is well, 1 not.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "config", Usage: "`FILE` (.hcl, .json, .yaml) with the config of the resource to test with"},
			&cli.StringFlag{Name: "then", Usage: "`FILE` with a second config, to which the resource is changed"},
			&cli.StringSliceFlag{Name: "plug", Usage: "`NAME=PATH` that the image gets; PATH:ro is read only; may be repeated"},
			&cli.StringFlag{Name: "name", Usage: "`NAME` of the resource", Value: "test"},
			&cli.StringSliceFlag{Name: "env", Usage: "`NAME=VALUE` in the environment; may be repeated"},
			&cli.StringFlag{Name: "network", Usage: "`host` or none", Value: string(runner.HostNetwork)},
			&cli.DurationFlag{Name: "timeout", Usage: "what each run of the image may take, such as `30s`; default: as in an apply"},
			&cli.BoolFlag{Name: "keep", Usage: "leave at the end what was made"},
			&cli.BoolFlag{Name: "replace", Usage: "what is there already may be changed and removed"},
			&cli.BoolFlag{Name: "json", Usage: "the report as JSON"},
		},
		Action: func(c *cli.Context) error { return withRuntime(c, e, testType) }}
}

func testType(c *cli.Context, s *session) error {
	o, err := s.testOptions(c)
	if err != nil {
		return err
	}
	asJSON := c.Bool("json")
	o.Log = s.progress().line
	if asJSON {
		o.Log = nil
	}
	o.About = func(ty protocol.Type) {
		for _, config := range []json.RawMessage{o.Config, o.Then} {
			for _, text := range conformance.Secrets(typeclient.WriteOnly(ty, config), config) {
				s.vault.add([]string{text})
			}
		}
		s.err.testBegins(o, ty)
	}
	if !asJSON {
		o.Done = s.out.checked
	}
	report, err := conformance.Run(c.Context, o)
	if asJSON && len(report.Checks) > 0 {
		content, jerr := json.MarshalIndent(report, "", "  ")
		if jerr != nil {
			return jerr
		}
		s.out.json(content)
	}
	if err != nil {
		return s.testEnded(err, report)
	}
	if !asJSON {
		s.out.testSummary(report)
	}
	if report.Status != conformance.Pass {
		return exitStatus(exitError)
	}
	return nil
}

// testEnded is for a test that could not be made to its end.
func (s *session) testEnded(err error, r conformance.Report) error {
	if !errors.Is(err, context.Canceled) {
		return err
	}
	detail := "Nothing was changed."
	if r.LeftBehind {
		detail = "What the test has made may still be there. `deployster type test -replace` with the same config removes it."
	}
	s.err.diagnostic(diag.Errorf("Interrupted", "%s", detail))
	return exitStatus(exitInterrupted)
}

func (s *session) testOptions(c *cli.Context) (conformance.Options, error) {
	wrong := func(detail string, args ...any) (conformance.Options, error) {
		return conformance.Options{}, diag.Errorf("Wrong command line", detail, args...)
	}
	if c.NArg() != 1 || c.String("config") == "" {
		return wrong("test takes a config and an image: deployster type test -config file.hcl acme/file:1")
	}
	o := conformance.Options{Runner: s.runtime, Image: c.Args().First(), Name: c.String("name"), Version: Version, Workspace: s.dir, Verbose: s.verbose,
		Keep: c.Bool("keep"), Replace: c.Bool("replace"), Timeout: c.Duration("timeout"), Hide: s.vault.hide, Plugs: map[string]conformance.Plug{}}
	if o.Timeout < 0 {
		return wrong("-timeout must be more than 0.")
	}
	for flag, into := range map[string]*json.RawMessage{"config": &o.Config, "then": &o.Then} {
		if file := c.String(flag); file != "" {
			raw, diags := config.ReadObject(s.path(file), file)
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
		if rest, home := strings.CutPrefix(path, "~/"); home {
			path = s.env.Home + "/" + rest
		}
		path = s.path(path)
		if _, err := os.Stat(path); err != nil {
			return o, diag.Errorf("No such plug", "-plug %s: there is nothing at %s. Make the directory or the file first; the image sees what is there.", pair, path)
		}
		o.Plugs[name] = conformance.Plug{Path: path, ReadOnly: readOnly}
	}
	env, err := environment(c)
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

// environment reads the -env flags.
func environment(c *cli.Context) (map[string]string, error) {
	env := map[string]string{}
	for _, pair := range c.StringSlice("env") {
		name, value, ok := strings.Cut(pair, "=")
		if !ok {
			return nil, diag.Errorf("Wrong command line", "-env takes NAME=VALUE, not %q.", pair)
		}
		env[name] = value
	}
	return env, nil
}

// testBegins says what is going to happen, before it does.
func (p printer) testBegins(o conformance.Options, ty protocol.Type) {
	label := o.Image
	if ty.Label != "" {
		label = fmt.Sprintf("%s (%s)", ty.Label, o.Image)
	}
	p.printf("Testing %s. %s\n", p.style.bold(label), p.style.yellow("This really makes and changes what the config describes."))
	switch {
	case !ty.Absent:
		p.printf("The image cannot remove things, so what it makes stays.\n")
	case o.Keep:
		p.printf("What it makes stays, because of -keep.\n")
	default:
		p.printf("It is removed at the end.\n")
	}
	for name, plug := range o.Plugs {
		p.printf("Plug %s: %s\n", name, plug.Path)
	}
}

// checked prints one check.
func (p printer) checked(c conformance.Check) {
	mark := map[conformance.Verdict]string{conformance.Pass: p.style.green("ok   "), conformance.Fail: p.style.red("FAIL "), conformance.Skip: p.style.dim("skip ")}[c.Verdict]
	line := fmt.Sprintf("%s %s", mark, c.Title)
	if c.Verdict != conformance.Fail && c.Reason != "" {
		line += p.style.dim(" (" + strings.ReplaceAll(c.Reason, "\n", " ") + ")")
	}
	p.printf("%s\n", line)
	if c.Verdict != conformance.Fail {
		if c.Fix != "" {
			p.indented("      ", "Better: "+c.Fix)
		}
		return
	}
	p.indented("      ", c.Reason)
	p.indented("      ", p.style.bold("Fix: ")+c.Fix)
	for _, x := range c.Exchanges {
		p.exchange(x)
	}
}

// exchange prints what the image was sent and what it said.
func (p printer) exchange(x conformance.Exchange) {
	how := fmt.Sprintf("exit code %d", x.ExitCode)
	if x.Error != "" {
		how = x.Error
	}
	args := ""
	for _, a := range x.Args {
		args += " " + inline(a)
	}
	p.printf("      %s %s\n", p.style.bold(x.Step), p.style.dim(fmt.Sprintf("args:%s, %s, %s", orNone(args), how, render.Took(time.Duration(x.Millis)*time.Millisecond))))
	for _, part := range []struct{ name, text string }{{"stdin ", x.Stdin}, {"stdout", x.Stdout}, {"stderr", x.Stderr}} {
		if part.text == "" {
			p.printf("        %s (nothing)\n", part.name)
			continue
		}
		for i, line := range strings.Split(part.text, "\n") {
			name := part.name
			if i > 0 {
				name = "      "
			}
			p.printf("        %s %s\n", p.style.dim(name), line)
		}
	}
}

func orNone(args string) string {
	if args == "" {
		return " none"
	}
	return args
}

func (p printer) indented(indent, text string) {
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		p.printf("%s%s\n", indent, line)
	}
}

// testSummary is the last line.
func (p printer) testSummary(r conformance.Report) {
	verdict := p.style.green("It keeps the protocol:")
	if r.Status != conformance.Pass {
		verdict = p.style.red("It does not keep the protocol:")
	}
	p.printf("\n%s %d passed, %d failed, %d skipped, in %s.\n", p.style.bold(verdict), r.Passed, r.Failed, r.Skipped, render.Took(time.Duration(r.Millis)*time.Millisecond))
	if r.LeftBehind {
		p.printf("What the test has made is still there.\n")
	}
}
