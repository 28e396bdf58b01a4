package systemd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/coreos/go-systemd/v22/unit"
	"github.com/moby/sys/mountinfo"

	"deployster/machine/internal/access"
	"deployster/machine/internal/files"
	"deployster/machine/internal/mounts"
	"deployster/protocol"
)

// MountConfig is what a user writes about a mount.
type MountConfig struct {
	Path    string   `json:"path" pattern:"^/." deployster:"identity"`
	Source  string   `json:"source" minLength:"1"`
	FSType  string   `json:"fstype,omitempty" pattern:"^[a-z0-9_.-]+$"`
	Options []string `json:"options,omitempty"`
	Mounted bool     `json:"mounted" default:"true"`
	Boot    bool     `json:"boot" default:"true"`
}

var mountDocs = map[string]string{
	"path":    "Where it is mounted. The directory is made if it does not exist.",
	"source":  "What is mounted: a device, UUID=..., LABEL=..., HOST:/PATH of NFS, tmpfs, or a directory with the option bind.",
	"fstype":  "The type of the file system. Left out, the kernel finds it.",
	"options": "Options, such as ro, noexec or size=64m.",
	"mounted": "Whether it is mounted now.",
	"boot":    "Whether it is mounted at boot.",
}

// MountState is what exists.
type MountState struct {
	Mounted bool   `json:"mounted" doc:"whether something is mounted there now"`
	Boot    bool   `json:"boot" doc:"whether it is mounted at boot"`
	Source  string `json:"source,omitempty" doc:"what is mounted there now, in the words of the config if it is that"`

	had   had
	top   *mountinfo.Info
	other []string // options that the mount has not as the config wants them
}

type mountCall = protocol.Call[MountConfig, MountState]

// Mount is the kind of mounts.
type Mount struct {
	control
	events *events
}

// NewMount returns the kind mount.
func NewMount(m *access.Machine) protocol.Kind {
	return protocol.NewKind(Mount{control{m}, newEvents(m)},
		protocol.About{Label: "Mount", Kind: "linux/mount", Worker: true, Unknowns: true,
			AutoEdges: []protocol.AutoEdge{{Kind: "linux/directory", By: "/path", Parents: true},
				{Kind: "linux/mount", By: "/path", Parents: true},
				{Kind: "linux/directory", By: "/source"}},
			Docs: mountDocs})
}

func (c MountConfig) unit() string { return unit.UnitNamePathEscape(c.Path) + ".mount" }

// file returns the unit of the mount.
func (c MountConfig) file() unitFile {
	percent := strings.NewReplacer("%", "%%")
	var b strings.Builder
	fmt.Fprintf(&b, "[Unit]\nDescription=%s\n\n[Mount]\nWhat=%s\nWhere=%s\n", percent.Replace(c.Path), percent.Replace(c.Source),
		percent.Replace(c.Path))
	if c.FSType != "" {
		fmt.Fprintf(&b, "Type=%s\n", c.FSType)
	}
	if len(c.Options) > 0 {
		fmt.Fprintf(&b, "Options=%s\n", percent.Replace(strings.Join(c.Options, ",")))
	}
	target := "local-fs.target"
	if mounts.IsNetwork(c.FSType, c.Options) {
		target = "remote-fs.target"
	}
	fmt.Fprintf(&b, "\n[Install]\nWantedBy=%s\n", target)
	return unitFile{unitDir + "/" + c.unit(), b.String()}
}

func (k Mount) checkMount(c *mountCall) error {
	if err := k.check(); err != nil {
		return err
	}
	if err := k.machine.CheckPath("/path", c.Config.Path); err != nil {
		return err
	}
	if c.Intent == protocol.Absent {
		return nil
	}
	for at, text := range map[string]string{"/source": c.Config.Source, "/options": strings.Join(c.Config.Options, " ")} {
		if strings.ContainsAny(text, "\r\n\x00") {
			return protocol.Errorf(protocol.ConfigError, at, "%q has more than one line", text)
		}
	}
	for i, o := range c.Config.Options {
		if o == "" || strings.ContainsAny(o, ", \t") {
			return protocol.Errorf(protocol.ConfigError, fmt.Sprintf("/options/%d", i), "%q is not one option", o)
		}
	}
	if mounts.IsBind(c.Config.Options) && !strings.HasPrefix(c.Config.Source, "/") && !c.IsUnknown("/source") {
		return protocol.Errorf(protocol.ConfigError, "/source", "%q is not a directory, which the option bind needs", c.Config.Source)
	}
	has, err := mounts.InFstab(k.machine, 1, c.Config.Path)
	if has {
		err = mounts.Twice(c.Config.Path)
	}
	return err
}

