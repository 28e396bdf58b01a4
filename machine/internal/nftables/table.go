package nftables

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"deployster/machine/internal/access"
	"deployster/machine/internal/files"
	"deployster/machine/internal/replace"
	"deployster/machine/internal/systemd"
	"deployster/protocol"
)

// directory is where the tables of this kind are.
const directory = "/etc/nftables.d"

// Config is what a user writes about a table.
type Config struct {
	Family  string `json:"family" default:"inet" enum:"inet,ip,ip6,arp,bridge,netdev" deployster:"identity"`
	Table   string `json:"table" pattern:"^[A-Za-z_][A-Za-z0-9_]*$" deployster:"identity"`
	Ruleset string `json:"ruleset"`
}

var docs = map[string]string{
	"family":  "The family of the table: inet, ip, ip6, arp, bridge or netdev.",
	"table":   "The name of the table.",
	"ruleset": "What is in the table: its sets and chains, as nft(8) describes them.",
}

// State is what exists.
type State struct {
	Loaded bool `json:"loaded" doc:"whether the kernel has the table, as it was loaded last"`
	Boot   bool `json:"boot" doc:"whether it is loaded at boot"`

	live    string // how the kernel has the table, "" if it has none
	text    string // of the file, "" if there is none
	changed bool   // somebody has changed the table since it was loaded
	unit    systemd.Facts
}

type call = protocol.Call[Config, State]

// Table is the kind of tables of the packet filter.
type Table struct {
	machine *access.Machine
	units   systemd.Units
}

// New returns the kind nftables.
func New(m *access.Machine) protocol.Kind {
	return protocol.NewKind(Table{m, systemd.NewUnits(m)}, protocol.About{Label: "Table of nftables", Kind: "linux/nftables", Worker: true,
		Unknowns: true, Docs: docs})
}

func (c Config) name() string { return c.Family + " " + c.Table }

func (c Config) path() string { return directory + "/deployster-" + c.Family + "-" + c.Table + ".nft" }

// recordPath is where the table is described as the kernel had it after it was loaded.
func (c Config) recordPath() string {
	return directory + "/.deployster-" + c.Family + "-" + c.Table + ".loaded"
}

// text returns the file of the table: one transaction, which replaces it wholly.
func (c Config) text() string {
	rules := strings.TrimRight(c.Ruleset, "\n")
	return fmt.Sprintf("# Managed by deployster\ntable %[1]s\ndelete table %[1]s\ntable %[1]s {\n%[2]s\n}\n", c.name(), rules)
}

// unit returns the unit that loads the table at boot: before there is a network, and after the
// machine's own nftables.service, which empties the packet filter.
func (k Table) unit(c Config) systemd.OwnUnit {
	text := fmt.Sprintf(`[Unit]
Description=Table %s of nftables
DefaultDependencies=no
After=local-fs.target nftables.service
Before=network-pre.target shutdown.target
Requires=network-pre.target
Conflicts=shutdown.target

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=nft -f %s

[Install]
WantedBy=sysinit.target
`, c.name(), c.path())
	return k.units.Unit("deployster-nftables-"+c.Family+"-"+c.Table+".service", text)
}

// check refuses rules that leave their table.
func check(c *call) error {
	if c.IsUnknown("/ruleset") || c.Intent == protocol.Absent {
		return nil
	}
	depth := 0
	for number, line := range strings.Split(c.Config.Ruleset, "\n") {
		quoted := false
		for i := 0; i < len(line); i++ {
			switch {
			case line[i] == '"':
				quoted = !quoted
			case quoted:
			case line[i] == '#':
				i = len(line)
			case line[i] == '{':
				depth++
			case line[i] == '}':
				depth--
			}
			if depth < 0 {
				return protocol.Errorf(protocol.ConfigError, "/ruleset",
					"line %d closes the table itself: a resource has one table, and leaves those of others alone", number+1)
			}
		}
	}
	if depth > 0 {
		return protocol.Errorf(protocol.ConfigError, "/ruleset", "%d braces are not closed", depth)
	}
	return nil
}

// Read returns the table; nil if the kernel has none, and there is no file.
func (k Table) Read(ctx context.Context, c *call) (*State, error) {
	if err := check(c); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(k.machine.Path(c.Config.path()))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	s := &State{text: string(text)}
	if s.unit, err = k.unit(c.Config).Facts(ctx); err != nil {
		return nil, err
	}
	if c.Intent == protocol.Absent && s.text == "" && !s.unit.There {
		return nil, nil // a table of that name is somebody else's
	}
	s.Boot = s.unit.Enabled
	if s.live, err = k.live(ctx, c.Config); err != nil {
		return nil, err
	}
	if s.text == "" && s.live == "" && !s.unit.There {
		return nil, nil
	}
	loaded, err := os.ReadFile(k.machine.Path(c.Config.recordPath()))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	s.changed = s.live != string(loaded)
	s.Loaded = s.live != "" && !s.changed
	return s, nil
}

