package containers

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"deployster/machine/internal/access"
	"deployster/machine/internal/files"
	"deployster/machine/internal/replace"
	"deployster/machine/internal/systemd"
	"deployster/protocol"
)

// Config is what a user writes about a container.
type Config struct {
	Name    string            `json:"name" pattern:"^[A-Za-z0-9][A-Za-z0-9_.-]*$" deployster:"identity"`
	Image   string            `json:"image" pattern:"^[^\\s-][^\\s]*$"`
	Command []string          `json:"command,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
	Ports   []string          `json:"ports,omitempty"`
	Volumes []string          `json:"volumes,omitempty"`
	Network string            `json:"network,omitempty" pattern:"^[A-Za-z0-9][A-Za-z0-9_.:-]*$"`
	Restart string            `json:"restart" default:"always" enum:"always,on-failure,no"`
	Engine  string            `json:"engine,omitempty" enum:"podman,docker,nerdctl" deployster:"computed"`
}

var docs = map[string]string{
	"name":    "The name of the container. Its service is called container-NAME.",
	"image":   "The image. It is pulled if the machine does not have it; with a digest it is always that one.",
	"command": "The command, as a list of words. Left out, that of the image.",
	"env":     "Variables of its environment. They are in a file that root alone can read.",
	"ports":   "Ports of the machine that lead to it, such as 8080:80 or 127.0.0.1:8080:80/tcp.",
	"volumes": "Directories of the machine, or names of volumes, that it sees, such as /srv/data:/data:ro.",
	"network": "The network: host, none, or the name of one of the engine. Left out, that which the engine gives.",
	"restart": "Whether it is started again when it ends: always, on-failure or no.",
	"engine":  "What runs it: podman, docker or nerdctl. Left out, the first of these that the machine has.",
}

// State is what exists.
type State struct {
	Running bool   `json:"running" doc:"whether it runs"`
	Boot    bool   `json:"boot" doc:"whether it is started at boot"`
	Engine  string `json:"engine,omitempty" doc:"what runs it"`
	Image   string `json:"image,omitempty" doc:"the id of the image that the machine has under the name in the config"`

	unit    systemd.Facts
	there   bool   // there is a container of the name
	spec    string // of which the container was made
	envText string
}

type call = protocol.Call[Config, State]

// Container is the kind of containers.
type Container struct {
	machine *access.Machine
	units   systemd.Units
}

// New returns the kind container.
func New(m *access.Machine) protocol.Kind {
	return protocol.NewKind(Container{m, systemd.NewUnits(m)}, protocol.About{Label: "Container", Kind: "linux/container", Worker: true,
		Unknowns: true, Docs: docs, AutoEdges: []protocol.AutoEdge{{Kind: "linux/package", By: "/engine"}}})
}

var (
	variable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]*$`)
	port     = regexp.MustCompile(`^(([0-9.]+|\[[0-9a-f:.]+\]):)?([0-9]+(-[0-9]+)?:)?[0-9]+(-[0-9]+)?(/(tcp|udp|sctp))?$`)
	volume   = regexp.MustCompile(`^[^:\s]+:/[^:]*(:[A-Za-z,]+)?$`)
)

func check(c *call) error {
	for _, name := range slices.Sorted(maps.Keys(c.Config.Env)) {
		switch {
		case !variable.MatchString(name):
			return protocol.Errorf(protocol.ConfigError, "/env", "%q is not the name of a variable", name)
		case strings.ContainsAny(c.Config.Env[name], "\r\n\x00"):
			return protocol.Errorf(protocol.ConfigError, "/env/"+name, "a variable of a container has one line")
		}
	}
	for i, text := range c.Config.Ports {
		if !port.MatchString(text) && !c.IsUnknown("/ports") {
			return protocol.Errorf(protocol.ConfigError, fmt.Sprintf("/ports/%d", i), "%q is not a port: write 8080:80, or "+
				"127.0.0.1:8080:80/tcp", text)
		}
	}
	for i, text := range c.Config.Volumes {
		if !volume.MatchString(text) && !c.IsUnknown("/volumes") {
			return protocol.Errorf(protocol.ConfigError, fmt.Sprintf("/volumes/%d", i), "%q is not a volume: write /srv/data:/data, "+
				"with :ro at the end if it only reads", text)
		}
	}
	return nil
}

