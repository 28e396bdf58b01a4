package accounts

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"deployster/machine/internal/access"
	"deployster/protocol"
)

// Write makes the user, or changes what differs.
func (k User) Write(ctx context.Context, c *userCall) error {
	if err := k.check(c); err != nil {
		return err
	}
	d, err := read(k.machine)
	if err != nil {
		return err
	}
	if u := d.user(c.Config.Name); u != nil {
		err = k.change(ctx, c, d, u)
	} else {
		err = k.create(ctx, c, d)
	}
	if err != nil || c.Config.PasswordHash == "" {
		return err
	}
	return setHash(ctx, k.machine, c.Config.Name, c.Config.PasswordHash)
}

// create makes a user that does not exist.
func (k User) create(ctx context.Context, c *userCall, d *databases) error {
	args := []string{"useradd"}
	if c.Config.System {
		args = append(args, "--system", "--no-create-home")
	} else {
		args = append(args, "--create-home")
	}
	args = append(args, flags(c, nil, nil)...)
	if c.Config.Group == "" {
		own := "--user-group"
		if g := d.group(c.Config.Name); g != nil && g.name == c.Config.Name {
			own = "--gid=" + g.name // useradd makes no group that exists
		}
		args = append(args, own)
	}
	if groups, managed := wanted(c, nil); managed && len(groups) > 0 {
		args = append(args, "--groups", strings.Join(groups, ","))
	}
	if err := tool(ctx, k.machine, append(args, "--", c.Config.Name)...); err != nil {
		return err
	}
	if !c.Config.System {
		return nil
	}
	// useradd gives users of the system neither an expiry nor a home.
	d, err := read(k.machine)
	if err != nil {
		return err
	}
	if u := d.user(c.Config.Name); u != nil {
		return k.change(ctx, c, d, u)
	}
	return nil
}

// movable refuses to move a home directory to where something is: usermod would fail after all else.
func (k User) movable(c *userCall, from string) error {
	if !c.Config.MoveHome || c.Config.Home == "" || c.Config.Home == from {
		return nil
	}
	if _, err := os.Lstat(k.machine.Path(c.Config.Home)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return protocol.Errorf(protocol.ConfigError, "/move_home", "%s exists already, so the home %s is not moved there: remove it, or "+
		"remove move_home from the config", c.Config.Home, from)
}

// change changes a user that exists.
func (k User) change(ctx context.Context, c *userCall, d *databases, u *account) error {
	if err := k.movable(c, u.home); err != nil {
		return err
	}
	args := flags(c, d, u)
	had := d.groupsOf(u.name)
	if groups, managed := wanted(c, had); managed && !slices.Equal(groups, had) {
		args = append(args, "--groups", strings.Join(groups, ","))
	}
	if len(args) > 0 {
		if err := tool(ctx, k.machine, slices.Concat([]string{"usermod"}, args, []string{"--", u.name})...); err != nil {
			return err
		}
	}
	if c.Config.Home != "" {
		return k.makeHome(c)
	}
	return nil
}

// flags returns the arguments for what differs from a user, of all that the config has if u is nil.
func flags(c *userCall, d *databases, u *account) (args []string) {
	set := func(name, want, has string) {
		if want != "" && (u == nil || want != has) {
			args = append(args, name, want)
		}
	}
	var has account
	group := ""
	if u != nil {
		has = *u
		group = d.groupText(u.gid, c.Config.Group)
	}
	if c.Config.UID != nil && (u == nil || *c.Config.UID != has.uid) {
		args = append(args, "--uid", strconv.Itoa(*c.Config.UID))
	}
	set("--gid", c.Config.Group, group)
	set("--home-dir", c.Config.Home, has.home)
	set("--shell", c.Config.Shell, has.shell)
	if c.Config.Comment != nil && (u == nil || *c.Config.Comment != has.comment) {
		args = append(args, "--comment", *c.Config.Comment)
	}
	if c.Config.Expires != "" && (u != nil || c.Config.Expires != never) && c.Config.Expires != dateOf(has.expires) {
		days, _ := daysOf(c.Config.Expires) // it was checked
		args = append(args, "--expiredate", days)
	}
	if i := slices.Index(args, "--home-dir"); u != nil && i >= 0 {
		args[i] = "--home" // the two programs have two names for it
		if c.Config.MoveHome {
			args = append(args, "--move-home")
		}
	}
	return args
}

// setHash sets the hash of a password, which is not shown in the list of processes.
func setHash(ctx context.Context, m *access.Machine, name, hash string) error {
	d, err := read(m)
	if err != nil {
		return err
	}
	if u := d.user(name); u != nil && u.hash == hash {
		return nil
	}
	return toolWith(ctx, m, name+":"+hash+"\n", "chpasswd", "--encrypted")
}
