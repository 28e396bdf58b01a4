package files

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"strconv"
	"syscall"

	"deployster/machine/internal/access"
	"deployster/machine/internal/replace"
	"deployster/protocol"
)

// Attributes are the part of a config about who may do what with a file or a directory.
type Attributes struct {
	Mode  string `json:"mode,omitempty" pattern:"^[0-7]{4}$" deployster:"computed"`
	Owner string `json:"owner,omitempty" minLength:"1" deployster:"computed"`
	Group string `json:"group,omitempty" minLength:"1" deployster:"computed"`
}

// attributeDocs describe the attributes, with the other keys of a config.
func attributeDocs(with map[string]string) map[string]string {
	docs := map[string]string{
		"mode": "The permissions as four octal digits, such as 0644 or 4755. Left out, they are not managed, but a file that " +
			"gets another owner or group is setuid or setgid no more.",
		"owner": "The user that owns it: a name or a number. Left out, the owner is not managed.",
		"group": "The group that owns it: a name or a number. Left out, the group is not managed.",
	}
	maps.Copy(docs, with)
	return docs
}

// had are the attributes of what exists.
type had struct {
	Mode  string `json:"mode" doc:"the permissions as four octal digits"`
	Owner string `json:"owner" doc:"the user that owns it"`
	Group string `json:"group" doc:"the group that owns it"`
}

// describe returns the attributes of what exists, in the words of the config.
func describe(ctx context.Context, m *access.Machine, info fs.FileInfo, want Attributes) had {
	stat := info.Sys().(*syscall.Stat_t)
	return had{Mode: fmt.Sprintf("%04o", stat.Mode&0o7777), Owner: m.UserText(ctx, int(stat.Uid), want.Owner),
		Group: m.GroupText(ctx, int(stat.Gid), want.Group)}
}

// numbers are attributes as the kernel has them; nil = not managed.
type numbers struct {
	mode     *uint32
	uid, gid *int
}

// resolve returns the numbers of the attributes, or an error for a user or group that does
// not exist.
func (a Attributes) resolve(ctx context.Context, m *access.Machine) (n numbers, err error) {
	if a.Mode != "" {
		mode, err := strconv.ParseUint(a.Mode, 8, 32)
		if err != nil {
			return n, fmt.Errorf("mode %q is not four octal digits", a.Mode)
		}
		bits := uint32(mode)
		n.mode = &bits
	}
	if a.Owner != "" {
		id, ok := m.UserID(ctx, a.Owner)
		if !ok {
			return n, fmt.Errorf("there is no user %s on this machine: correct /owner, or depend on the resource that makes the user",
				a.Owner)
		}
		n.uid = &id
	}
	if a.Group != "" {
		id, ok := m.GroupID(ctx, a.Group)
		if !ok {
			return n, fmt.Errorf("there is no group %s on this machine: correct /group, or depend on the resource that makes the group",
				a.Group)
		}
		n.gid = &id
	}
	return n, nil
}

// loses returns the mode of a file that gets another owner or group, and by that loses a part of a mode that is not
// managed; "" = it loses nothing.
func (a Attributes) loses(have had) string {
	mode, err := strconv.ParseUint(have.Mode, 8, 32)
	given := a.Owner != "" && a.Owner != have.Owner || a.Group != "" && a.Group != have.Group
	left := replace.Unprivileged(uint32(mode))
	if err != nil || a.Mode != "" || !given || left == uint32(mode) {
		return ""
	}
	return fmt.Sprintf("%04o", left)
}

// forecastLoss adds to a plan what a new owner removes.
func (a Attributes) forecastLoss(have had, unknown func(string) bool, plan *protocol.Plan, forecast map[string]any) {
	if mode := a.loses(have); mode != "" {
		forecast["mode"] = mode
		plan.Reasons = append(plan.Reasons, protocol.Reason{Path: "/mode", Message: "the mode " + have.Mode + " becomes " + mode +
			": another owner or group takes setuid and setgid away"})
	}
	if a.Mode == "" && (unknown("/owner") || unknown("/group")) {
		plan.Unknown = append(plan.Unknown, "/mode")
	}
}

// missing returns reasons for the user and the group that do not exist yet: a plan may be
// made before the resources that make them have acted.
func (a Attributes) missing(ctx context.Context, m *access.Machine) (reasons []protocol.Reason) {
	if a.Owner != "" {
		if _, ok := m.UserID(ctx, a.Owner); !ok {
			reasons = append(reasons, protocol.Reason{Path: "/owner", Message: "there is no user " + a.Owner + " on this machine yet"})
		}
	}
	if a.Group != "" {
		if _, ok := m.GroupID(ctx, a.Group); !ok {
			reasons = append(reasons, protocol.Reason{Path: "/group", Message: "there is no group " + a.Group + " on this machine yet"})
		}
	}
	return reasons
}

// edges are what a file, a directory or a link comes after.
func edges() []protocol.AutoEdge {
	return []protocol.AutoEdge{{Kind: "linux/directory", By: "/path", Parents: true}, {Kind: "linux/user", By: "/owner"},
		{Kind: "linux/group", By: "/group"}}
}

// kindOf reports what is at a path, for errors.
func kindOf(info fs.FileInfo) string {
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return "a file"
	case mode.IsDir():
		return "a directory"
	case mode&fs.ModeSymlink != 0:
		return "a link"
	case mode&fs.ModeDevice != 0:
		return "a device"
	case mode&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	}
	return "not a file"
}

// lstat returns what is at a path of the machine, without following a link; nil = nothing.
func lstat(m *access.Machine, path string) (fs.FileInfo, error) {
	return absentIsNil(os.Lstat(m.Path(path)))
}

// stat returns what is at a path of the machine or where links there lead; nil = nothing.
func stat(m *access.Machine, path string) (fs.FileInfo, error) {
	return absentIsNil(os.Stat(m.Path(path)))
}
