package etc

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

	"deployster/machine/internal/access"
	"deployster/machine/internal/files"
	"deployster/protocol"
)

// ModuleConfig is what a user writes about a module of the kernel.
type ModuleConfig struct {
	Name    string            `json:"name" pattern:"^[A-Za-z0-9_-]+$" deployster:"identity"`
	Options map[string]string `json:"options,omitempty"`
}

var moduleDocs = map[string]string{
	"name":    "The name of the module; - and _ are the same.",
	"options": "Its parameters. They count when it is loaded the next time.",
}

// ModuleState is what exists.
type ModuleState struct {
	Loaded  bool              `json:"loaded" doc:"whether the kernel has the module, loaded or built in"`
	BuiltIn bool              `json:"built_in" doc:"whether it is a part of the kernel itself"`
	Boot    bool              `json:"boot" doc:"whether it is loaded at boot; true for one that is built in"`
	Options map[string]string `json:"options,omitempty" doc:"the parameters in the file of this resource"`

	load, options found
}

type moduleCall = protocol.Call[ModuleConfig, ModuleState]

// Module is the kind of modules of the kernel.
type Module struct{ Machine *access.Machine }

// NewModule returns the kind kernel_module.
func NewModule(m *access.Machine) protocol.Kind {
	return protocol.NewKind(Module{m}, protocol.About{Label: "Kernel module", Kind: "linux/kernel_module", Worker: true, Unknowns: true,
		Docs: moduleDocs})
}

// underscored is the name as the kernel has it.
func underscored(name string) string { return strings.ReplaceAll(name, "-", "_") }

func (k Module) loadFile(c *moduleCall) ownFile {
	return ownFile{k.Machine, "/etc/modules-load.d/deployster-" + underscored(c.Config.Name) + ".conf", 0o644}
}

func (k Module) optionsFile(c *moduleCall) ownFile {
	return ownFile{k.Machine, "/etc/modprobe.d/deployster-" + underscored(c.Config.Name) + ".conf", 0o644}
}

func (c ModuleConfig) loadText() string { return managed + underscored(c.Name) + "\n" }

// optionsText returns the file of the parameters; "" = there are none.
func (c ModuleConfig) optionsText() string {
	if len(c.Options) == 0 {
		return ""
	}
	text := managed + "options " + underscored(c.Name)
	for _, name := range slices.Sorted(maps.Keys(c.Options)) {
		text += " " + name + "=" + quotedOption(c.Options[name])
	}
	return text + "\n"
}

func quotedOption(value string) string {
	if strings.ContainsAny(value, " \t") {
		return `"` + value + `"`
	}
	return value
}

var optionName = regexp.MustCompile(`^[A-Za-z0-9_.-]+$`)

func (k Module) check(c *moduleCall) error {
	for name, value := range c.Config.Options {
		switch {
		case !optionName.MatchString(name):
			return protocol.Errorf(protocol.ConfigError, "/options", "%q is not the name of a parameter", name)
		case strings.ContainsAny(value, "\r\n\"\\#"):
			return protocol.Errorf(protocol.ConfigError, "/options/"+name,
				"a parameter of a module holds no newline, quote, backslash or #")
		}
	}
	return nil
}

// release returns the directory of the modules of the kernel that runs.
func (k Module) release() string {
	name, _ := os.ReadFile(k.Machine.Path("/proc/sys/kernel/osrelease")) // an error: there are none
	return "/lib/modules/" + strings.TrimSpace(string(name))
}

// has reports whether a list of modules, one a line, has the name, as the line's first word or as
// the name of its file.
func (k Module) has(path, name string) bool {
	text, _ := os.ReadFile(k.Machine.Path(path)) // without it, it has none
	for line := range strings.Lines(string(text)) {
		word, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		word = strings.TrimSuffix(word, ":")
		word, _, _ = strings.Cut(word[strings.LastIndexByte(word, '/')+1:], ".ko")
		if underscored(word) == underscored(name) {
			return true
		}
	}
	return false
}

// Read returns the module, or nil if it is neither in the kernel nor in a file of this resource.
func (k Module) Read(_ context.Context, c *moduleCall) (*ModuleState, error) {
	if err := k.check(c); err != nil {
		return nil, err
	}
	s := &ModuleState{}
	var err error
	if s.load, err = k.loadFile(c).read(); err != nil {
		return nil, err
	}
	if s.options, err = k.optionsFile(c).read(); err != nil {
		return nil, err
	}
	ours := s.load.there || s.options.there
	if c.Intent == protocol.Absent && !ours {
		return nil, nil
	}
	s.BuiltIn = k.has(k.release()+"/modules.builtin", c.Config.Name)
	s.Loaded = s.BuiltIn || k.has("/proc/modules", c.Config.Name)
	s.Boot = s.BuiltIn || s.load.there && s.load.link == ""
	s.Options = parsedOptions(s.options.text)
	if !ours && !s.Loaded {
		return nil, nil
	}
	if s.BuiltIn && len(c.Config.Options) > 0 && c.Intent == protocol.Present {
		return nil, protocol.Errorf(protocol.ConfigError, "/options",
			"%s is built into the kernel, whose command line alone can set its parameters", c.Config.Name)
	}
	return s, nil
}

