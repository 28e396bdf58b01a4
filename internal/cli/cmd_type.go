package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"deployster/internal/base/diag"
	"deployster/internal/runner/typeclient"
	"deployster/protocol"
)

func typeCommand(e Env) *cli.Command {
	return &cli.Command{
		Name:            "type",
		HideHelpCommand: true,
		Usage:           "look at resource types, and test them",
		Subcommands: []*cli.Command{
			{Name: "inspect", Usage: "say what an image is: its config, its state, what it needs and what it can do", ArgsUsage: "IMAGE",
				Description: "It runs the image's init, without network and mounts, and nothing else.",
				Flags: []cli.Flag{
					&cli.BoolFlag{Name: "json", Usage: "as JSON"},
					&cli.BoolFlag{Name: "schema", Usage: "print the JSON Schema of the config, and nothing else"},
				},
				Action: func(c *cli.Context) error { return withRuntime(c, e, inspectType) }},
			testCommand(e),
		},
		Action: func(c *cli.Context) error { return cli.ShowSubcommandHelp(c) },
	}
}

// inspected is what `type inspect -json` prints.
type inspected struct {
	Format        int                             `json:"format"`
	Image         string                          `json:"image"`
	Digest        string                          `json:"digest"`
	Label         string                          `json:"label,omitempty"`
	Protocol      int                             `json:"protocol"`
	ConfigSchema  json.RawMessage                 `json:"config_schema,omitempty"`
	StateSchema   json.RawMessage                 `json:"state_schema,omitempty"`
	Identity      []string                        `json:"identity"`
	Kind          string                          `json:"kind,omitempty"`
	Config        []property                      `json:"config"`
	State         []property                      `json:"state"`
	Plugs         map[string]protocol.PlugRequest `json:"plugs"`
	Resources     map[string]string               `json:"required_resources,omitempty"`
	StateAction   protocol.Command                `json:"state_action"`
	Absent        bool                            `json:"absent"`
	Dependencies  bool                            `json:"dependencies"`
	Worker        *protocol.Command               `json:"worker,omitempty"`
	Reuse         bool                            `json:"reuse"`
	Cache         bool                            `json:"cache"`
	configOpen    bool
	stateOpen     bool
	configUnknown bool // there is no schema
}

func inspectType(c *cli.Context, s *session) error {
	if c.NArg() != 1 {
		return diag.Errorf("Wrong command line", "inspect takes one image: deployster type inspect acme/file:1")
	}
	t, err := s.inspect(c.Context, c.Args().First())
	switch {
	case err != nil:
		return err
	case c.Bool("schema"):
		schema := t.ConfigSchema
		if len(schema) == 0 {
			schema = json.RawMessage(`{"type":"object"}`)
		}
		var b bytes.Buffer
		if err := json.Indent(&b, schema, "", "  "); err != nil {
			return err
		}
		s.out.json(b.Bytes())
	case c.Bool("json"):
		content, err := json.MarshalIndent(t, "", "  ")
		if err != nil {
			return err
		}
		s.out.json(content)
	default:
		s.out.inspected(t)
	}
	return nil
}

// inspect asks an image what it is.
func (s *session) inspect(ctx context.Context, name string) (inspected, error) {
	image, err := s.runtime.Resolve(ctx, name)
	if err != nil {
		return inspected{}, err
	}
	client := typeclient.New(typeclient.Options{Runner: s.runtime, Version: Version, Verbose: s.verbose, Workspace: s.dir, Log: s.progress().line})
	ty, err := client.Init(ctx, typeclient.Target{Address: "inspect", Reference: name, Digest: image.Digest})
	if err != nil {
		return inspected{}, err
	}
	return describeType(image.Reference, ty), nil
}

func describeType(name string, ty protocol.Type) inspected {
	t := inspected{Format: 1, Image: name, Digest: ty.Digest, Label: ty.Label, Protocol: ty.Dialect, ConfigSchema: ty.ConfigSchema, StateSchema: ty.StateSchema,
		Identity: ty.Identity, Kind: ty.Kind, Plugs: ty.Plugs, Resources: ty.RequiredResources, StateAction: ty.StateAction,
		Absent: ty.Absent, Dependencies: ty.Dependencies,
		Worker: ty.Worker, Reuse: ty.Reuse, Cache: !ty.NoCache, configUnknown: len(ty.ConfigSchema) == 0}
	t.Config, t.configOpen = schemaRows(ty.ConfigSchema)
	t.State, t.stateOpen = schemaRows(ty.StateSchema)
	if t.Identity == nil {
		t.Identity = []string{}
	}
	if t.Plugs == nil {
		t.Plugs = map[string]protocol.PlugRequest{}
	}
	for _, rows := range []*[]property{&t.Config, &t.State} {
		if *rows == nil {
			*rows = []property{}
		}
	}
	return t
}