// Read returns the container and its service; nil if there is neither.
func (k Container) Read(ctx context.Context, c *call) (*State, error) {
	if c.Intent == protocol.Present {
		if err := check(c); err != nil {
			return nil, err
		}
	}
	s := &State{}
	facts, err := k.units.Unit(c.Config.unitName(), "").Facts(ctx)
	if err != nil {
		return nil, err
	}
	e, err := k.engine(ctx, c.Config.Engine)
	if err != nil {
		return nil, err
	}
	if e != nil {
		if s.Engine = e.name; e.name != "" {
			if s.there, s.Running, s.spec, err = e.container(ctx, c.Config.Name); err != nil {
				return nil, err
			}
			if s.Image, err = e.image(ctx, c.Config.Image); err != nil {
				return nil, err
			}
		}
	}
	switch {
	case s.there && s.spec == "" && c.Intent == protocol.Present:
		return nil, protocol.Errorf(protocol.ConfigError, "/name", "%s has a container %s that somebody else made: remove it, or choose "+
			"another name", s.Engine, c.Config.Name)
	case !facts.There && (!s.there || s.spec == ""):
		return nil, nil
	}
	text, err := os.ReadFile(k.machine.Path(c.Config.envPath()))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	s.envText, s.Boot = string(text), facts.Enabled
	s.unit, err = k.units.Unit(c.Config.unitName(), c.Config.unit(s.Engine, s.Image)).Facts(ctx)
	s.Running = s.Running && facts.Running
	return s, err
}

// Plan compares the service, of what the container was made, and whether it runs.
func (k Container) Plan(ctx context.Context, c *call, have *State) (*protocol.Plan, error) {
	plan := &protocol.Plan{Actions: []protocol.Action{{Name: "create", Description: "Make it, and start it now and at boot"}},
		Unknown: []string{"/image", "/engine"}, Forecast: map[string]any{"running": true, "boot": true}}
	because := func(path, message string) {
		plan.Reasons = append(plan.Reasons, protocol.Reason{Path: path, Message: message})
	}
	e, err := k.engine(ctx, c.Config.Engine)
	if err != nil {
		return nil, err
	}
	if e == nil {
		because("/engine", missing(c.Config.Engine)+" yet")
	}
	if have == nil {
		return plan, nil
	}
	plan.Actions[0] = protocol.Action{Name: "update", Description: "Replace the container, and start it"}
	if len(c.Unknown) > 0 {
		because(c.Unknown[0], "known only after other actions")
		return plan, nil
	}
	switch want := c.Config.spec(have.Engine, have.Image); {
	case have.Image == "":
		because("/image", "the machine does not have the image, and pulls it")
	case have.envText != c.Config.envText():
		because("/env", "its environment is another")
	case have.unit.Difference != nil:
		plan.Reasons = append(plan.Reasons, *have.unit.Difference)
	case have.there && have.spec != want:
		because("/name", "the container was made of another service")
	}
	if !have.Running {
		because("/name", "it does not run")
	}
	if !have.Boot {
		because("/name", "it is not started at boot")
	}
	if len(plan.Reasons) == 0 {
		return nil, nil
	}
	return plan, nil
}

