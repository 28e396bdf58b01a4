package accounts

import (
	"context"
	"strconv"

	"deployster/machine/internal/access"
	"deployster/protocol"
)

// GroupConfig is what a user writes about a group.
type GroupConfig struct {
	Name   string `json:"name" pattern:"^[a-z_][a-z0-9_.-]*$" maxLength:"32" deployster:"identity"`
	GID    *int   `json:"gid,omitempty" minimum:"0" maximum:"4294967294" deployster:"computed"`
	System bool   `json:"system,omitempty"`
}

var groupDocs = map[string]string{
	"name":   "The name of the group.",
	"gid":    "Its number. Left out, any number is accepted, and a new group gets the next free one.",
	"system": "Whether a new group gets a number of those for the system.",
}

// GroupState is what exists.
type GroupState struct {
	Name string `json:"name" doc:"the name of the group"`
	GID  int    `json:"gid" doc:"its number"`
}

type groupCall = protocol.Call[GroupConfig, GroupState]

// Group is the kind of groups.
type Group struct{ machine *access.Machine }

// NewGroup returns the kind group.
func NewGroup(m *access.Machine) protocol.Kind {
	return protocol.NewKind(Group{m}, protocol.About{Label: "Group", Kind: "linux/group", Worker: true, Unknowns: true, Docs: groupDocs})
}

// Read returns the group, or nil.
func (k Group) Read(ctx context.Context, c *groupCall) (*GroupState, error) {
	d, err := read(k.machine)
	if err != nil {
		return nil, err
	}
	for _, g := range d.groups {
		if g.name == c.Config.Name {
			return &GroupState{Name: g.name, GID: g.gid}, nil
		}
	}
	return nil, elsewhere(ctx, k.machine, "group", c.Config.Name)
}

// Plan adds what a change of the number does not do.
func (k Group) Plan(_ context.Context, c *groupCall, have *GroupState) (*protocol.Plan, error) {
	plan, err := c.DefaultPlan(have)
	if plan != nil && have != nil {
		plan.Actions[0].Description = "Change its number; files keep the old one"
	}
	return plan, err
}

// Write makes the group, or changes its number.
func (k Group) Write(ctx context.Context, c *groupCall) error {
	args := []string{"groupadd"}
	if c.Have != nil {
		args = []string{"groupmod"}
	} else if c.Config.System {
		args = append(args, "--system")
	}
	if c.Config.GID != nil {
		args = append(args, "--gid", strconv.Itoa(*c.Config.GID))
	}
	if d, err := read(k.machine); err != nil {
		return err
	} else if g := d.group(c.Config.Name); c.Have == nil && g != nil && g.name == c.Config.Name {
		args[0] = "groupmod" // an earlier attempt has made it
		if c.Config.GID == nil {
			return nil
		}
		args = []string{"groupmod", "--gid", strconv.Itoa(*c.Config.GID)}
	}
	return tool(ctx, k.machine, append(args, "--", c.Config.Name)...)
}

// Delete removes the group.
func (k Group) Delete(ctx context.Context, c *groupCall) error {
	d, err := read(k.machine)
	if err != nil {
		return err
	}
	if g := d.group(c.Config.Name); g == nil || g.name != c.Config.Name {
		return nil
	}
	return tool(ctx, k.machine, "groupdel", "--", c.Config.Name)
}

// Watch reports changes of the groups.
func (k Group) Watch(ctx context.Context, _ *groupCall, tell func(string)) error {
	return watch(ctx, k.machine, tell, groupFile)
}

// Discover lists the groups of people and programs, not those of the system.
func (k Group) Discover(_ context.Context, _ *groupCall, tell func(GroupConfig, string) error) error {
	d, err := read(k.machine)
	if err != nil {
		return err
	}
	for _, g := range d.groups {
		if personal(g.gid) {
			if err := tell(GroupConfig{Name: g.name, GID: &g.gid}, g.name); err != nil {
				return err
			}
		}
	}
	return nil
}

// personal reports whether a number is not one of the system's.
func personal(id int) bool { return id >= 1000 && id < 60000 }
