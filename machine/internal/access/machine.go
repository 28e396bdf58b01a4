package access

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/moby/sys/user"

	"deployster/protocol"
)

// Machine is the machine that is configured.
type Machine struct {
	Root string // "/", or in tests a directory that stands for it

	container string // the root of the container, "" if there is none
}

// Path returns where a path of the machine is for this process.
func (m *Machine) Path(path string) string { return filepath.Join(m.Root, path) }

// DataDirectory is deployster's own: what it keeps there is nobody else's to change.
const DataDirectory = "/var/lib/deployster"

// CheckPath returns a config error at a JSON pointer unless path is an absolute one that a
// type may manage.
func (m *Machine) CheckPath(pointer, path string) error {
	switch {
	case !filepath.IsAbs(path):
		return protocol.Errorf(protocol.ConfigError, pointer, "%q is not an absolute path", path)
	case filepath.Clean(path) != path:
		return protocol.Errorf(protocol.ConfigError, pointer, "%q is not in its shortest form: write %q", path, filepath.Clean(path))
	case path == "/":
		return protocol.Errorf(protocol.ConfigError, pointer, "/ is not managed by a resource")
	case strings.ContainsRune(path, 0):
		return protocol.Errorf(protocol.ConfigError, pointer, "%q contains a null byte", path)
	}
	if Below(path, DataDirectory) || Below(m.real(path), m.real(DataDirectory)) {
		return protocol.Errorf(protocol.ConfigError, pointer, "%s is in deployster's data directory %s, which no resource may manage",
			path, DataDirectory)
	}
	return nil
}

// real returns a path of this process without links, as far as it exists.
func (m *Machine) real(path string) string {
	real, err := filepath.EvalSymlinks(m.Path(path))
	if err == nil {
		return real
	}
	if parent := filepath.Dir(path); parent != path {
		return filepath.Join(m.real(parent), filepath.Base(path))
	}
	return m.Path(path)
}

// Below reports whether a path is a directory or in it.
func Below(path, directory string) bool {
	return path == directory || strings.HasPrefix(path, directory+"/")
}

// UserID returns the number of a user, which may be given as a number; ok is false if
// there is no such user.
func (m *Machine) UserID(ctx context.Context, name string) (id int, ok bool) {
	if id, err := strconv.Atoi(name); err == nil {
		return id, true
	}
	u, ok := m.user(ctx, name)
	return u.Uid, ok
}

func (m *Machine) user(ctx context.Context, name string) (user.User, bool) {
	named := func(u user.User) bool { return u.Name == name }
	list, err := user.ParsePasswdFileFilter(m.Path("/etc/passwd"), named)
	if err != nil || len(list) == 0 {
		list, err = user.ParsePasswdFilter(bytes.NewReader(m.Getent(ctx, "passwd", name)), named)
	}
	if err != nil || len(list) == 0 {
		return user.User{}, false
	}
	return list[0], true
}

// GroupID returns the number of a group, which may be given as a number.
func (m *Machine) GroupID(ctx context.Context, name string) (id int, ok bool) {
	if id, err := strconv.Atoi(name); err == nil {
		return id, true
	}
	named := func(g user.Group) bool { return g.Name == name }
	list, err := user.ParseGroupFileFilter(m.Path("/etc/group"), named)
	if err != nil || len(list) == 0 {
		list, err = user.ParseGroupFilter(bytes.NewReader(m.Getent(ctx, "group", name)), named)
	}
	if err != nil || len(list) == 0 {
		return 0, false
	}
	return list[0].Gid, true
}

// UserText returns a user as a config with this wish would name it: the wish itself if it
// means this user, a number for a number, else the name.
func (m *Machine) UserText(ctx context.Context, id int, wish string) string {
	if wished, ok := m.UserID(ctx, wish); ok && wished == id && wish != "" {
		return wish
	}
	list, err := user.ParsePasswdFileFilter(m.Path("/etc/passwd"), func(u user.User) bool { return u.Uid == id })
	if _, number := strconv.Atoi(wish); number == nil || err != nil || len(list) == 0 {
		return strconv.Itoa(id)
	}
	return list[0].Name
}

// GroupText returns a group as a config with this wish would name it.
func (m *Machine) GroupText(ctx context.Context, id int, wish string) string {
	if wished, ok := m.GroupID(ctx, wish); ok && wished == id && wish != "" {
		return wish
	}
	list, err := user.ParseGroupFileFilter(m.Path("/etc/group"), func(g user.Group) bool { return g.Gid == id })
	if _, number := strconv.Atoi(wish); number == nil || err != nil || len(list) == 0 {
		return strconv.Itoa(id)
	}
	return list[0].Name
}

// Getent returns what the machine's name services, such as LDAP, have of a name in a database of users or groups. Where only
// its files are searched, nothing is run: the caller has read them.
func (m *Machine) Getent(ctx context.Context, database, name string) []byte {
	if m.Root != "/" || name == "" || m.onlyFiles(database) {
		return nil
	}
	var out bytes.Buffer
	if m.Run(ctx, Command{Args: []string{"getent", "--", database, name}, Stdout: &out}) != nil {
		return nil // it has no such name
	}
	return out.Bytes()
}

