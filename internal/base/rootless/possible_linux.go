package rootless

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/moby/sys/user"

	"deployster/internal/base/diag"
)

// page is where a person reads more.
const page = "docs/rootless.md"

// title begins all errors about a namespace that is not possible.
const title = "Containers cannot run here without root"

// allowed returns an error if the machine, whose files are below root, lets users have no namespaces.
func allowed(root string) error {
	setting := func(name string) string {
		content, _ := os.ReadFile(filepath.Join(root, "proc/sys", strings.ReplaceAll(name, ".", "/"))) // "" = no such setting
		return strings.TrimSpace(string(content))
	}
	if _, err := os.Stat(filepath.Join(root, "proc/self/ns/user")); err != nil {
		return diag.Errorf(title, "this kernel has no user namespaces.")
	}
	for name, value := range map[string]string{"user.max_user_namespaces": "15000", "kernel.unprivileged_userns_clone": "1"} {
		if setting(name) == "0" {
			return diag.Errorf(title, "this machine lets users have no user namespaces: %s is 0. Set it as root: `sysctl -w %[1]s=%s`, "+
				"and in a file of /etc/sysctl.d to keep it.", name, value)
		}
	}
	profile, _ := os.ReadFile(filepath.Join(root, "proc/self/attr/current")) // "" = no AppArmor
	if setting("kernel.apparmor_restrict_unprivileged_userns") == "1" && strings.HasPrefix(string(profile), "unconfined") {
		return diag.Errorf(title, "AppArmor lets only programs with a profile of their own have user namespaces "+
			"(kernel.apparmor_restrict_unprivileged_userns is 1). %s has the profile for deployster, which root installs.", page)
	}
	return nil
}

// packages are what the programs are in.
var packages = map[string]string{
	"newuidmap": "the package uidmap of Debian and Ubuntu, shadow-utils of Fedora, shadow-uidmap of Alpine",
	"newgidmap": "the package uidmap of Debian and Ubuntu, shadow-utils of Fedora, shadow-uidmap of Alpine",
	"nsenter":   "the package util-linux",
}

func errProgram(name string) error {
	return diag.Errorf(title, "%s is not on the PATH, and is needed to run containers as a user who is not root. Install it, from %s.",
		name, packages[name])
}

// errRefused returns the error for a kernel that does not create a namespace.
func errRefused(cause error) error {
	return diag.Because(cause, title, "the kernel refused a user namespace: %s. In a container, its own settings may forbid that: "+
		"see %s.", cause, page)
}

func errMapping(program, said string, cause error) error {
	return diag.Because(cause, title, "%s failed (%s): %s. It must belong to root, and be setuid or have the capability for it: install "+
		"its package again, from %s. See %s.", program, cause, said, packages[filepath.Base(program)], page)
}

// idCount is how many ids a user needs besides the own one: what images use.
const idCount = 65535

// subordinates returns the arguments for newuidmap and newgidmap: the user is root inside, and the
// subordinate ids that /etc/subuid and /etc/subgid assign follow.
func subordinates(root string, uid, gid int, name string) (uids, gids []string, err error) {
	names := []string{strconv.Itoa(uid), name}
	mine := func(u user.User) bool { return u.Uid == uid }
	users, _ := user.ParsePasswdFileFilter(filepath.Join(root, "etc/passwd"), mine) // without it there is USER
	for _, u := range users {
		names = append(names, u.Name)
	}
	if uids, err = ranges(root, "etc/subuid", uid, names); err != nil {
		return nil, nil, err
	}
	gids, err = ranges(root, "etc/subgid", gid, names)
	return uids, gids, err
}

// ranges returns the map of one kind of ids.
func ranges(root, file string, own int, names []string) (triples []string, err error) {
	all, err := user.ParseSubIDFile(filepath.Join(root, file))
	if err != nil && !os.IsNotExist(err) {
		return nil, diag.Because(err, title, "/%s cannot be read: %s.", file, err)
	}
	triples = []string{"0", strconv.Itoa(own), "1"}
	next, free := int64(1), int64(100000)
	for _, s := range all {
		free = max(free, s.SubID+s.Count)
		for _, name := range names {
			if name != "" && s.Name == name && s.Count > 0 {
				triples = append(triples, strconv.FormatInt(next, 10), strconv.FormatInt(s.SubID, 10), strconv.FormatInt(s.Count, 10))
				next += s.Count
				break
			}
		}
	}
	if next > idCount {
		return triples, nil
	}
	who := names[len(names)-1]
	kind := strings.TrimPrefix(filepath.Base(file), "sub")
	return nil, diag.Errorf(title, "/%s assigns %d of the %d ids that images use to %s. Assign them as root: "+
		"`usermod --add-sub%ss %d-%d %[4]s`, or add the line %[4]s:%[6]d:%[8]d to the file.", file, next-1, idCount, who, kind, free,
		free+idCount, idCount+1)
}
