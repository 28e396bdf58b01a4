package systemd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"deployster/machine/internal/access"
	"deployster/protocol"
)

// ServiceConfig is what a user writes about a service.
type ServiceConfig struct {
	Name      string `json:"name" pattern:"^[A-Za-z0-9:_.@\\\\-]+$" deployster:"identity"`
	Running   *bool  `json:"running,omitempty" deployster:"computed"`
	Enabled   *bool  `json:"enabled,omitempty" deployster:"computed"`
	OnRefresh string `json:"on_refresh,omitempty" enum:"reload,restart,none" default:"reload"`
	Guarded   *bool  `json:"guarded,omitempty"`
}

var serviceDocs = map[string]string{
	"name":    "The name of the service without .service, or the whole name of a unit of another kind, such as cups.socket.",
	"running": "Whether it runs. Left out, that is not managed.",
	"enabled": "Whether it starts at boot. Left out, that is not managed.",
	"guarded": "Whether a change is undone unless the host can be reached again, where the host has undo_unless_reached. By " +
		"default for ssh, sshd, ssh.socket, networking, systemd-networkd and NetworkManager.",
	"on_refresh": "What is done when something that the resource subscribes to was changed. A service that cannot reload is " +
		"restarted.",
}

// ServiceState is what systemd has of a service.
type ServiceState struct {
	Name    string `json:"name" doc:"the name in the config"`
	Running bool   `json:"running" doc:"whether it runs"`
	Enabled bool   `json:"enabled" doc:"whether it starts at boot"`
	File    string `json:"unit_file_state" doc:"enabled, disabled, static, indirect, generated, masked, ..."`

	is properties
}

type serviceCall = protocol.Call[ServiceConfig, ServiceState]

// Service is the kind of what systemd runs.
type Service struct {
	control
	events *events
}

// NewService returns the kind service.
func NewService(m *access.Machine) protocol.Kind {
	return protocol.NewKind(Service{control{m}, newEvents(m)}, protocol.About{Label: "Service", Kind: "linux/service",
		Worker: true, Unknowns: true, Refresh: true,
		AutoEdges: []protocol.AutoEdge{{Kind: "linux/unit", By: "/name"}, {Kind: "linux/package", By: "/name"}}, Docs: serviceDocs})
}

// unitName returns the whole name of the unit.
func unitName(name string) string {
	if i := strings.LastIndex(name, "."); i >= 0 {
		switch name[i:] {
		case ".service", ".socket", ".timer", ".path", ".mount", ".automount", ".swap", ".target", ".slice", ".scope", ".device":
			return name
		}
	}
	return name + ".service"
}

// suffixed refuses the second spelling of a name: one unit has one.
func suffixed(bare string) error {
	return protocol.Errorf(protocol.ConfigError, "/name", "a service has its name without .service: write %q", bare)
}

// Read returns what systemd has of the service; nil = there is no such unit.
func (k Service) Read(ctx context.Context, c *serviceCall) (*ServiceState, error) {
	if err := k.check(); err != nil {
		return nil, err
	}
	if bare, is := strings.CutSuffix(c.Config.Name, ".service"); is {
		return nil, suffixed(bare)
	}
	p, err := k.show(ctx, unitName(c.Config.Name))
	if err != nil || !p.there() {
		return nil, err
	}
	state := &ServiceState{Name: c.Config.Name, Running: p.running(), Enabled: p.enabled(), File: p["UnitFileState"], is: p}
	if c.Intent == protocol.Absent && !stops(c, state) && !disables(c, state) {
		return nil, nil
	}
	return state, nil
}

// stops reports whether a removal stops the service: if the config had it run.
func stops(c *serviceCall, have *ServiceState) bool {
	return c.Config.Running != nil && *c.Config.Running && have.Running
}

// disables reports whether a removal disables the service: if the config had it enabled.
func disables(c *serviceCall, have *ServiceState) bool {
	return c.Config.Enabled != nil && *c.Config.Enabled && have.Enabled
}