// inspected prints what an image is, for people.
func (p printer) inspected(t inspected) {
	if t.Label != "" {
		p.printf("%s\n", p.style.bold(t.Label))
	}
	p.columns("", [][]string{
		{"Image", t.Image}, {"Digest", t.Digest}, {"Protocol", fmt.Sprint(t.Protocol)},
		{"Identity", identityText(t)},
		{"State by", commandText(t.StateAction)},
		{"Can", strings.Join(abilities(t), "; ")},
	})
	p.printf("\n%s\n", p.style.bold("Config"))
	switch {
	case t.configUnknown:
		p.printf("  any object: the image does not say what its config is like\n")
	case len(t.Config) == 0:
		p.printf("  no properties\n")
	}
	p.properties(t.Config, true)
	if t.configOpen && len(t.Config) > 0 {
		p.printf("  Other properties are accepted too.\n")
	}
	p.printf("\n%s\n", p.style.bold("State"))
	if len(t.State) == 0 {
		p.printf("  any object: the image does not say what its state is like\n")
	}
	p.properties(t.State, false)
	p.printf("\n%s\n", p.style.bold("Plugs"))
	if len(t.Plugs) == 0 {
		p.printf("  none\n")
	}
	var rows [][]string
	for _, name := range slices.Sorted(maps.Keys(t.Plugs)) {
		rows = append(rows, []string{name, "at " + t.Plugs[name].ContainerPath, plugText(t.Plugs[name])})
	}
	p.columns("  ", rows)
	for _, alias := range slices.Sorted(maps.Keys(t.Resources)) {
		p.printf("\nIt needs the dependency %q, of the type %s.\n", alias, t.Resources[alias])
	}
}

// identityText says which values of a config name the thing.
func identityText(t inspected) string {
	text := strings.Join(t.Identity, ", ")
	if text == "" {
		text = "not said: renames and replacements of its resources are guessed"
	}
	if t.Kind != "" {
		text += " (kind " + t.Kind + ")"
	}
	return text
}

func plugText(p protocol.PlugRequest) string {
	text := "read only"
	switch {
	case p.AnyMode:
		text = "as the plug allows"
	case p.Writable:
		text = "writable"
	}
	if p.Optional {
		text += ", optional"
	}
	return text
}

// commandText says how a step is run.
func commandText(c protocol.Command) string {
	words := []string{"its entrypoint, with"}
	if c.Entrypoint != "" {
		words = []string{c.Entrypoint}
	}
	for _, arg := range c.Args {
		if arg == "" || strings.ContainsAny(arg, " \t\n\"'\\") {
			arg = inline(arg)
		}
		words = append(words, arg)
	}
	if c.Image != "" {
		words = append(words, "in "+c.Image)
	}
	return strings.Join(words, " ")
}

func abilities(t inspected) []string {
	list := []string{"create and update"}
	if t.Absent {
		list = append(list, "remove")
	} else {
		list = append(list, "not remove (its resources can be forgotten only)")
	}
	for _, a := range []struct {
		has  bool
		text string
	}{{t.Dependencies, "see its dependencies"}, {t.Worker != nil, "serve as a worker"}, {t.Reuse, "share a container"}, {!t.Cache, "be something else for each resource"}} {
		if a.has {
			list = append(list, a.text)
		}
	}
	return list
}

// properties prints a schema as a table.
func (p printer) properties(list []property, config bool) {
	if len(list) == 0 {
		return
	}
	head := []string{"NAME", "TYPE", "", "MORE"}
	if config {
		head = []string{"NAME", "TYPE", "NEEDED", "MORE"}
	}
	rows := [][]string{head}
	for _, r := range list {
		needed := ""
		switch {
		case config && r.Required:
			needed = "yes"
		case config:
			needed = "no"
		case !r.Required:
			needed = "not always"
		}
		more := r.Rules
		if r.Default != "" {
			more = append([]string{"default " + r.Default}, more...)
		}
		if r.Secret {
			more = append([]string{"secret"}, more...)
		}
		text := strings.Join(more, "; ")
		if r.Description != "" && text != "" {
			text = r.Description + " (" + text + ")"
		} else if r.Description != "" {
			text = r.Description
		}
		rows = append(rows, []string{strings.Repeat("  ", r.depth) + r.leaf, r.Type, needed, text})
	}
	p.columns("  ", rows)
}

// columns prints a table whose cells are made safe first: a tab or a newline of
// an image must not move the others.
func (p printer) columns(indent string, rows [][]string) {
	var text bytes.Buffer
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	flat := strings.NewReplacer("\n", `\n`, "\t", `\t`)
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = flat.Replace(diag.Visible(cell))
		}
		_, _ = fmt.Fprintln(table, indent+strings.Join(cells, "\t"))
	}
	_ = table.Flush() // into memory
	for line := range strings.Lines(text.String()) {
		p.printf("%s\n", strings.TrimRight(line, " \n"))
	}
}
