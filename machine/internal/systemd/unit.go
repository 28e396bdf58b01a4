package systemd

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"deployster/machine/internal/access"
	"deployster/machine/internal/files"
	"deployster/protocol"
)

func keys(m map[string]map[string]any) iter.Seq[string] { return maps.Keys(m) }

func sortedKeys(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }

// text is what a config declares about the content of a unit's file, in one of two ways.
type text struct {
	Content  string                    `json:"content,omitempty"`
	Sections map[string]map[string]any `json:"sections,omitempty"`
}

// rendered returns the text of the file, and the pointer to where the config has it.
func (x text) rendered() (content, pointer string, err error) {
	switch {
	case x.Content != "" && len(x.Sections) > 0:
		return "", "", protocol.Errorf(protocol.ConfigError, "/sections", "content and sections exclude each other: give one of them")
	case len(x.Sections) > 0:
		content, err = rendered(x.Sections, "/sections")
		return content, "/sections", err
	case x.Content == "":
		return "", "", protocol.Errorf(protocol.ConfigError, "/content", "give the content of the unit, as content or as sections")
	case !strings.HasSuffix(x.Content, "\n"):
		return x.Content + "\n", "/content", nil
	}
	return x.Content, "/content", nil
}

// textDocs describe the text, with the other keys of a config.
func textDocs(with map[string]string) map[string]string {
	with["content"] = "The text of the file."
	with["sections"] = "The content as sections with keys, in place of content. A list is as many lines with that key."
	return with
}

// UnitConfig is what a user writes about the file of a unit.
type UnitConfig struct {
	Name string `json:"name" pattern:"^[A-Za-z0-9:_.@\\\\-]+$" deployster:"identity"`
	text
}

var unitDocs = textDocs(map[string]string{
	"name": "The name of the unit: that of a service without .service, of others the whole name, such as backup.path.",
})

// UnitState is what exists.
type UnitState struct {
	Name string `json:"name" doc:"the name in the config"`
	Path string `json:"path" doc:"the path of its file"`

	had had
}

type unitCall = protocol.Call[UnitConfig, UnitState]

// Unit is the kind of the administrator's units.
type Unit struct{ control }

// NewUnit returns the kind unit.
func NewUnit(m *access.Machine) protocol.Kind {
	return protocol.NewKind(Unit{control{m}}, protocol.About{Label: "Unit of systemd", Kind: "linux/unit", Worker: true,
		Unknowns: true, Docs: unitDocs})
}

func (k Unit) path(c *unitCall) string { return unitDir + "/" + unitName(c.Config.Name) }

// Read returns the unit's file, or nil.
func (k Unit) Read(_ context.Context, c *unitCall) (*UnitState, error) {
	if err := k.check(); err != nil {
		return nil, err
	}
	if bare, is := strings.CutSuffix(c.Config.Name, ".service"); is {
		return nil, suffixed(bare)
	}
	h, err := readFile(k.machine, k.path(c))
	if err != nil || !h.there || c.Intent == protocol.Absent && h.link != "" {
		return nil, err
	}
	return &UnitState{Name: c.Config.Name, Path: k.path(c), had: h}, nil
}

// Plan compares the content.
func (k Unit) Plan(_ context.Context, c *unitCall, have *UnitState) (*protocol.Plan, error) {
	h := had{}
	if have != nil {
		h = have.had
	}
	return planFile(c.Config.text, c.IsUnknown, unitFile{path: k.path(c)}, h, map[string]any{"name": c.Config.Name, "path": k.path(c)})
}

// planFile plans one file with a text of the config.
func planFile(x text, unknown func(string) bool, f unitFile, h had, forecast map[string]any) (*protocol.Plan, error) {
	plan := &protocol.Plan{Forecast: forecast, Actions: []protocol.Action{{Name: "update"}}}
	if !h.there {
		plan.Actions[0].Name = "create"
	}
	if unknown("/content") || unknown("/sections") {
		if h.there {
			plan.Reasons = []protocol.Reason{{Path: "/content", Message: "known only after other actions"}}
		}
		return plan, nil
	}
	content, pointer, err := x.rendered()
	if err != nil {
		return nil, err
	}
	f.text = content
	reason := f.difference(h, pointer)
	if reason == nil {
		return nil, nil
	}
	if h.there {
		plan.Reasons = []protocol.Reason{*reason}
	}
	return plan, nil
}

// Write checks the unit with systemd, writes its file, and has systemd read it.
func (k Unit) Write(ctx context.Context, c *unitCall) error {
	content, _, err := c.Config.rendered()
	if err != nil {
		return err
	}
	unit := unitName(c.Config.Name)
	if err := k.verify(ctx, unit, map[string]string{unit: content}, c.Log); err != nil {
		return err
	}
	return k.write(ctx, []unitFile{{k.path(c), content}})
}

// PlanAbsence reports what else a removal does.
func (k Unit) PlanAbsence(context.Context, *unitCall, *UnitState) (*protocol.Plan, error) {
	return &protocol.Plan{Actions: []protocol.Action{called("delete", "Stop and disable it, and remove its file")}}, nil
}

// Delete stops and disables the unit, and removes its file.
func (k Unit) Delete(ctx context.Context, c *unitCall) error {
	if err := k.stopAndDisable(ctx, unitName(c.Config.Name)); err != nil {
		return err
	}
	return k.remove(ctx, k.path(c))
}

// Watch reports changes of the file.
func (k Unit) Watch(ctx context.Context, c *unitCall, tell func(detail string)) error {
	return files.Watch(ctx, k.machine, k.path(c), tell)
}

// Discover lists the units that the administrator has written.
func (k Unit) Discover(_ context.Context, _ *unitCall, tell func(UnitConfig, string) error) error {
	entries, err := os.ReadDir(k.machine.Path(unitDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if !entry.Type().IsRegular() || unitName(entry.Name()) != entry.Name() {
			continue
		}
		content, err := os.ReadFile(filepath.Join(k.machine.Path(unitDir), entry.Name()))
		if err != nil {
			return err
		}
		name := strings.TrimSuffix(entry.Name(), ".service")
		if err := tell(UnitConfig{Name: name, text: text{Content: string(content)}}, name); err != nil {
			return err
		}
	}
	return nil
}
