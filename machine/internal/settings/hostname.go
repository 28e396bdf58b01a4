package settings

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"deployster/machine/internal/access"
	"deployster/machine/internal/files"
	"deployster/machine/internal/replace"
	"deployster/protocol"
)

// HostnameConfig is what a user writes about the name of the machine.
type HostnameConfig struct {
	File string `json:"file" default:"/etc/hostname" pattern:"^/etc/hostname$" deployster:"identity"`
	Name string `json:"name" pattern:"^[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*$" maxLength:"64"`
}

var hostnameDocs = map[string]string{
	"file": "Where the name is: a machine has one.",
	"name": "The name of the machine, which it gets at boot and now.",
}

// HostnameState is what exists.
type HostnameState struct {
	Name string `json:"name" doc:"the static name, which the machine gets at boot"`
	Live string `json:"live" doc:"the transient name, which the machine has now"`
}

type hostnameCall = protocol.Call[HostnameConfig, HostnameState]

// Hostname is the kind of the name of the machine.
type Hostname struct{ Machine *access.Machine }

// NewHostname returns the kind hostname.
func NewHostname(m *access.Machine) protocol.Kind {
	return protocol.NewKind(Hostname{m}, protocol.About{Label: "Name of the machine", Kind: "linux/hostname", Worker: true, Unknowns: true,
		Docs: hostnameDocs})
}

const liveName = "/proc/sys/kernel/hostname"

// static returns the name in the file; "" = there is none.
func (k Hostname) static(path string) (string, error) {
	text, err := os.ReadFile(k.Machine.Path(path))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			return line, err
		}
	}
	return "", err
}

// Read returns both names; nil if the resource is to be gone, since a machine always has a name.
func (k Hostname) Read(_ context.Context, c *hostnameCall) (*HostnameState, error) {
	if c.Intent == protocol.Absent {
		return nil, nil
	}
	static, err := k.static(c.Config.File)
	if err != nil {
		return nil, err
	}
	live, err := os.ReadFile(k.Machine.Path(liveName))
	if err != nil {
		return nil, fmt.Errorf("the name of the machine cannot be read: %w", err)
	}
	return &HostnameState{Name: static, Live: strings.TrimSpace(string(live))}, nil
}

// Plan compares both names: they are two facts.
func (k Hostname) Plan(_ context.Context, c *hostnameCall, have *HostnameState) (*protocol.Plan, error) {
	plan, err := c.DefaultPlan(have)
	if err != nil || c.IsUnknown("/name") {
		return plan, err
	}
	if have.Live != c.Config.Name {
		if plan == nil {
			plan = &protocol.Plan{Actions: []protocol.Action{{Name: "update"}}}
		}
		r := protocol.Reason{Path: "/name", Message: "the machine has another name now than at boot"}
		if have.Live == have.Name {
			r.Message = "the machine has another name now"
		}
		r.Have, _ = json.Marshal(have.Live)
		r.Want, _ = json.Marshal(c.Config.Name)
		plan.Reasons = append(plan.Reasons, r)
	}
	if plan != nil {
		plan.Forecast = HostnameState{Name: c.Config.Name, Live: c.Config.Name}
	}
	return plan, nil
}

// Write sets the name now, and then at boot: what the kernel refuses is not in the file.
func (k Hostname) Write(ctx context.Context, c *hostnameCall) error {
	live := k.Machine.Path(liveName)
	now, err := os.ReadFile(live)
	if err != nil {
		return err
	}
	if strings.TrimSpace(string(now)) != c.Config.Name {
		if err := os.WriteFile(live, []byte(c.Config.Name+"\n"), 0o644); err != nil {
			return fmt.Errorf("the kernel does not take the name %s: %w", c.Config.Name, err)
		}
	}
	if hosts, err := os.ReadFile(k.Machine.Path("/etc/hosts")); err == nil && !strings.Contains(string(hosts), c.Config.Name) {
		c.Logf("/etc/hosts does not have the name %s: some programs, such as sudo, want it there", c.Config.Name)
	}
	return writeText(ctx, k.Machine, c.Config.File, c.Config.Name+"\n")
}

// writeText writes a file that all may read.
func writeText(ctx context.Context, m *access.Machine, path, text string) error {
	unlock, err := replace.Lock(ctx, m, path)
	if err != nil {
		return err
	}
	defer unlock()
	return replace.File(ctx, m, path, replace.Change{Content: strings.NewReader(text), Mounted: true})
}

// Delete does nothing: a machine always has a name.
func (k Hostname) Delete(context.Context, *hostnameCall) error { return nil }

// Watch reports changes of the file.
func (k Hostname) Watch(ctx context.Context, c *hostnameCall, tell func(detail string)) error {
	return files.Watch(ctx, k.Machine, c.Config.File, tell)
}

// Discover lists the name.
func (k Hostname) Discover(_ context.Context, c *hostnameCall, tell func(HostnameConfig, string) error) error {
	const file = "/etc/hostname"
	name, err := k.static(file)
	if err != nil || name == "" {
		return err
	}
	return tell(HostnameConfig{File: file, Name: name}, "hostname")
}