// parsedOptions returns the parameters of a file that this kind has written.
func parsedOptions(text string) map[string]string {
	options := map[string]string{}
	for line := range strings.Lines(text) {
		rest, ok := strings.CutPrefix(strings.TrimSpace(line), "options ")
		if _, list, more := strings.Cut(rest, " "); ok && more {
			for _, one := range optionWords.FindAllStringSubmatch(list, -1) {
				options[one[1]] = strings.Trim(one[2], `"`)
			}
		}
	}
	if len(options) == 0 {
		return nil
	}
	return options
}

var optionWords = regexp.MustCompile(`([A-Za-z0-9_.-]+)=("[^"]*"|\S*)`)

// Plan compares the kernel, what is loaded at boot, and the parameters: three facts.
func (k Module) Plan(_ context.Context, c *moduleCall, have *ModuleState) (*protocol.Plan, error) {
	plan := &protocol.Plan{Actions: []protocol.Action{{Name: "create", Description: "Load it, now and at each boot"}},
		Forecast: map[string]any{"loaded": true, "boot": true}}
	if len(c.Config.Options) > 0 && !c.IsUnknown("/options") {
		plan.Forecast.(map[string]any)["options"] = c.Config.Options
	} else {
		plan.Unknown = []string{"/options"}
	}
	if have == nil {
		if !k.has(k.release()+"/modules.dep", c.Config.Name) {
			plan.Reasons = []protocol.Reason{{Path: "/name", Message: k.release() + " has no module " + c.Config.Name + " yet"}}
		}
		return plan, nil
	}
	plan.Actions[0].Name = "update"
	if !have.Loaded {
		plan.Reasons = append(plan.Reasons, protocol.Reason{Path: "/name", Message: "it is not loaded"})
	}
	switch boot := k.loadFile(c).differences(have.load, c.Config.loadText(), "/name"); {
	case have.BuiltIn:
	case !have.load.there:
		plan.Reasons = append(plan.Reasons, protocol.Reason{Path: "/name", Message: "it is not loaded at boot: " + boot[0].Message})
	default:
		plan.Reasons = append(plan.Reasons, boot...)
	}
	switch {
	case c.IsUnknown("/options"):
		plan.Reasons = append(plan.Reasons, protocol.Reason{Path: "/options", Message: "known only after other actions"})
	case c.Config.optionsText() != "":
		plan.Reasons = append(plan.Reasons, k.optionsFile(c).differences(have.options, c.Config.optionsText(), "/options")...)
	case have.options.there:
		plan.Reasons = append(plan.Reasons, protocol.Reason{Path: "/options", Message: k.optionsFile(c).path + " has parameters"})
	}
	if len(plan.Reasons) == 0 {
		return nil, nil
	}
	return plan, nil
}

// Write writes the files, parameters first, and loads the module.
func (k Module) Write(ctx context.Context, c *moduleCall) error {
	if err := k.check(c); err != nil {
		return err
	}
	builtIn, loaded := k.has(k.release()+"/modules.builtin", c.Config.Name), k.has("/proc/modules", c.Config.Name)
	for _, directory := range []string{"/etc/modprobe.d", "/etc/modules-load.d"} {
		if err := os.MkdirAll(k.Machine.Path(directory), 0o755); err != nil {
			return err
		}
	}
	options := k.optionsFile(c)
	if text := c.Config.optionsText(); text == "" {
		if err := options.remove(ctx); err != nil {
			return err
		}
	} else if h, err := options.read(); err != nil {
		return err
	} else if len(options.differences(h, text, "")) > 0 {
		if err := options.write(ctx, text, nil); err != nil {
			return err
		}
		if loaded {
			c.Logf("%s is loaded: its parameters count when it is loaded the next time", c.Config.Name)
		}
	}
	if builtIn {
		return nil
	}
	if !loaded {
		err := k.Machine.Run(ctx, access.Command{Args: []string{"modprobe", "--", c.Config.Name}, Description: "modprobe " + c.Config.Name})
		if err != nil {
			return fmt.Errorf("the module %s cannot be loaded, and is not loaded at boot: %w", c.Config.Name, err)
		}
	}
	return k.loadFile(c).write(ctx, c.Config.loadText(), nil)
}

// Delete removes the files. A module that is loaded stays until the next boot: something may use it.
func (k Module) Delete(ctx context.Context, c *moduleCall) error {
	return errors.Join(k.loadFile(c).remove(ctx), k.optionsFile(c).remove(ctx))
}

// Watch reports changes of the files.
func (k Module) Watch(ctx context.Context, c *moduleCall, tell func(detail string)) error {
	sources := []func(context.Context, func(string)) error{}
	for _, path := range []string{k.loadFile(c).path, k.optionsFile(c).path} {
		sources = append(sources, func(ctx context.Context, tell func(string)) error { return files.Watch(ctx, k.Machine, path, tell) })
	}
	return files.WatchAll(ctx, tell, sources...)
}

// Discover lists the modules that a file of this kind loads.
func (k Module) Discover(_ context.Context, c *moduleCall, tell func(ModuleConfig, string) error) error {
	list, err := entries(k.Machine, "/etc/modules-load.d")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, file := range list {
		name, ours := strings.CutPrefix(file, "deployster-")
		name, conf := strings.CutSuffix(name, ".conf")
		if !ours || !conf {
			continue
		}
		h, err := ownFile{k.Machine, "/etc/modprobe.d/" + file, 0o644}.read()
		if err != nil {
			return err
		}
		if err := tell(ModuleConfig{Name: name, Options: parsedOptions(h.text)}, name); err != nil {
			return err
		}
	}
	return nil
}
