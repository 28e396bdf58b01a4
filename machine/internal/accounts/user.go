package accounts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"deployster/machine/internal/access"
	"deployster/protocol"
)

// UserConfig is what a user writes about a user of the machine.
type UserConfig struct {
	Name         string   `json:"name" pattern:"^[a-z_][a-z0-9_.-]*[$]?$" maxLength:"32" deployster:"identity"`
	UID          *int     `json:"uid,omitempty" minimum:"0" maximum:"4294967294" deployster:"computed"`
	Group        string   `json:"group,omitempty" minLength:"1" deployster:"computed"`
	Groups       []string `json:"groups,omitempty" pattern:"^[a-z_][a-z0-9_.-]*$" deployster:"computed"`
	Membership   string   `json:"membership,omitempty" enum:"minimum,inclusive" default:"minimum"`
	Home         string   `json:"home,omitempty" pattern:"^/[^:\n]*$" deployster:"computed"`
	MoveHome     bool     `json:"move_home,omitempty"`
	RemoveHome   bool     `json:"remove_home,omitempty"`
	Shell        string   `json:"shell,omitempty" pattern:"^/[^:\n]*$" deployster:"computed"`
	Comment      *string  `json:"comment,omitempty" pattern:"^[^:\n]*$" deployster:"computed"`
	System       bool     `json:"system,omitempty"`
	PasswordHash string   `json:"password_hash,omitempty" minLength:"1" writeOnly:"true"`
	Expires      string   `json:"expires,omitempty" pattern:"^([0-9]{4}-[0-9]{2}-[0-9]{2}|never)$" deployster:"computed"`
}

var userDocs = map[string]string{
	"name":  "The name of the user.",
	"uid":   "Its number. Left out, any number is accepted, and a new user gets the next free one.",
	"group": "Its own group: a name or a number. Left out, that is not managed, and a new user gets a group of its own.",
	"groups": "Further groups that it is a member of. Left out, these are not managed; with membership = \"inclusive\" an empty list " +
		"stands for none.",
	"membership": "minimum: other groups that it is a member of stay. inclusive: it leaves them.",
	"home": "Its home directory. It is made if it does not exist, with what /etc/skel has; for a user of the system only if it is given " +
		"here, and empty. /nonexistent is never made. Left out, that of an existing user is not managed.",
	"move_home":   "Whether the old home directory is moved when home is changed.",
	"remove_home": "Whether the home directory is removed with the user.",
	"shell":       "The program that it gets when it logs in.",
	"comment":     "Its full name, or what it is for.",
	"system":      "Whether a new user gets a number of those for the system, and no home.",
	"password_hash": "The hash of its password, as `openssl passwd -6` makes it, or * for none. It is compared as text. Left out, the " +
		"password is not managed, and a new user has none.",
	"expires": "The first day (of UTC) on which the account cannot be used any more, or never.",
}

// UserState is what exists.
type UserState struct {
	Name    string   `json:"name" doc:"the name of the user"`
	UID     int      `json:"uid" doc:"its number"`
	Group   string   `json:"group" doc:"its own group"`
	Groups  []string `json:"groups" doc:"the other groups that it is a member of"`
	Home    string   `json:"home" doc:"its home directory"`
	Shell   string   `json:"shell" doc:"the program that it gets when it logs in"`
	Comment string   `json:"comment" doc:"its full name, or what it is for"`
	Expires string   `json:"expires" doc:"the first day on which the account cannot be used any more, or never"`

	hash string
}

type userCall = protocol.Call[UserConfig, UserState]

// User is the kind of users.
type User struct{ machine *access.Machine }

// NewUser returns the kind user.
func NewUser(m *access.Machine) protocol.Kind {
	return protocol.NewKind(User{m}, protocol.About{Label: "User", Kind: "linux/user", Worker: true, Unknowns: true, Docs: userDocs,
		AutoEdges: []protocol.AutoEdge{{Kind: "linux/group", By: "/group"}, {Kind: "linux/group", By: "/groups"}}})
}

// hashes are what /etc/shadow may hold as a password: the output of crypt, or what no password has.
var hashes = regexp.MustCompile(`^!?(\*|!|\$[0-9a-z]+\$[^:\s]+)$`)