// onlyFiles reports whether the machine searches a database in its files and nowhere else.
func (m *Machine) onlyFiles(database string) bool {
	text, err := os.ReadFile(m.Path("/etc/nsswitch.conf"))
	if err != nil {
		return false // the C library knows what to do then
	}
	lines := 0
	for line := range strings.Lines(string(text)) {
		line, _, _ = strings.Cut(line, "#")
		of, services, _ := strings.Cut(line, ":")
		if strings.TrimSpace(of) != database {
			continue
		}
		if lines++; strings.TrimSpace(services) != "files" {
			return false
		}
	}
	return lines == 1
}

// Command is a command of the machine.
type Command struct {
	Args        []string
	Env         []string // in addition to searchPath and a neutral locale
	Directory   string   // "" = /
	Stdin       io.Reader
	Stdout      io.Writer // nil = with Stderr in the error, if it fails
	Stderr      io.Writer // nil = in the error
	User        string    // "" = root
	Description string    // of errors; "" = Args[0]
}

// searchPath is that of a root shell.
const searchPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// killDelay is how long a command may continue after it was signalled to end, and how long its output
// is read after it has ended, where a process that it started in the background still has it.
const killDelay = 2 * time.Second

// ExitError is the end of a command that ended with another exit code than 0.
type ExitError struct {
	Command string
	Code    int    // -1 = by a signal
	Output  string // the last lines of what nobody else was given
	Cause   error
}

func (e *ExitError) Error() string {
	text := e.Command + " failed (" + e.Cause.Error() + ")"
	if e.Output != "" {
		text += ":\n" + e.Output
	}
	return text
}

func (e *ExitError) Unwrap() error { return e.Cause }

// Run runs a command in a process group of its own, and returns an *ExitError if it fails.
// When ctx ends, the group gets SIGTERM, and SIGKILL after killDelay.
func (m *Machine) Run(ctx context.Context, c Command) error {
	path, err := m.lookPath(c.Args[0])
	if err != nil {
		return err
	}
	command := exec.CommandContext(ctx, path, c.Args[1:]...)
	command.Args[0] = c.Args[0]
	command.Env = append([]string{"PATH=" + searchPath, "LANG=C.UTF-8", "HOME=/root", "USER=root", "LOGNAME=root", "SHELL=/bin/sh"},
		c.Env...)
	command.Dir, command.Stdin = m.Path("/"+c.Directory), c.Stdin
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if c.User != "" && c.User != "root" {
		if err := m.asUser(ctx, command, c); err != nil {
			return err
		}
	}
	tail := &bytes.Buffer{}
	command.Stdout, command.Stderr = c.Stdout, c.Stderr
	if c.Stdout == nil {
		command.Stdout = tail
	}
	if c.Stderr == nil {
		command.Stderr = tail
	}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGTERM) }
	command.WaitDelay = killDelay
	err = command.Run()
	if ctx.Err() != nil && command.Process != nil {
		_ = syscall.Kill(-command.Process.Pid, syscall.SIGKILL) // what has not ended by now
		return fmt.Errorf("%s was ended: %w", c.Args[0], context.Cause(ctx))
	}
	if err == nil || errors.Is(err, exec.ErrWaitDelay) {
		return nil
	}
	failed := &ExitError{Command: c.Description, Code: -1, Output: lastLines(tail.String()), Cause: err}
	if failed.Command == "" {
		failed.Command = c.Args[0]
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		failed.Code = exit.ExitCode()
	}
	return failed
}

// lookPath finds a program by the search path of the machine, not by that of the container.
func (m *Machine) lookPath(name string) (string, error) {
	if strings.Contains(name, "/") {
		return name, nil
	}
	for directory := range strings.SplitSeq(searchPath, ":") {
		path := filepath.Join(directory, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path, nil
		}
	}
	return "", fmt.Errorf("there is no program %s on this machine: %w", name, exec.ErrNotFound)
}

func (m *Machine) asUser(ctx context.Context, command *exec.Cmd, c Command) error {
	u, ok := m.user(ctx, c.User)
	if !ok {
		return fmt.Errorf("there is no user %s", c.User)
	}
	id := &syscall.Credential{Uid: uint32(u.Uid), Gid: uint32(u.Gid)}
	groups, err := user.ParseGroupFileFilter(m.Path("/etc/group"), func(g user.Group) bool {
		return strings.Contains(","+strings.Join(g.List, ",")+",", ","+c.User+",")
	})
	if err != nil {
		return err
	}
	for _, g := range groups {
		id.Groups = append(id.Groups, uint32(g.Gid))
	}
	command.SysProcAttr.Credential = id
	command.Env = append([]string{"PATH=" + searchPath, "LANG=C.UTF-8", "HOME=" + u.Home, "USER=" + u.Name, "LOGNAME=" + u.Name,
		"SHELL=" + u.Shell}, c.Env...)
	return nil
}

// shownLines is how many lines of what a command printed are in an error.
const shownLines = 20

func lastLines(text string) string {
	list := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(list[max(0, len(list)-shownLines):], "\n")
}