// Write pulls the image if the machine does not have it, and replaces the container if what it is
// made of, or its image, is another.
func (k Container) Write(ctx context.Context, c *call) error {
	if err := check(c); err != nil {
		return err
	}
	e, err := k.engine(ctx, c.Config.Engine)
	if err != nil {
		return err
	}
	if e == nil {
		return errors.New(missing(c.Config.Engine) + ": install one of them first")
	}
	there, running, spec, err := e.container(ctx, c.Config.Name)
	if err != nil {
		return err
	}
	if there && spec == "" {
		return fmt.Errorf("%s has a container %s that somebody else made, which is not replaced", e.name, c.Config.Name)
	}
	image, err := e.image(ctx, c.Config.Image)
	if err == nil && image == "" {
		c.Logf("%s pulls %s", e.name, c.Config.Image)
		if err = e.run(ctx, nil, "pull", "-q", c.Config.Image); err == nil {
			image, err = e.image(ctx, c.Config.Image)
		}
	}
	if err != nil {
		return err
	}
	if err := k.writeEnv(ctx, c.Config); err != nil {
		return err
	}
	unit := k.units.Unit(c.Config.unitName(), c.Config.unit(e.name, image))
	facts, err := unit.Facts(ctx)
	if err != nil {
		return err
	}
	if facts.Difference != nil || !facts.Enabled {
		if err := unit.Write(ctx, c.Log); err != nil {
			return err
		}
	}
	if running && facts.Running && spec == c.Config.spec(e.name, image) {
		return nil
	}
	if err := unit.Up(ctx); err != nil {
		return err
	}
	return k.started(ctx, c, e, unit)
}

const (
	poll   = 200 * time.Millisecond
	steady = 3 // how often the container has to be seen running
)

// started waits until the container runs: the service runs as soon as the engine does.
func (k Container) started(ctx context.Context, c *call, e *engine, unit systemd.OwnUnit) error {
	for seen := 0; seen < steady; {
		facts, err := unit.Facts(ctx)
		if err != nil {
			return err
		}
		if !facts.Running {
			return unit.Explained(ctx, errors.New("the container has ended at once"))
		}
		_, running, _, err := e.container(ctx, c.Config.Name)
		if err != nil {
			return err
		}
		if seen++; !running {
			seen = 0
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(poll):
		}
	}
	return nil
}

// writeEnv writes the environment, which root alone can read.
func (k Container) writeEnv(ctx context.Context, c Config) error {
	if err := os.MkdirAll(k.machine.Path(envDirectory), 0o700); err != nil {
		return err
	}
	unlock, err := replace.Lock(ctx, k.machine, c.envPath())
	if err != nil {
		return err
	}
	defer unlock()
	mode, root := uint32(0o600), 0
	return replace.File(ctx, k.machine, c.envPath(), replace.Change{Content: strings.NewReader(c.envText()), Mode: &mode, UID: &root,
		GID: &root})
}

// PlanAbsence reports what else a removal does.
func (k Container) PlanAbsence(context.Context, *call, *State) (*protocol.Plan, error) {
	return &protocol.Plan{Actions: []protocol.Action{{Name: "delete",
		Description: "Stop it, and remove it; its volumes and its image stay"}}}, nil
}

// Delete stops the container, and removes it with its service.
func (k Container) Delete(ctx context.Context, c *call) error {
	if err := k.units.Unit(c.Config.unitName(), "").Remove(ctx); err != nil {
		return err
	}
	e, err := k.engine(ctx, c.Config.Engine)
	if err != nil {
		return err
	}
	if e != nil {
		there, _, spec, err := e.container(ctx, c.Config.Name)
		if err != nil {
			return err
		}
		if there && spec != "" {
			if err := e.run(ctx, nil, "rm", "-f", c.Config.Name); err != nil {
				return err
			}
		}
	}
	return replace.Remove(k.machine, c.Config.envPath())
}

// Watch reports changes of the service and the environment.
func (k Container) Watch(ctx context.Context, c *call, tell func(detail string)) error {
	return files.WatchAll(ctx, tell, k.units.Unit(c.Config.unitName(), "").Watch, func(ctx context.Context, tell func(string)) error {
		return files.Watch(ctx, k.machine, c.Config.envPath(), tell)
	})
}
