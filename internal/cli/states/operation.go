package states

import (
	"cmp"
	"maps"
	"slices"

	"github.com/urfave/cli/v2"

	"deployster/apply"
	"deployster/internal/app"
	"deployster/internal/app/operating"
	"deployster/internal/base/diag"
	"deployster/internal/cli/flagvalues"
	"deployster/internal/ui/typeview"
)

// OperationCommand returns the command for operations of types. run and list are its actions, and flags those that all commands share.
func OperationCommand(run, list cli.ActionFunc, flags []cli.Flag) *cli.Command {
	return &cli.Command{
		Name:  "operation",
		Usage: "run what types do on request, such as backups",
		Subcommands: []*cli.Command{{
			Name: "run", Usage: "run an operation on recorded resources", ArgsUsage: "ADDRESS NAME",
			Description: "ADDRESS is a resource, an instance or a module, or has * for any text: 'db[*]'.\n" +
				"It shows what runs and with which rights, prompts for approval, and records it as apply records an action.\n" +
				"Exit codes: 0 done, 1 error, 130 interrupted.",
			Flags: slices.Concat([]cli.Flag{
				&cli.GenericFlag{Name: "set", Value: &flagvalues.Words{}, Usage: "`NAME=VALUE` of its input; may be repeated"},
				&cli.BoolFlag{Name: "auto-approve", Usage: "approve it without a prompt"},
				&cli.StringFlag{Name: "report", Usage: "write the report to `FILE`, as JSON; - is stdout, and text goes to stderr"},
			}, flags),
			Action: run,
		}, {
			Name: "list", Usage: "list the operations of recorded resources", ArgsUsage: "[ADDRESS]",
			Flags:  []cli.Flag{&cli.BoolFlag{Name: "json", Usage: "as JSON"}},
			Action: list,
		}},
	}
}

// Limits are how a command works on resources, and whether a person can be prompted.
type Limits struct {
	Ask         bool
	Hosts       app.HostOptions
	Parallelism int
}

// RunOperation runs an operation with options and limits.
func RunOperation(c *cli.Context, s Session, o Limits) (*apply.Report, error) {
	if c.NArg() != 2 {
		return nil, diag.Errorf("Wrong number of arguments", "run takes an address "+
			"and the name of an operation. `deployster operation list` lists "+
			"them.")
	}
	list, _ := c.Generic("set").(*flagvalues.Words)
	values, err := operating.ReadValues(list.List)
	if err != nil {
		return nil, err
	}
	return operating.Run(c.Context, s.Engine, operating.Options{Pattern: c.Args().Get(0), Name: c.Args().Get(1), Values: values,
		Auto: c.Bool("auto-approve"), Report: c.String("report"), Ask: o.Ask, Hosts: o.Hosts, Parallelism: o.Parallelism})
}

// ListOperations lists the operations of recorded resources.
func ListOperations(c *cli.Context, s Session) error {
	if err := flagvalues.AtMost(c, 1); err != nil {
		return err
	}
	list, err := operating.List(c.Context, s.Engine, c.Args().First())
	if err != nil {
		return err
	}
	if c.Bool("json") {
		return s.Out.Document(struct {
			Format    int                 `json:"format"`
			Resources []operating.Offered `json:"resources"`
		}{1, list})
	}
	if len(list) == 0 {
		s.Out.Printf("No recorded resource has operations.\n")
	}
	rows := [][]string(nil)
	for _, one := range list {
		for _, name := range slices.Sorted(maps.Keys(one.Operations)) {
			kind := typeview.OperationKind(one.Operations[name])
			if slices.Contains(one.Open, name) {
				kind = "unknown outcome: see deployster resolve"
			}
			rows = append(rows, []string{diag.Visible(one.Address), name, cmp.Or(diag.Visible(one.Operations[name].Label), "-"), kind})
		}
	}
	s.Out.Table("", rows)
	return nil
}
