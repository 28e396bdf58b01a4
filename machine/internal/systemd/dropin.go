package systemd

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"

	"deployster/machine/internal/access"
	"deployster/machine/internal/files"
	"deployster/protocol"
)

// DropInConfig is what a user writes about a drop-in, which adds to a unit that others own.
type DropInConfig struct {
	Unit string `json:"unit" pattern:"^[A-Za-z0-9:_.@\\\\-]+$" deployster:"identity"`
	Name string `json:"name" pattern:"^[A-Za-z0-9_-][A-Za-z0-9_.-]*$" deployster:"identity"`
	text
}

var dropInDocs = textDocs(map[string]string{
	"unit": "The name of the unit that it adds to: that of a service without .service, of others the whole name.",
	"name": "The name of the drop-in, without .conf.",
})

// DropInState is what exists.
type DropInState struct {
	Unit string `json:"unit" doc:"the unit in the config"`
	Name string `json:"name" doc:"the name in the config"`
	Path string `json:"path" doc:"the path of its file"`

	had had
}

type dropInCall = protocol.Call[DropInConfig, DropInState]

// DropIn is the kind of what the administrator adds to units of others.
type DropIn struct{ control }

// NewDropIn returns the kind drop_in.
func NewDropIn(m *access.Machine) protocol.Kind {
	return protocol.NewKind(DropIn{control{m}}, protocol.About{Label: "Drop-in of a unit", Kind: "linux/drop_in", Worker: true,
		Unknowns:  true,
		AutoEdges: []protocol.AutoEdge{{Kind: "linux/unit", By: "/unit"}, {Kind: "linux/package", By: "/unit"}}, Docs: dropInDocs})
}

func (k DropIn) path(c *dropInCall) string {
	return unitDir + "/" + unitName(c.Config.Unit) + ".d/" + c.Config.Name + ".conf"
}

// Read returns the drop-in, or nil.
func (k DropIn) Read(_ context.Context, c *dropInCall) (*DropInState, error) {
	if err := k.check(); err != nil {
		return nil, err
	}
	if bare, is := strings.CutSuffix(c.Config.Unit, ".service"); is {
		return nil, protocol.Errorf(protocol.ConfigError, "/unit", "a service has its name without .service: write %q", bare)
	}
	if bare, is := strings.CutSuffix(c.Config.Name, ".conf"); is {
		return nil, protocol.Errorf(protocol.ConfigError, "/name", "a drop-in has its name without .conf: write %q", bare)
	}
	h, err := readFile(k.machine, k.path(c))
	if err != nil || !h.there || c.Intent == protocol.Absent && h.link != "" {
		return nil, err
	}
	return &DropInState{Unit: c.Config.Unit, Name: c.Config.Name, Path: k.path(c), had: h}, nil
}

// Plan compares the content.
func (k DropIn) Plan(_ context.Context, c *dropInCall, have *DropInState) (*protocol.Plan, error) {
	h := had{}
	if have != nil {
		h = have.had
	}
	return planFile(c.Config.text, c.IsUnknown, unitFile{path: k.path(c)}, h,
		map[string]any{"unit": c.Config.Unit, "name": c.Config.Name, "path": k.path(c)})
}

// Write checks the unit together with the drop-in, writes it, and has systemd read it.
func (k DropIn) Write(ctx context.Context, c *dropInCall) error {
	content, _, err := c.Config.rendered()
	if err != nil {
		return err
	}
	unit := unitName(c.Config.Unit)
	p, err := k.show(ctx, unit)
	if err != nil {
		return err
	}
	f := unitFile{k.path(c), content}
	if p["FragmentPath"] != "" { // otherwise the unit does not exist yet, and nothing can be checked
		whole, err := os.ReadFile(k.machine.Path(p["FragmentPath"]))
		if err != nil {
			return err
		}
		if err := k.verify(ctx, unit, map[string]string{unit: string(whole), f.name(): content}, c.Log); err != nil {
			return err
		}
	}
	return k.write(ctx, []unitFile{f})
}

// Delete removes the drop-in, and its directory if that is empty.
func (k DropIn) Delete(ctx context.Context, c *dropInCall) error {
	if err := k.remove(ctx, k.path(c)); err != nil {
		return err
	}
	err := os.Remove(k.machine.Path(unitDir + "/" + unitName(c.Config.Unit) + ".d"))
	if errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist) {
		return nil // it holds others, or is gone
	}
	return err
}

// Watch reports changes of the file.
func (k DropIn) Watch(ctx context.Context, c *dropInCall, tell func(detail string)) error {
	return files.Watch(ctx, k.machine, k.path(c), tell)
}

// Discover lists the drop-ins that the administrator has written.
func (k DropIn) Discover(_ context.Context, _ *dropInCall, tell func(DropInConfig, string) error) error {
	dirs, err := os.ReadDir(k.machine.Path(unitDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, dir := range dirs {
		whole, is := strings.CutSuffix(dir.Name(), ".d")
		if !is || !dir.IsDir() {
			continue
		}
		entries, err := os.ReadDir(k.machine.Path(unitDir + "/" + dir.Name()))
		if err != nil {
			return err
		}
		unit := strings.TrimSuffix(whole, ".service")
		for _, file := range entries {
			name, is := strings.CutSuffix(file.Name(), ".conf")
			if !is || !file.Type().IsRegular() || unitName(unit) != whole || strings.HasPrefix(name, ".") {
				continue
			}
			content, err := os.ReadFile(k.machine.Path(unitDir + "/" + dir.Name() + "/" + file.Name()))
			if err != nil {
				return err
			}
			if err := tell(DropInConfig{Unit: unit, Name: name, text: text{Content: string(content)}}, unit+"_"+name); err != nil {
				return err
			}
		}
	}
	return nil
}
