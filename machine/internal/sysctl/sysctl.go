package sysctl

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"deployster/machine/internal/access"
	"deployster/machine/internal/files"
	"deployster/machine/internal/replace"
	"deployster/protocol"
)

// Config is what a user writes about a kernel parameter.
type Config struct {
	Key   string `json:"key" pattern:"^[A-Za-z0-9_][A-Za-z0-9_./:@*-]*$" deployster:"identity"`
	Value string `json:"value"`

	Prefix string `json:"prefix,omitempty"` // of discovery
}

var docs = map[string]string{
	"key": "The parameter, such as net.ipv4.ip_forward. Where a part of the name holds a dot, write slashes: " +
		"net/ipv4/conf/eth0.1/forwarding.",
	"value": "Its value, as text. It is set at once, and at each boot by a file of this parameter in /etc/sysctl.d. " +
		"How many blanks are between several values makes no difference.",
	"prefix": "For discovery only: list the parameters whose name begins so.",
}

// State is what exists.
type State struct {
	Value string `json:"value" doc:"the value in the kernel"`
	Boot  string `json:"boot" doc:"the value in the file, which is set at boot; empty if there is no file"`
}

type call = protocol.Call[Config, State]

// Sysctl is the kind of kernel parameters.
type Sysctl struct{ Machine *access.Machine }

// New returns the kind sysctl.
func New(m *access.Machine) protocol.Kind {
	return protocol.NewKind(Sysctl{m}, protocol.About{Label: "Kernel parameter", Kind: "linux/sysctl", Worker: true, Unknowns: true,
		Docs: docs})
}

const (
	directory = "/etc/sysctl.d"
	// filePrefix puts the files after those of others, /etc/sysctl.d/99-sysctl.conf too: the
	// last one that sets a parameter counts.
	filePrefix = "99-zz-deployster-"
	fileSuffix = ".conf"
)

// normal returns a key in the form with slashes, by the rule of sysctl: the first separator
// decides, and the other character is a part of a name.
func normal(key string) string {
	if i := strings.IndexAny(key, "./"); i < 0 || key[i] == '/' {
		return key
	}
	return strings.Map(func(r rune) rune {
		switch r {
		case '.':
			return '/'
		case '/':
			return '.'
		}
		return r
	}, key)
}

// filePath returns the path of the file of a parameter.
func filePath(key string) string {
	return filepath.Join(directory, filePrefix+strings.ReplaceAll(strings.ReplaceAll(normal(key), ".", "%2E"), "/", ".")+fileSuffix)
}

// livePath returns the path of the kernel's value.
func livePath(key string) string { return filepath.Join("/proc/sys", normal(key)) }

// same compares values as the kernel does: blanks only separate.
func same(a, b string) bool { return clean(a) == clean(b) }

func clean(value string) string { return strings.Join(strings.Fields(value), " ") }

// inWords returns a value in the words of the config, if it means the same.
func inWords(value, want string) string {
	if same(value, want) {
		return want
	}
	return clean(value)
}

func check(c *call) error {
	for part := range strings.SplitSeq(normal(c.Config.Key), "/") {
		if part == "" || part == "." || part == ".." || strings.Contains(part, "*") {
			return protocol.Errorf(protocol.ConfigError, "/key", "%q is not the name of one parameter", c.Config.Key)
		}
	}
	if strings.ContainsAny(c.Config.Value, "\r\n") || c.Config.Value == "" && !c.IsUnknown("/value") {
		return protocol.Errorf(protocol.ConfigError, "/value", "%q is not a value: it must be one line that is not empty", c.Config.Value)
	}
	return nil
}

// Read returns both values; nil if there is no file and the kernel's value is another.
func (s Sysctl) Read(_ context.Context, c *call) (*State, error) {
	if err := check(c); err != nil {
		return nil, err
	}
	boot, err := s.boot(c.Config.Key)
	if err != nil {
		return nil, err
	}
	if c.Intent == protocol.Absent {
		if boot == nil {
			return nil, nil
		}
		live, _ := os.ReadFile(s.Machine.Path(livePath(c.Config.Key))) // the module that has it may be gone
		return &State{Value: inWords(string(live), c.Config.Value), Boot: inWords(*boot, c.Config.Value)}, nil
	}
	live, err := os.ReadFile(s.Machine.Path(livePath(c.Config.Key)))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, protocol.Errorf(protocol.ConfigError, "/key", "the kernel of this machine has no parameter %s: is its module loaded?",
			c.Config.Key)
	case errors.Is(err, fs.ErrPermission):
		return nil, protocol.Errorf(protocol.ConfigError, "/key", "%s cannot be read back, and so is not managed: %s", c.Config.Key, err)
	case err != nil:
		return nil, fmt.Errorf("%s cannot be read: %w", c.Config.Key, err)
	}
	if boot == nil && !same(string(live), c.Config.Value) {
		return nil, nil
	}
	state := &State{Value: inWords(string(live), c.Config.Value)}
	if boot != nil {
		state.Boot = inWords(*boot, c.Config.Value)
	}
	return state, nil
}