// possible returns an error for what systemd cannot do with this unit.
func possible(c *serviceCall, have *ServiceState) error {
	unit := have.is["Id"]
	if c.Config.Running != nil && *c.Config.Running && !have.Running {
		switch {
		case have.is.masked():
			return protocol.Errorf(protocol.ConfigError, "/running", "%s is masked, and cannot be started: `systemctl unmask %s` "+
				"unmasks it", unit, unit)
		case have.is["LoadState"] == "bad-setting" || have.is["LoadState"] == "error":
			return protocol.Errorf(protocol.ConfigError, "/running", "systemd cannot read the file of %s: %s", unit, have.is["LoadError"])
		case have.is["Type"] == "oneshot" && have.is["RemainAfterExit"] == "no":
			return protocol.Errorf(protocol.ConfigError, "/running", "%s is a oneshot without RemainAfterExit, which does not run "+
				"after its program has ended: omit running", unit)
		}
	}
	if c.Config.Enabled == nil || *c.Config.Enabled == have.Enabled && have.File == "enabled" {
		return nil
	}
	how := map[string]string{
		"static":    "it has no [Install] section, and starts with the units that need it",
		"indirect":  "only units that its [Install] section names can be enabled",
		"generated": "a generator made it from another file, such as /etc/fstab or /etc/init.d",
		"alias":     "it is another name of a unit: use that one's name",
		"transient": "a program made it for as long as it runs",
	}[have.File]
	switch {
	case how != "":
		return protocol.Errorf(protocol.ConfigError, "/enabled", "%s is %s, so it is neither enabled nor disabled (%s): omit "+
			"enabled", unit, have.File, how)
	case have.is.masked() && *c.Config.Enabled:
		return protocol.Errorf(protocol.ConfigError, "/enabled", "%s is masked, and cannot be enabled: `systemctl unmask %s` "+
			"unmasks it", unit, unit)
	}
	return nil
}

// The actions of a service.
const (
	startAction   = "start"
	stopAction    = "stop"
	enableAction  = "enable"
	disableAction = "disable"
	reloadAction  = "reload"
	restartAction = "restart"
)

func called(name, description string) protocol.Action {
	return protocol.Action{Name: name, Description: description, Command: protocol.Command{Args: []string{name}}}
}

// Plan compares both facts, and what a refresh needs.
func (k Service) Plan(_ context.Context, c *serviceCall, have *ServiceState) (*protocol.Plan, error) {
	plan := &protocol.Plan{}
	unit := unitName(c.Config.Name)
	now := ServiceState{Name: c.Config.Name}
	forecast := map[string]any{"name": c.Config.Name}
	if have != nil {
		now = *have
		if err := possible(c, have); err != nil {
			return nil, err
		}
	} else {
		plan.Reasons = append(plan.Reasons, protocol.Reason{Path: "/name", Message: "there is no unit " + unit + " on this machine yet"})
	}
	want := func(path string, value *bool, has bool, yes, no string, text string) {
		switch {
		case value != nil:
			forecast[path] = *value
		case have != nil && !c.IsUnknown("/"+path):
			forecast[path] = has
		}
		if value == nil || *value == has {
			return
		}
		name := no
		if *value {
			name = yes
		}
		plan.Actions = append(plan.Actions, called(name, fmt.Sprintf(text, name, unit)))
		if have != nil {
			r := protocol.Reason{Path: "/" + path}
			r.Have, _ = json.Marshal(has)
			r.Want, _ = json.Marshal(*value)
			plan.Reasons = append(plan.Reasons, r)
		}
	}
	want("enabled", c.Config.Enabled, now.Enabled, enableAction, disableAction, "%s %s at boot")
	if have != nil && len(plan.Actions) > 0 {
		plan.Unknown = append(plan.Unknown, "/unit_file_state")
	}
	want("running", c.Config.Running, now.Running, startAction, stopAction, "%s %s")
	if c.Refresh && now.Running && (c.Config.Running == nil || *c.Config.Running) && c.Config.OnRefresh != "none" {
		verb := reloadAction
		if c.Config.OnRefresh == "restart" || now.is["CanReload"] != "yes" {
			verb = restartAction
		}
		plan.Actions = append(plan.Actions, called(verb, verb+" "+unit+", since something that it subscribes to was changed"))
	}
	switch {
	case have == nil && len(plan.Actions) == 0:
		return nil, protocol.Errorf(protocol.ConfigError, "/name", "there is no unit %s on this machine", unit)
	case len(plan.Actions) == 0:
		return nil, nil
	}
	plan.Forecast = forecast
	return plan, nil
}