func (k User) check(c *userCall) error {
	if h := c.Config.PasswordHash; h != "" && !hashes.MatchString(h) {
		return protocol.Errorf(protocol.ConfigError, "/password_hash", "this is not a hash of a password: `openssl passwd -6` makes one")
	}
	if c.Config.Expires != "" {
		if _, err := daysOf(c.Config.Expires); err != nil {
			return protocol.Errorf(protocol.ConfigError, "/expires", "%s", err)
		}
	}
	return nil
}

// Read returns the user, or nil.
func (k User) Read(ctx context.Context, c *userCall) (*UserState, error) {
	if err := k.check(c); err != nil {
		return nil, err
	}
	d, err := read(k.machine)
	if err != nil {
		return nil, err
	}
	u := d.user(c.Config.Name)
	if u == nil {
		return nil, elsewhere(ctx, k.machine, "passwd", c.Config.Name)
	}
	return &UserState{Name: u.name, UID: u.uid, Group: d.groupText(u.gid, c.Config.Group), Groups: d.groupsOf(u.name), Home: u.home,
		Shell: u.shell, Comment: u.comment, Expires: dateOf(u.expires), hash: u.hash}, nil
}

// wanted returns the groups that the user is to have; ok is false if they are not managed.
func wanted(c *userCall, have []string) (names []string, ok bool) {
	var given map[string]json.RawMessage
	_ = json.Unmarshal(c.ActionInput.Config, &given) // it was decoded before
	if _, written := given["groups"]; !written || c.IsUnknown("/groups") {
		return nil, false
	}
	names = slices.Clone(c.Config.Groups)
	if c.Config.Membership == "minimum" {
		names = append(names, have...)
	}
	if names == nil {
		names = []string{}
	}
	slices.Sort(names)
	return slices.Compact(names), true
}

// Plan compares all that the config has, groups as sets.
func (k User) Plan(_ context.Context, c *userCall, have *UserState) (*protocol.Plan, error) {
	d, err := read(k.machine)
	if err != nil {
		return nil, err
	}
	if have != nil {
		if err := k.movable(c, have.Home); err != nil {
			return nil, err
		}
	}
	groups, config := c.Config.Groups, c.ActionInput.Config
	plan, err := k.withoutGroups(c, have)
	c.Config.Groups, c.ActionInput.Config = groups, config
	if err != nil {
		return nil, err
	}
	if plan == nil {
		plan = &protocol.Plan{Actions: []protocol.Action{{Name: "update"}}}
	}
	forecast, _ := plan.Forecast.(map[string]any)
	if forecast == nil {
		forecast = map[string]any{}
	}
	had := []string{}
	if have != nil {
		had = have.Groups
	}
	switch want, managed := wanted(c, had); {
	case managed:
		forecast["groups"] = want
		if have != nil && !slices.Equal(want, had) {
			r := protocol.Reason{Path: "/groups"}
			r.Have, _ = json.Marshal(had)
			r.Want, _ = json.Marshal(want)
			plan.Reasons = append(plan.Reasons, r)
		}
	case have != nil && c.IsUnknown("/groups"):
		plan.Reasons = append(plan.Reasons, protocol.Reason{Path: "/groups", Message: "known only after other actions"})
		plan.Unknown = append(plan.Unknown, "/groups")
	}
	if have != nil && c.Config.PasswordHash != "" && have.hash != c.Config.PasswordHash && !slices.Contains(c.ChangedSecrets,
		"/password_hash") {
		plan.Reasons = append(plan.Reasons, protocol.Reason{Path: "/password_hash", Message: "the machine has another hash"})
	}
	if have != nil && have.Home == c.Config.Home && k.lacksHome(c) {
		plan.Reasons = append(plan.Reasons, protocol.Reason{Path: "/home", Message: have.Home + " does not exist, and is made"})
	}
	if have != nil && len(plan.Reasons) == 0 {
		return nil, nil
	}
	plan.Forecast = forecast
	plan.Reasons = append(plan.Reasons, missing(d, c)...)
	return plan, nil
}