// boot returns the value in the file of a parameter; nil = there is no file.
func (s Sysctl) boot(key string) (*string, error) {
	content, err := os.ReadFile(s.Machine.Path(filePath(key)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	value := ""
	for line := range strings.Lines(string(content)) {
		name, text, ok := strings.Cut(line, "=")
		if name = strings.TrimSpace(name); ok && normal(name) == normal(key) { // not a comment
			value = strings.TrimSpace(text)
		}
	}
	return &value, nil
}

// Plan compares the value at boot too.
func (s Sysctl) Plan(_ context.Context, c *call, have *State) (*protocol.Plan, error) {
	plan, err := c.DefaultPlan(have)
	if err != nil {
		return nil, err
	}
	if have != nil && have.Boot != c.Config.Value && !c.IsUnknown("/value") {
		if plan == nil {
			plan = &protocol.Plan{Actions: []protocol.Action{{Name: "update"}}}
		}
		reason := protocol.Reason{Path: "/value", Message: "at boot it is not set: " + filePath(c.Config.Key) + " is missing or empty"}
		if have.Boot != "" {
			reason.Message = "at boot it gets another value"
			reason.Have, _ = json.Marshal(have.Boot)
			reason.Want, _ = json.Marshal(c.Config.Value)
		}
		plan.Reasons = append(plan.Reasons, reason)
	}
	if plan == nil {
		return nil, nil
	}
	if c.IsUnknown("/value") {
		plan.Unknown = append(plan.Unknown, "/boot")
	} else {
		plan.Forecast = State{Value: c.Config.Value, Boot: c.Config.Value}
	}
	return plan, nil
}

// Write sets the value of the kernel, and then that at boot: a value that the kernel refuses
// is not in the file.
func (s Sysctl) Write(ctx context.Context, c *call) error {
	if err := check(c); err != nil {
		return err
	}
	live := s.Machine.Path(livePath(c.Config.Key))
	now, err := os.ReadFile(live)
	if err != nil {
		return fmt.Errorf("%s cannot be read: %w", c.Config.Key, err)
	}
	if !same(string(now), c.Config.Value) {
		if err := set(live, c.Config.Value); err != nil {
			return fmt.Errorf("the kernel does not take %q for %s: %w", c.Config.Value, c.Config.Key, err)
		}
		if now, err = os.ReadFile(live); err == nil && !same(string(now), c.Config.Value) {
			return fmt.Errorf("the kernel has made %q of %q for %s: write that in the config", clean(string(now)), c.Config.Value,
				c.Config.Key)
		}
	}
	path := filePath(c.Config.Key)
	if err := os.MkdirAll(s.Machine.Path(directory), 0o755); err != nil {
		return err
	}
	unlock, err := replace.Lock(ctx, s.Machine, path)
	if err != nil {
		return err
	}
	defer unlock()
	mode, zero := uint32(0o644), 0
	// A leading dash would ignore that a key is missing; systemd-sysctl and procps only log it.
	content := "# Managed by deployster\n" + normal(c.Config.Key) + " = " + c.Config.Value + "\n"
	return replace.File(ctx, s.Machine, path, replace.Change{Content: strings.NewReader(content), Mode: &mode, UID: &zero, GID: &zero})
}

// set writes a value with one call, as the kernel wants it.
func set(live, value string) error {
	file, err := os.OpenFile(live, os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return err
	}
	_, err = file.WriteString(value + "\n")
	return errors.Join(err, file.Close())
}

// Delete removes the file. The kernel keeps its value until the next boot: the former value is
// not known.
func (s Sysctl) Delete(_ context.Context, c *call) error {
	if err := check(c); err != nil {
		return err
	}
	return replace.Remove(s.Machine, filePath(c.Config.Key))
}

// Discover lists the parameters that have a file of this kind.
func (s Sysctl) Discover(_ context.Context, c *call, tell func(Config, string) error) error {
	entries, err := os.ReadDir(s.Machine.Path(directory))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		name, ours := strings.CutPrefix(e.Name(), filePrefix)
		name, conf := strings.CutSuffix(name, fileSuffix)
		key := strings.ReplaceAll(strings.ReplaceAll(name, ".", "/"), "%2E", ".")
		if !strings.Contains(key, ".") {
			key = strings.ReplaceAll(key, "/", ".") // as people write it
		}
		if !ours || !conf || !strings.HasPrefix(key, c.Config.Prefix) {
			continue
		}
		if value, err := s.boot(key); err == nil && value != nil {
			if err := tell(Config{Key: key, Value: *value}, strings.ReplaceAll(name, ".", "_")); err != nil {
				return err
			}
		}
	}
	return nil
}

// Watch reports changes of the file, and of the value of the kernel.
func (s Sysctl) Watch(ctx context.Context, c *call, tell func(detail string)) error {
	if err := check(c); err != nil {
		return err
	}
	watching, stop := context.WithCancel(ctx)
	defer stop()
	go tickers.follow(watching, s.Machine.Path(livePath(c.Config.Key)), tell)
	return files.Watch(ctx, s.Machine, filePath(c.Config.Key), tell)
}