// PlanAbsence stops and disables what the config had started and enabled.
func (k Service) PlanAbsence(_ context.Context, c *serviceCall, have *ServiceState) (*protocol.Plan, error) {
	plan := &protocol.Plan{}
	unit := unitName(c.Config.Name)
	if stops(c, have) {
		plan.Actions = append(plan.Actions, called(stopAction, "stop "+unit))
	}
	if disables(c, have) {
		plan.Actions = append(plan.Actions, called(disableAction, "disable "+unit+" at boot"))
	}
	return plan, nil
}

// Act runs one action.
func (k Service) Act(ctx context.Context, c *serviceCall) error {
	unit := unitName(c.Config.Name)
	p, err := k.show(ctx, unit)
	if err == nil && !p.there() {
		if err = k.systemctl(ctx, "daemon-reload"); err == nil {
			p, err = k.show(ctx, unit)
		}
	}
	switch {
	case err != nil:
		return err
	case !p.there():
		return fmt.Errorf("there is no unit %s on this machine: correct /name, or depend on the resource that installs it", unit)
	}
	switch c.Action {
	case startAction, restartAction:
		return k.up(ctx, c.Action, unit)
	case reloadAction:
		if err := k.reload(ctx, unit); err != nil {
			return err
		}
		if err := k.systemctl(ctx, "reload", "--", unit); err != nil {
			return k.explained(ctx, unit, err)
		}
		return nil
	case stopAction:
		return k.systemctl(ctx, "stop", "--", unit)
	case enableAction, disableAction:
		if err := k.reload(ctx, unit); err != nil {
			return err
		}
		return k.systemctl(ctx, c.Action, "--", unit)
	}
	return fmt.Errorf("a service has no action %q", c.Action)
}

// settleTime is how long a program that reports nothing to systemd must run for its start to count.
const settleTime = 200 * time.Millisecond

// stays returns an error if a unit that was started has ended already.
func (k control) stays(ctx context.Context, unit string) error {
	p, err := k.show(ctx, unit)
	if err == nil && p.running() && (p["Type"] == "simple" || p["Type"] == "exec" || p["Type"] == "idle") {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(settleTime):
		}
		p, err = k.show(ctx, unit)
	}
	if err == nil && !p.running() && (p["Type"] != "oneshot" || p["ActiveState"] == "failed") {
		return fmt.Errorf("it was started, and has ended at once (%s)", p["SubState"])
	}
	return err
}

// Write is not called: Plan has actions of its own.
func (k Service) Write(context.Context, *serviceCall) error {
	return errors.New("a service is not written: it is started, stopped, enabled and disabled")
}

// Delete stops and disables the service.
func (k Service) Delete(ctx context.Context, c *serviceCall) error {
	return k.systemctl(ctx, "disable", "--now", "--", unitName(c.Config.Name))
}

// Watch reports changes of the unit.
func (k Service) Watch(ctx context.Context, c *serviceCall, tell func(detail string)) error {
	if err := k.check(); err != nil {
		return err
	}
	p, err := k.show(ctx, unitName(c.Config.Name))
	if err != nil {
		return err
	}
	return k.events.watch(ctx, p["Id"], tell) // of an alias, the unit itself
}

// Discover lists the services that run or start at boot.
func (k Service) Discover(ctx context.Context, _ *serviceCall, tell func(ServiceConfig, string) error) error {
	if err := k.check(); err != nil {
		return err
	}
	var out bytes.Buffer
	err := k.machine.Run(ctx, access.Command{Args: []string{"systemctl", "list-unit-files", "--no-pager", "--no-legend",
		"--plain", "--type=service"}, Stdout: &out})
	if err != nil {
		return err
	}
	for line := range strings.Lines(out.String()) {
		fields := strings.Fields(line)
		if len(fields) < 2 || strings.Contains(fields[0], "@.") || fields[1] != "enabled" && fields[1] != "disabled" {
			continue
		}
		p, err := k.show(ctx, fields[0])
		if err != nil {
			return err
		}
		if !p.running() && !p.enabled() || p["Id"] != fields[0] {
			continue
		}
		name, running, enabled := strings.TrimSuffix(fields[0], ".service"), p.running(), p.enabled()
		config := ServiceConfig{Name: name, Enabled: &enabled}
		if p["Type"] != "oneshot" || running {
			config.Running = &running
		}
		if err := tell(config, name); err != nil {
			return err
		}
	}
	return nil
}