// withoutGroups compares the other values of the config.
func (k User) withoutGroups(c *userCall, have *UserState) (*protocol.Plan, error) {
	var given map[string]json.RawMessage
	if err := json.Unmarshal(c.ActionInput.Config, &given); err != nil {
		return nil, err
	}
	delete(given, "groups")
	rest, err := json.Marshal(given)
	if err != nil {
		return nil, err
	}
	c.Config.Groups, c.ActionInput.Config = nil, rest
	return c.DefaultPlan(have)
}

// missing returns reasons for the groups that do not exist yet.
func missing(d *databases, c *userCall) (reasons []protocol.Reason) {
	name := func(path, group string) {
		if group != "" && d.group(group) == nil {
			reasons = append(reasons, protocol.Reason{Path: path, Message: "there is no group " + group + " on this machine yet"})
		}
	}
	name("/group", c.Config.Group)
	for i, group := range c.Config.Groups {
		name(fmt.Sprintf("/groups/%d", i), group)
	}
	return reasons
}

// PlanAbsence reports what stays, and what still runs.
func (k User) PlanAbsence(_ context.Context, c *userCall, have *UserState) (*protocol.Plan, error) {
	remove := protocol.Action{Name: "delete", Description: "Remove the user, and keep its home " + have.Home}
	if with, err := k.removesHome(c, have.UID, have.Home); err != nil {
		return nil, err
	} else if with {
		remove.Destructive, remove.Description = true, "Remove the user with its home "+have.Home
	}
	if running := processesOf(have.UID); len(running) > 0 {
		remove.Description += "; it still runs " + some(running)
	}
	return &protocol.Plan{Actions: []protocol.Action{remove}}, nil
}

// removesHome reports whether the home directory is removed with the user. userdel would remove the
// user, and then fail, if the directory belongs to somebody else.
func (k User) removesHome(c *userCall, uid int, home string) (bool, error) {
	if !c.Config.RemoveHome {
		return false, nil
	}
	var stat unix.Stat_t
	switch err := unix.Stat(k.machine.Path(home), &stat); {
	case errors.Is(err, unix.ENOENT):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("%s: %w", home, err)
	case int(stat.Uid) != uid:
		return false, protocol.Errorf(protocol.ConfigError, "/remove_home",
			"the home %s belongs to the user number %d, and is not removed with %s: remove remove_home from the config",
			home, stat.Uid, c.Config.Name)
	}
	return true, nil
}

func some(list []string) string {
	const shown = 10
	if more := len(list) - shown; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(list[:shown], ", "), more)
	}
	return strings.Join(list, ", ")
}

// Delete removes the user.
func (k User) Delete(ctx context.Context, c *userCall) error {
	d, err := read(k.machine)
	if err != nil {
		return err
	}
	u := d.user(c.Config.Name)
	if u == nil {
		return nil
	}
	if running := processesOf(u.uid); len(running) > 0 {
		return fmt.Errorf("the user %s still runs %s, and is not removed: end these processes first", u.name, some(running))
	}
	args := []string{"userdel"}
	if with, err := k.removesHome(c, u.uid, u.home); err != nil {
		return err
	} else if with {
		args = append(args, "--remove")
	}
	return tool(ctx, k.machine, append(args, "--", u.name)...)
}

// Watch reports changes of users and groups.
func (k User) Watch(ctx context.Context, _ *userCall, tell func(string)) error {
	return watch(ctx, k.machine, tell, passwdFile, shadowFile, groupFile)
}

// Discover lists the users that are people or programs of the administrator.
func (k User) Discover(_ context.Context, _ *userCall, tell func(UserConfig, string) error) error {
	d, err := read(k.machine)
	if err != nil {
		return err
	}
	for _, u := range d.users {
		if !personal(u.uid) {
			continue
		}
		found := UserConfig{Name: u.name, UID: &u.uid, Group: d.groupText(u.gid, ""), Groups: d.groupsOf(u.name),
			Membership: "minimum", Home: u.home,
			Shell: u.shell, Comment: &u.comment, Expires: dateOf(u.expires)}
		if err := tell(found, u.name); err != nil {
			return err
		}
	}
	return nil
}
