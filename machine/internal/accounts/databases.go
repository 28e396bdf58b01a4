package accounts

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"deployster/machine/internal/access"
	"deployster/machine/internal/files"
	"deployster/machine/internal/replace"
	"deployster/protocol"
)

const (
	passwdFile = "/etc/passwd"
	shadowFile = "/etc/shadow"
	groupFile  = "/etc/group"
)

// account is a user as the machine's files have it.
type account struct {
	name, comment, home, shell string
	uid, gid                   int
	hash                       string
	expires                    string // days since 1970, "" = never
}

// group is a group as the machine's file has it.
type group struct {
	name    string
	gid     int
	members []string
}

// databases are the machine's files of users and groups.
type databases struct {
	users  []account
	groups []group
}

// records returns the lines of a file as fields; lines with too few are skipped, as libc does.
func records(m *access.Machine, path string, fields int) (all [][]string, err error) {
	text, err := os.ReadFile(m.Path(path))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for line := range strings.Lines(string(text)) {
		if f := strings.Split(strings.TrimRight(line, "\n"), ":"); len(f) >= fields {
			all = append(all, f)
		}
	}
	return all, err
}

// read reads all files.
func read(m *access.Machine) (*databases, error) {
	d := &databases{}
	users, err := records(m, passwdFile, 7)
	if err != nil {
		return nil, err
	}
	shadows, err := records(m, shadowFile, 8)
	if err != nil {
		return nil, err
	}
	groups, err := records(m, groupFile, 4)
	if err != nil {
		return nil, err
	}
	for _, f := range users {
		u := account{name: f[0], comment: f[4], home: f[5], shell: f[6], hash: f[1]}
		var bad error
		if u.uid, bad = strconv.Atoi(f[2]); bad != nil {
			continue
		}
		if u.gid, bad = strconv.Atoi(f[3]); bad != nil {
			continue
		}
		if i := slices.IndexFunc(shadows, func(s []string) bool { return s[0] == u.name }); i >= 0 {
			u.hash, u.expires = shadows[i][1], shadows[i][7]
		}
		d.users = append(d.users, u)
	}
	for _, f := range groups {
		gid, bad := strconv.Atoi(f[2])
		if bad != nil {
			continue
		}
		d.groups = append(d.groups, group{name: f[0], gid: gid, members: strings.FieldsFunc(f[3], func(r rune) bool { return r == ',' })})
	}
	return d, nil
}

// user returns a user; nil = the files have none of this name.
func (d *databases) user(name string) *account {
	if i := slices.IndexFunc(d.users, func(u account) bool { return u.name == name }); i >= 0 {
		return &d.users[i]
	}
	return nil
}

// group returns a group by its name or number; nil = there is none.
func (d *databases) group(name string) *group {
	for i, g := range d.groups {
		if g.name == name || strconv.Itoa(g.gid) == name {
			return &d.groups[i]
		}
	}
	return nil
}

// groupText names a group as a wish names it: by its number only if the wish is a number.
func (d *databases) groupText(gid int, wish string) string {
	text := strconv.Itoa(gid)
	if g := d.group(text); g != nil && wish != text {
		return g.name
	}
	return text
}

// groupsOf returns the names of the groups that have a user as a member, sorted.
func (d *databases) groupsOf(user string) []string {
	names := []string{}
	for _, g := range d.groups {
		if slices.Contains(g.members, user) {
			names = append(names, g.name)
		}
	}
	slices.Sort(names)
	return names
}

// elsewhere refuses a name that only a directory service has.
func elsewhere(ctx context.Context, m *access.Machine, database, name string) error {
	if len(m.Getent(ctx, database, name)) > 0 {
		return protocol.Errorf(protocol.ConfigError, "/name", "%s is not in /etc/%s: a directory service has it, and it is "+
			"managed there", name, database)
	}
	return nil // getent found nothing
}

// tool runs one of the programs that change the files. Each of them locks all files, and fails if
// another one has them: only one runs at a time, and is repeated while others have the lock.
func tool(ctx context.Context, m *access.Machine, args ...string) error {
	return toolWith(ctx, m, "", args...)
}

// toolWith gives the program a text on its stdin.
func toolWith(ctx context.Context, m *access.Machine, stdin string, args ...string) error {
	unlock, err := replace.Lock(ctx, m, passwdFile)
	if err != nil {
		return err
	}
	defer unlock()
	for begin := time.Now(); ; {
		err := m.Run(ctx, access.Command{Args: args, Stdin: strings.NewReader(stdin)})
		exit, ended := errors.AsType[*access.ExitError](err)
		if !ended || !strings.Contains(exit.Output, "try again later") || time.Since(begin) > lockWait {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(lockPoll):
		}
	}
}

const (
	lockWait = 5 * time.Minute
	lockPoll = 200 * time.Millisecond
)

// dayFormat is how dates are written.
const dayFormat = "2006-01-02"

// never is the date of an account that does not expire.
const never = "never"

// dateOf returns the day that the files have as a number. It is a day of UTC: in other zones it
// would be the one before.
func dateOf(days string) string {
	n, err := strconv.ParseInt(days, 10, 32)
	if err != nil || n < 0 {
		return never
	}
	return time.Unix(n*24*60*60, 0).UTC().Format(dayFormat)
}

// daysOf returns a date as the number that the files have; "" = never.
func daysOf(date string) (string, error) {
	if date == never {
		return "", nil
	}
	day, err := time.Parse(dayFormat, date)
	if err != nil || day.Unix() < 0 {
		return "", fmt.Errorf("%q is not a day: write it as 2031-12-31, or never", date)
	}
	return strconv.FormatInt(day.Unix()/(24*60*60), 10), nil
}

// processesOf returns the processes of a user, as "123 (sleep)".
func processesOf(uid int) (list []string) {
	statuses, _ := filepath.Glob("/proc/[0-9]*/status") // the pattern is valid
	for _, path := range statuses {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		name, of := "", ""
		for line := range strings.Lines(string(text)) {
			switch f := strings.Fields(line); {
			case len(f) > 1 && f[0] == "Name:":
				name = f[1]
			case len(f) > 1 && f[0] == "Uid:":
				of = f[1]
			}
		}
		if of == strconv.Itoa(uid) {
			list = append(list, filepath.Base(filepath.Dir(path))+" ("+name+")")
		}
	}
	return list
}

// watch reports changes of the files.
func watch(ctx context.Context, m *access.Machine, tell func(string), paths ...string) error {
	var sources []func(context.Context, func(string)) error
	for _, path := range paths {
		sources = append(sources, func(ctx context.Context, tell func(string)) error { return files.Watch(ctx, m, path, tell) })
	}
	return files.WatchAll(ctx, tell, sources...)
}