// Plan compares the file, what the kernel has, and what is loaded at boot.
func (k Table) Plan(_ context.Context, c *call, have *State) (*protocol.Plan, error) {
	plan := &protocol.Plan{Actions: []protocol.Action{{Name: "create"}}, Forecast: State{Loaded: true, Boot: true}}
	if have == nil {
		return plan, nil
	}
	plan.Actions[0].Name = "update"
	because := func(path, message string) {
		plan.Reasons = append(plan.Reasons, protocol.Reason{Path: path, Message: message})
	}
	switch {
	case have.text == "" && have.live != "":
		because("/table", "the kernel has a table of this name that somebody else has loaded, and it is replaced")
		plan.Actions[0].Destructive, plan.Actions[0].Description = true, "Replace the table that somebody else has loaded"
	case have.live == "":
		because("/table", "the kernel does not have the table")
	case have.changed:
		because("/ruleset", "the kernel has other rules than those that were loaded")
	}
	if c.IsUnknown("/ruleset") {
		because("/ruleset", "known only after other actions")
	} else if have.text != "" && have.text != c.Config.text() {
		r := difference(have.text, c.Config.text())
		plan.Reasons = append(plan.Reasons, r)
	}
	if !have.Boot {
		because("/table", "it is not loaded at boot")
	} else if have.unit.Difference != nil {
		plan.Reasons = append(plan.Reasons, *have.unit.Difference)
	}
	if len(plan.Reasons) == 0 {
		return nil, nil
	}
	return plan, nil
}

// Write checks the rules, loads them in one transaction, and has them loaded at boot: rules that
// the kernel does not take are in no file.
func (k Table) Write(ctx context.Context, c *call) error {
	if err := check(c); err != nil {
		return err
	}
	if err := os.MkdirAll(k.machine.Path(directory), 0o755); err != nil {
		return err
	}
	unlock, err := replace.Lock(ctx, k.machine, c.Config.path())
	if err != nil {
		return err
	}
	defer unlock()
	mode := uint32(0o600)
	err = replace.File(ctx, k.machine, c.Config.path(), replace.Change{Content: strings.NewReader(c.Config.text()), Mode: &mode,
		Validate: func(ctx context.Context, beside string) error {
			if err := k.load(ctx, beside, c.Config.path(), "-c"); err != nil {
				return err
			}
			return k.load(ctx, beside, c.Config.path())
		}})
	if err != nil {
		return err
	}
	live, err := k.live(ctx, c.Config)
	if err != nil {
		return err
	}
	err = replace.File(ctx, k.machine, c.Config.recordPath(), replace.Change{Content: strings.NewReader(live), Mode: &mode})
	if err != nil {
		return err
	}
	return k.unit(c.Config).Write(ctx, c.Log)
}

// PlanAbsence reports what else a removal does.
func (k Table) PlanAbsence(context.Context, *call, *State) (*protocol.Plan, error) {
	return &protocol.Plan{Actions: []protocol.Action{{Name: "delete", Description: "Remove the table, now and from the boot"}}}, nil
}

// Delete removes the table from the boot, and then from the kernel.
func (k Table) Delete(ctx context.Context, c *call) error {
	if err := k.unit(c.Config).Remove(ctx); err != nil {
		return err
	}
	live, err := k.live(ctx, c.Config)
	if err != nil {
		return err
	}
	if live != "" {
		if err := k.nft(ctx, nil, "delete", "table", c.Config.Family, c.Config.Table); err != nil {
			return err
		}
	}
	if _, err := os.Stat(k.machine.Path(filepath.Dir(c.Config.path()))); err != nil {
		return nil // it has no files
	}
	return errors.Join(replace.Remove(k.machine, c.Config.recordPath()), replace.Remove(k.machine, c.Config.path()))
}

// Watch reports changes of the unit, and of the table.
func (k Table) Watch(ctx context.Context, c *call, tell func(detail string)) error {
	return files.WatchAll(ctx, tell, k.unit(c.Config).Watch, func(ctx context.Context, tell func(string)) error {
		return k.monitor(ctx, c.Config, tell)
	})
}
