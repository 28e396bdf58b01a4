package cli

import (
	"github.com/urfave/cli/v2"

	"deployster/config"
	"deployster/internal/app"
	"deployster/internal/app/approval"
	judging "deployster/internal/app/policy"
	"deployster/internal/app/workspace"
	"deployster/internal/base/diag"
	"deployster/internal/cli/flagvalues"
	"deployster/plan"
)

// globalFlags returns the flags of all commands, which may stand anywhere.
func globalFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "chdir", Usage: "work in `DIR`"},
		&cli.StringFlag{Name: "state", Usage: "`FILE` or URL of the state (default: deployster.state.json)"},
		&cli.DurationFlag{Name: "lock-timeout", Usage: "how long to wait for the state lock, a `TIME` such as 5m",
			DefaultText: "fail at once"},
		&cli.StringFlag{Name: "containerd-address",
			Usage: "`SOCKET` of a running containerd; without it an embedded one serves ($CONTAINERD_ADDRESS)"},
		&cli.StringFlag{Name: "containerd-namespace", Usage: "containerd `NAMESPACE` ($CONTAINERD_NAMESPACE, default: deployster)"},
		&cli.BoolFlag{Name: "verbose", Usage: "verbose output, also from images"},
		&cli.BoolFlag{Name: "no-color", Usage: "no colours ($NO_COLOR)"},
	}
}

// varFlags returns the flags -var and -var-file of one command. They share a list, since
// the last one on the command line wins, whichever it is.
func varFlags() []cli.Flag {
	var list []config.VarFlag
	return []cli.Flag{
		&cli.GenericFlag{Name: "var", Usage: "`NAME=VALUE` of a variable; may be repeated", Value: &flagvalues.Variables{Into: &list}},
		&cli.GenericFlag{Name: "var-file",
			Usage: "`FILE` (.hcl, .tfvars, .json, .yaml) with values of variables; may be " +
				"repeated", Value: &flagvalues.Variables{Into: &list, File: true}},
	}
}

// inputs returns the manifests and the variables that a command line names.
func inputs(c *cli.Context, s *session) workspace.Inputs {
	in := workspace.Inputs{Paths: c.Args().Slice(), Ask: s.env.Interactive && c.Bool("input")}
	if list, ok := c.Generic("var").(*flagvalues.Variables); ok {
		in.Variables = *list.Into
	}
	return in
}

// selectionFlags returns the flags that limit a command to some resources. with is the
// text for what -target includes besides, without for what -exclude leaves out besides.
func selectionFlags(with, without string) []cli.Flag {
	targets, excludes := &flagvalues.Words{}, &flagvalues.Words{}
	return []cli.Flag{
		&cli.GenericFlag{Name: "target", Value: targets,
			Usage: "only the resource, instance or module `ADDRESS`, " + with + "; may be repeated"},
		addressFile("target-file", "-target for each line of `FILE`; may be repeated", targets, true),
		&cli.GenericFlag{Name: "exclude", Value: excludes, Usage: "everything but `ADDRESS`" + without + "; may be repeated"},
		addressFile("exclude-file", "-exclude for each line of `FILE`; may be repeated", excludes, false),
	}
}

// addressFile returns a flag that adds the addresses in files to those of another flag.
func addressFile(name, usage string, to *flagvalues.Words, required bool) cli.Flag {
	return &cli.GenericFlag{Name: name, Usage: usage, Value: &flagvalues.AddressFile{}, Action: func(_ *cli.Context, value any) error {
		files, ok := value.(*flagvalues.AddressFile)
		if !ok {
			return nil
		}
		list, err := files.Read("-"+name, required)
		to.List = append(to.List, list...)
		return err
	}}
}

// planSelectionFlags returns the selection flags of commands that plan.
func planSelectionFlags() []cli.Flag {
	return selectionFlags("with its dependencies", " and its dependants")
}

// refreshFlags returns the flags for reading the current states, and for replacing.
func refreshFlags() []cli.Flag {
	return []cli.Flag{
		&cli.GenericFlag{Name: "replace", Value: &flagvalues.Words{}, Usage: "destroy `ADDRESS` and create it again; may be repeated"},
		&cli.BoolFlag{Name: "refresh", Value: true, Usage: "use the recorded state, and read only that of changed configs"},
		&cli.BoolFlag{Name: "refresh-only", Usage: "record the current state, and change nothing else"},
	}
}

