package typeview

import (
	"deployster/internal/base/rootless"
	"deployster/internal/runtime/runner/typeschema"
	"deployster/internal/ui/paint"
	"deployster/internal/ui/terminal"
	"deployster/protocol"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Document is what `type inspect -json` prints.
type Document struct {
	Format       int                             `json:"format"`
	Image        string                          `json:"image"`
	Digest       string                          `json:"digest"`
	Label        string                          `json:"label,omitempty"`
	Protocol     int                             `json:"protocol"`
	ConfigSchema json.RawMessage                 `json:"config_schema,omitempty"`
	StateSchema  json.RawMessage                 `json:"state_schema,omitempty"`
	Identity     []string                        `json:"identity"`
	Kind         string                          `json:"kind,omitempty"`
	Config       []Property                      `json:"config"`
	State        []Property                      `json:"state"`
	Plugs        map[string]protocol.PlugRequest `json:"plugs"`
	PlugsIn      []string                        `json:"plugs_in,omitempty"`
	Resources    map[string]string               `json:"required_resources,omitempty"`
	StateAction  protocol.Command                `json:"state_action"`
	Notify       *protocol.Command               `json:"notify,omitempty"` // it sends notifications, and has no states
	Secret       *protocol.Command               `json:"secret,omitempty"` // it prints a secret, and has no states
	Absent       bool                            `json:"absent"`
	Dependencies bool                            `json:"dependencies"`
	Refresh      bool                            `json:"refresh"`
	WatchAction  *protocol.Command               `json:"watch_action,omitempty"`
	Discover     *protocol.Command               `json:"discover_action,omitempty"`
	Actions      []string                        `json:"actions,omitempty"` // the names of all its actions, if it declares them
	Operations   map[string]protocol.Operation   `json:"operations,omitempty"`
	Validate     *protocol.Command               `json:"validate_action,omitempty"`
	Memory       bool                            `json:"memory,omitempty"`
	Unknowns     bool                            `json:"unknowns,omitempty"`
	Independent  bool                            `json:"independent,omitempty"`
	ByPerson     bool                            `json:"by_person,omitempty"`
	Worker       *protocol.Command               `json:"worker,omitempty"`
	Reuse        bool                            `json:"reuse"`
	ReuseActions bool                            `json:"reuse_actions,omitempty"`
	Cache        bool                            `json:"cache"`
	// ReadOnly: its containers have a read-only root file system, unless the type block declares otherwise.
	ReadOnly      bool            `json:"read_only_rootfs,omitempty"`
	Rootless      []rootless.Loss `json:"rootless,omitempty"` // what its containers on this machine do not have
	configOpen    bool
	configUnknown bool // there is no schema
}

// Describe returns the document for a type, as its image describes it.
func Describe(name string, ty protocol.Type) Document {
	t := Document{Format: 1, Image: name, Digest: ty.Digest, Label: ty.Label, Protocol: ty.Protocol, ConfigSchema: ty.ConfigSchema,
		StateSchema: ty.StateSchema,
		Identity:    ty.Identity, Kind: ty.Kind, Plugs: ty.Plugs, PlugsIn: ty.PlugsIn,
		Resources: ty.RequiredResources, StateAction: ty.StateAction, Notify: ty.Notify, Secret: ty.Secret,
		Absent: ty.Absent, Dependencies: ty.Dependencies, Refresh: ty.Refresh, WatchAction: ty.WatchAction,
		Discover: ty.DiscoverAction, Validate: ty.ValidateAction, Actions: ty.Actions, Operations: ty.Operations,
		Memory: ty.Memory, Unknowns: ty.Unknowns, Independent: ty.Independent, ByPerson: ty.ByPerson,
		Worker: ty.Worker, Reuse: ty.Reuse, ReuseActions: ty.ReuseActions, Cache: !ty.NoCache, configUnknown: len(ty.ConfigSchema) == 0}
	t.Config, t.configOpen = schemaRows(ty.ConfigSchema)
	t.State, _ = schemaRows(ty.StateSchema)
	if t.Identity == nil {
		t.Identity = []string{}
	}
	if t.Plugs == nil {
		t.Plugs = map[string]protocol.PlugRequest{}
	}
	for _, rows := range []*[]Property{&t.Config, &t.State} {
		if *rows == nil {
			*rows = []Property{}
		}
	}
	return t
}

// Print prints a type for people.
func Print(p terminal.Printer, t Document) {
	if t.Label != "" {
		p.Printf("%s\n", paint.Bold(t.Label))
	}
	facts := [][]string{
		{"Image", t.Image}, {"Digest", t.Digest}, {"Protocol", fmt.Sprint(t.Protocol)},
		{"Identity", identityText(t)},
		{"State by", commandText(t.StateAction)},
		{"Can", strings.Join(abilities(t), "; ")},
	}
	if t.Notify != nil {
		facts = append(facts[:3], []string{"Notifies by", commandText(*t.Notify)})
	}
	if t.Secret != nil {
		facts = append(facts[:3], []string{"Prints a secret by", commandText(*t.Secret)})
	}
	if t.ReadOnly {
		facts = append(facts, []string{"Its files", "read-only, except for plugs and /tmp; read_only_rootfs = false allows more"})
	}
	if len(t.Actions) > 0 {
		facts = append(facts, []string{"Actions", strings.Join(t.Actions, ", ")})
	}
	if len(t.Rootless) > 0 {
		facts = append(facts, []string{"Rootless", rootless.Words(t.Rootless)})
	}
	p.Table("", facts)
	p.Printf("\n%s\n", paint.Bold("Config"))
	switch {
	case t.configUnknown:
		p.Printf("  any object: the image has no schema of its config\n")
	case len(t.Config) == 0:
		p.Printf("  no properties\n")
	}
	if typeschema.ReadAsDraft04(t.ConfigSchema) {
		p.Printf("  The schema is read as one of JSON Schema draft-04.\n")
	}
	printProperties(p, t.Config, true)
	if t.configOpen && len(t.Config) > 0 {
		p.Printf("  Other properties are accepted too.\n")
	}
	if t.Notify != nil || t.Secret != nil {
		return // it has neither states nor plugs
	}
	p.Printf("\n%s\n", paint.Bold("State"))
	if len(t.State) == 0 {
		p.Printf("  any object: the image has no schema of its state\n")
	}
	printProperties(p, t.State, false)
	p.Printf("\n%s\n", paint.Bold("Plugs"))
	if len(t.Plugs)+len(t.PlugsIn) == 0 {
		p.Printf("  none\n")
	}
	var rows [][]string
	for _, name := range slices.Sorted(maps.Keys(t.Plugs)) {
		rows = append(rows, []string{name, "at " + t.Plugs[name].ContainerPath, plugText(t.Plugs[name])})
	}
	for _, pointer := range t.PlugsIn {
		rows = append(rows, []string{"the one in " + pointer, "at " + protocol.PlugsDir + "NAME", "read only"})
	}
	p.Table("  ", rows)
	printOperations(p, t.Operations)
	for _, alias := range slices.Sorted(maps.Keys(t.Resources)) {
		p.Printf("\nIt needs the dependency %q, of the type %s.\n", alias, t.Resources[alias])
	}
}

// identityText returns which values of a config identify the object.
func identityText(t Document) string {
	text := strings.Join(t.Identity, ", ")
	if text == "" {
		text = "not declared: renames and replacements of its resources are guessed"
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

// commandText describes the command of a step.
func commandText(c protocol.Command) string {
	words := []string{"its entrypoint, with"}
	if c.Entrypoint != "" {
		words = []string{c.Entrypoint}
	}
	for _, arg := range c.Args {
		if arg == "" || strings.ContainsAny(arg, " \t\n\"'\\") {
			arg = Inline(arg)
		}
		words = append(words, arg)
	}
	if c.Image != "" {
		words = append(words, "in "+c.Image)
	}
	return strings.Join(words, " ")
}

func abilities(t Document) []string {
	list := []string{"create and update"}
	if t.Absent {
		list = append(list, "remove")
	} else {
		list = append(list, "not remove (its resources can be forgotten only)")
	}
	for _, a := range []struct {
		has  bool
		text string
	}{{t.Dependencies, "see its dependencies"},
		{t.Refresh, "refresh when what it subscribes changes"},
		{t.Unknowns, "be queried ahead"}, {t.Independent, "leave its resources unchanged while others change"},
		{t.ByPerson, "have a watch report drift, and not repair it"},
		{t.WatchAction != nil, "report changes"}, {t.Discover != nil, "list what exists"}, {t.Validate != nil, "judge configs"},
		{t.Worker != nil, "serve as a worker"}, {t.Reuse, "share a container"},
		{t.ReuseActions, "share it with actions"}, {!t.Cache,
			"differ for each resource"}} {
		if a.has {
			list = append(list, a.text)
		}
	}
	return list
}

// printProperties prints a schema as a table.
func printProperties(p terminal.Printer, list []Property, config bool) {
	if len(list) == 0 {
		return
	}
	head := []string{"NAME", "TYPE", "ALWAYS", "MORE"}
	if config {
		head = []string{"NAME", "TYPE", "NEEDED", "MORE"}
	}
	rows := [][]string{head}
	for _, r := range list {
		needed := ""
		switch {
		case r.Required:
			needed = "yes"
		default:
			needed = "no"
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
	p.Table("  ", rows)
}