// Read returns the mount; nil if nothing is mounted there and it has no unit of this kind.
func (k Mount) Read(ctx context.Context, c *mountCall) (*MountState, error) {
	if err := k.checkMount(c); err != nil {
		return nil, err
	}
	f := c.Config.file()
	s := &MountState{}
	var err error
	if s.had, err = readFile(k.machine, f.path); err != nil {
		return nil, err
	}
	list, err := mounts.At(k.machine, c.Config.Path)
	if err != nil {
		return nil, err
	}
	if !s.had.there && (len(list) == 0 || c.Intent == protocol.Absent) {
		return nil, nil // what others mounted there is theirs
	}
	p, err := k.show(ctx, c.Config.unit())
	if err != nil {
		return nil, err
	}
	s.Boot = p.enabled()
	if s.Mounted = len(list) > 0; !s.Mounted {
		return s, nil
	}
	if s.top = list[len(list)-1]; len(list) > 1 && c.Intent == protocol.Present {
		return nil, protocol.Errorf(protocol.ConfigError, "/path", "%d file systems are mounted on top of each other at %s (%s): unmount "+
			"all but one", len(list), c.Config.Path, sources(list))
	}
	s.Source = s.top.Source
	if mounts.SameSource(k.machine, s.top, c.Config.Source, c.Config.Path, c.Config.Options) && sameType(s.top.FSType, c.Config) {
		s.Source = c.Config.Source
		s.other = mounts.OtherFlags(s.top, c.Config.Options)
	}
	return s, nil
}

func sameType(have string, c MountConfig) bool {
	return c.FSType == "" || c.FSType == "auto" || have == c.FSType || c.FSType == "nfs" && have == "nfs4" || mounts.IsBind(c.Options)
}

func sources(list []*mountinfo.Info) string {
	var all []string
	for _, i := range list {
		all = append(all, i.Source+" of type "+i.FSType)
	}
	return strings.Join(all, ", ")
}

// Plan compares what is mounted, what is mounted at boot, and the unit.
func (k Mount) Plan(_ context.Context, c *mountCall, have *MountState) (*protocol.Plan, error) {
	plan := &protocol.Plan{Actions: []protocol.Action{called("update", "Have it mounted like the config")},
		Forecast: map[string]any{"mounted": c.Config.Mounted, "boot": c.Config.Boot}, Unknown: []string{"/source"}}
	if c.Config.Mounted && !c.IsUnknown("/source") {
		plan.Forecast.(map[string]any)["source"] = c.Config.Source
	}
	because := func(path, format string, args ...any) {
		plan.Reasons = append(plan.Reasons, protocol.Reason{Path: path, Message: fmt.Sprintf(format, args...)})
	}
	if have == nil {
		plan.Actions[0] = called("create", "Mount it, now and at boot, like the config")
		if entries, err := os.ReadDir(k.machine.Path(c.Config.Path)); err == nil && len(entries) > 0 && c.Config.Mounted {
			because("/path", "%s is not empty: what it holds is hidden while something is mounted there", c.Config.Path)
		}
		return plan, nil
	}
	if slices.ContainsFunc([]string{"/source", "/fstype", "/options"}, c.IsUnknown) {
		because("/source", "known only after other actions")
		return plan, nil
	}
	switch {
	case !have.Mounted && c.Config.Mounted:
		because("/mounted", "nothing is mounted at %s", c.Config.Path)
	case have.Mounted && !c.Config.Mounted:
		because("/mounted", "%s is mounted at %s", have.Source, c.Config.Path)
	case have.Mounted && have.Source != c.Config.Source && !have.had.there:
		return nil, protocol.Errorf(protocol.ConfigError, "/path", "%s of type %s is mounted at %s by somebody else: unmount it first",
			have.Source, have.top.FSType, c.Config.Path)
	case have.Mounted && have.Source != c.Config.Source:
		r := protocol.Reason{Path: "/source", Message: "another file system is mounted there, and is unmounted first"}
		r.Have, _ = json.Marshal(have.Source)
		r.Want, _ = json.Marshal(c.Config.Source)
		plan.Reasons = append(plan.Reasons, r)
	case have.Mounted && len(have.other) > 0:
		because("/options", "it is not mounted with %s", strings.Join(have.other, ", "))
	}
	if have.Boot != c.Config.Boot {
		because("/boot", "%s", map[bool]string{true: "it is not mounted at boot", false: "it is mounted at boot"}[c.Config.Boot])
	}
	if r := c.Config.file().difference(have.had, ""); r != nil {
		plan.Reasons = append(plan.Reasons, *r)
	}
	if len(plan.Reasons) == 0 {
		return nil, nil
	}
	return plan, nil
}