// selectionOf returns the selection that the flags make. A flag that the command does not
// have counts as not given.
func selectionOf(c *cli.Context) plan.Selection {
	return plan.Selection{Targets: flagvalues.WordsOf(c, "target"), Excludes: flagvalues.WordsOf(c, "exclude"),
		Replace: flagvalues.WordsOf(c, "replace"),
		Destroy: c.Bool("destroy"), NoRefresh: c.IsSet("refresh") && !c.Bool("refresh"), RefreshOnly: c.Bool("refresh-only")}
}

func compactFlag() cli.Flag {
	return &cli.BoolFlag{Name: "compact", Usage: "show each resource in one line"}
}

func parallelismFlag() cli.Flag {
	return &cli.IntFlag{Name: "parallelism", Value: app.DefaultParallelism, Usage: "work on `N` resources concurrently",
		Action: func(_ *cli.Context, n int) error {
			if n < 1 {
				return diag.Errorf("Invalid flag value", "-parallelism must be at least 1.")
			}
			return nil
		}}
}

// parallelism returns the value of -parallelism; 0 = it is not given.
func parallelism(c *cli.Context) int {
	if !c.IsSet("parallelism") {
		return 0
	}
	return c.Int("parallelism")
}

// inputFlag returns the flag -input, of commands that prompt for variables.
func inputFlag() cli.Flag {
	return &cli.BoolFlag{Name: "input", Value: true, Usage: "no prompts, neither for variables nor for approval, also on a terminal"}
}

// askOnFlag returns the flag for the host on which an image is run that is not run for a resource.
func askOnFlag() cli.Flag {
	return &cli.StringFlag{Name: "host", Usage: "run the image on the declared host `NAME`, and not on this machine"}
}

func explainFlag() cli.Flag {
	return &cli.GenericFlag{Name: "explain", Value: &flagvalues.Words{},
		Usage: "explain why the resource at `ADDRESS` changes; may be repeated"}
}

// approvalFlags returns the flags that declare how changes are approved.
func approvalFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "auto-approve", Usage: "approve everything without a prompt"},
		&cli.StringFlag{Name: "confirm", Usage: "`WHEN` to prompt: once, for each resource, or for each action (default: once)"},
		&cli.StringFlag{Name: "approve", Usage: "approve these `KINDS` of change without a prompt, such as create,update. drift: " +
			"what restores the recorded state. other-path: removals through a path that is not the configured one. " +
			"purge: objects of exclusive sets that are neither declared nor kept. " +
			"whole-machine: images that get a machine for the first time"},
		&cli.StringFlag{Name: "deferred", Usage: "`MODE` for changes that the plan could not predict: apply, ask, or stop. " +
			"Default: that of -approve for the kind deferred; apply for a saved plan; else prompt on a terminal, but not for " +
			"objects that are created as planned"},
	}
}

// approvalOptions returns the options that the approval flags set.
func approvalOptions(c *cli.Context, s *session) approval.Options {
	return approval.Options{Auto: c.Bool("auto-approve"), Confirm: flagvalues.Given(c, "confirm"), Kinds: flagvalues.Given(c, "approve"),
		Deferred: flagvalues.Given(c, "deferred"), Ask: s.env.Interactive && c.Bool("input")}
}

// overrideFlags returns the flags of a decision about policies.
func overrideFlags() []cli.Flag {
	return []cli.Flag{
		&cli.GenericFlag{Name: "override", Value: &flagvalues.Words{},
			Usage: "apply what the overridable policy `NAME` denies; may be repeated"},
		&cli.StringFlag{Name: "reason", Usage: "the `TEXT` that is recorded of why -override overrides a policy"},
	}
}

// overridesOf returns the policies that the flags override.
func overridesOf(c *cli.Context) judging.Overrides {
	return judging.Overrides{Names: flagvalues.WordsOf(c, "override"), Reason: flagvalues.Given(c, "reason")}
}

// eventFlags returns the flags of commands that send events.
func eventFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "json", Usage: "print events as JSON on stdout, one a line, and nothing else"},
		&cli.StringFlag{Name: "json-into", Usage: "write these events to `FILE` as well; a FIFO or /dev/fd/3 will do"},
	}
}
