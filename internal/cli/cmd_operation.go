package cli

import (
	"cmp"
	"maps"
	"slices"

	"github.com/urfave/cli/v2"

	"deployster/internal/app/operating"
	"deployster/internal/base/diag"
	"deployster/internal/cli/flagvalues"
	"deployster/internal/cli/hosts"
	"deployster/internal/ui/typeview"
)

func operationCommand(e Env) *cli.Command {
	return &cli.Command{
		Name:  "operation",
		Usage: "run what types do on request, such as backups",
		Subcommands: []*cli.Command{{
			Name: "run", Usage: "run an operation on recorded resources", ArgsUsage: "ADDRESS NAME",
			Description: "ADDRESS is a resource, an instance or a module, or has * for any text: 'db[*]'.\n" +
				"It shows what runs and with which rights, prompts for approval, and records it as apply records an action.\n" +
				"Exit codes: 0 done, 1 error, 130 interrupted.",
			Flags: slices.Concat([]cli.Flag{
				&cli.GenericFlag{Name: "set", Value: &flagvalues.Words{}, Usage: "`KEY=VALUE` of its input; may be repeated"},
				&cli.BoolFlag{Name: "auto-approve", Usage: "approve it without a prompt"},
				&cli.StringFlag{Name: "report", Usage: "write the report to `FILE`, as JSON; - is stdout, and text goes to stderr"},
				parallelismFlag(), hosts.UnreachableFlag(), inputFlag(),
			}, eventFlags()),
			Action: e.action(runOperation),
		}, {
			Name: "list", Usage: "list the operations of recorded resources", ArgsUsage: "[ADDRESS]",
			Flags:  []cli.Flag{&cli.BoolFlag{Name: "json", Usage: "as JSON"}},
			Action: e.action(listOperations),
		}},
	}
}

func runOperation(c *cli.Context, s *session) error {
	if c.NArg() != 2 {
		return diag.Errorf("Wrong number of arguments", "run takes an address and the name of an operation. `deployster operation list` lists "+
			"them.")
	}
	values, err := operating.ReadValues(wordsOf(c, "set"))
	if err != nil {
		return err
	}
	return applied(operating.Run(c.Context, s.engine, operating.Options{Pattern: c.Args().Get(0), Name: c.Args().Get(1), Values: values,
		Auto: c.Bool("auto-approve"), Ask: s.env.Interactive && c.Bool("input"), Report: c.String("report"), Hosts: hosts.OptionsOf(c),
		Parallelism: parallelism(c)}))
}

func listOperations(c *cli.Context, s *session) error {
	if err := flagvalues.AtMost(c, 1); err != nil {
		return err
	}
	list, err := operating.List(c.Context, s.engine, c.Args().First())
	if err != nil {
		return err
	}
	if c.Bool("json") {
		return s.out.Document(struct {
			Format    int                 `json:"format"`
			Resources []operating.Offered `json:"resources"`
		}{1, list})
	}
	if len(list) == 0 {
		s.out.Printf("No recorded resource has operations.\n")
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
	s.out.Table("", rows)
	return nil
}