// Write makes the mount what the config declares, and never mounts over another mount.
func (k Mount) Write(ctx context.Context, c *mountCall) error {
	have, err := k.Read(ctx, c)
	if err != nil {
		return err
	}
	if have == nil {
		have = &MountState{}
	}
	name, f := c.Config.unit(), c.Config.file()
	changed := f.difference(have.had, "") != nil
	foreign := have.Mounted && have.Source != c.Config.Source
	if foreign && !have.had.there {
		return fmt.Errorf("%s of type %s is mounted at %s by somebody else: unmount it first", have.Source, have.top.FSType, c.Config.Path)
	}
	if foreign || have.Mounted && !c.Config.Mounted {
		if err := k.unmount(ctx, c.Config); err != nil {
			return err
		}
		have.Mounted = false
	}
	if changed {
		if err := k.write(ctx, []unitFile{f}); err != nil {
			return err
		}
	}
	if have.Boot != c.Config.Boot {
		if err := k.systemctl(ctx, map[bool]string{true: "enable", false: "disable"}[c.Config.Boot], "--", name); err != nil {
			return err
		}
	}
	switch {
	case !c.Config.Mounted:
		return nil
	case !have.Mounted:
		return k.up(ctx, "start", name)
	case changed || len(have.other) > 0:
		if err := k.systemctl(ctx, "reload-or-restart", "--", name); err != nil {
			return k.explained(ctx, name, err)
		}
	}
	return nil
}

// unmount stops the unit of a mount. If it is busy, the error names who uses it.
func (k Mount) unmount(ctx context.Context, c MountConfig) error {
	users := mounts.UsersOf(k.machine, c.Path)
	stop := k.systemctl(ctx, "stop", "--", c.unit())
	left, err := mounts.At(k.machine, c.Path)
	if err != nil || len(left) == 0 && stop == nil {
		return err
	}
	if users != "" {
		return fmt.Errorf("%s is busy, and is not unmounted: %s", c.Path, users)
	}
	return fmt.Errorf("%s is not unmounted: %w", c.Path, errors.Join(stop))
}

// PlanAbsence reports what else a removal does.
func (k Mount) PlanAbsence(context.Context, *mountCall, *MountState) (*protocol.Plan, error) {
	return &protocol.Plan{Actions: []protocol.Action{called("delete", "Unmount it, and do not mount it at boot; the directory stays")}}, nil
}

// Delete unmounts it, and removes its unit.
func (k Mount) Delete(ctx context.Context, c *mountCall) error {
	list, err := mounts.At(k.machine, c.Config.Path)
	if err != nil {
		return err
	}
	if len(list) > 0 {
		if err := k.unmount(ctx, c.Config); err != nil {
			return err
		}
	}
	if err := k.stopAndDisable(ctx, c.Config.unit()); err != nil {
		return err
	}
	return k.remove(ctx, unitDir+"/"+c.Config.unit())
}

// Watch reports changes of the mount and its unit.
func (k Mount) Watch(ctx context.Context, c *mountCall, tell func(detail string)) error {
	return files.WatchAll(ctx, tell,
		func(ctx context.Context, tell func(string)) error { return k.events.watch(ctx, c.Config.unit(), tell) },
		func(ctx context.Context, tell func(string)) error {
			return files.Watch(ctx, k.machine, unitDir+"/"+c.Config.unit(), tell)
		})
}

// Discover lists the mounts that have a unit of the administrator.
func (k Mount) Discover(_ context.Context, _ *mountCall, tell func(MountConfig, string) error) error {
	list, err := unitsOf(k.machine, ".mount")
	if err != nil {
		return err
	}
	for _, text := range list {
		c := MountConfig{Path: text["Where"], Source: text["What"], FSType: text["Type"], Mounted: true, Boot: true}
		if text["Options"] != "" {
			c.Options = strings.Split(text["Options"], ",")
		}
		if err := tell(c, strings.Trim(strings.ReplaceAll(c.Path, "/", "_"), "_")); err != nil {
			return err
		}
	}
	return nil
}
