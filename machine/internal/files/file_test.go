package files_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"deployster/machine/internal/access"
	"deployster/machine/internal/files"
	"deployster/machine/internal/kindtest"
)

type config = kindtest.Config

// root returns a machine that is a directory, with a user www and a group www.
func root(t *testing.T) *access.Machine {
	t.Helper()
	m := &access.Machine{Root: t.TempDir()}
	must(t, os.MkdirAll(m.Path("/etc"), 0o755))
	must(t, os.WriteFile(m.Path("/etc/passwd"), []byte("root:x:0:0::/root:/bin/sh\nwww:x:33:34::/var/www:/bin/sh\n"), 0o644))
	must(t, os.WriteFile(m.Path("/etc/group"), []byte("root:x:0:\nwww:x:34:\n"), 0o644))
	return m
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, m *access.Machine, path, text string) {
	t.Helper()
	must(t, os.WriteFile(m.Path(path), []byte(text), 0o644))
}

func text(t *testing.T, m *access.Machine, path string) string {
	t.Helper()
	b, err := os.ReadFile(m.Path(path))
	must(t, err)
	return string(b)
}

func inode(t *testing.T, path string) (s unix.Stat_t) {
	t.Helper()
	must(t, unix.Lstat(path, &s))
	return s
}

// leaves wants these names in a directory, and nothing else.
func leaves(t *testing.T, m *access.Machine, directory string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(m.Path(directory))
	must(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if fmt.Sprint(names) != fmt.Sprint(want) {
		t.Errorf("%s holds %q, and should hold %q", directory, names, want)
	}
}

func TestFile_IsMadeChangedAndRemoved(t *testing.T) {
	t.Parallel()
	m := root(t)
	f := kindtest.New(t, files.NewFile(m))
	c := config{"path": "/etc/motd", "content": "one\n", "mode": "0640", "owner": "www", "group": "www"}
	if a := f.Apply(c); a.StaleState != nil || a.Actions[0].Name != "create" {
		t.Errorf("%+v", a)
	}
	if s := inode(t, m.Path("/etc/motd")); s.Mode&0o7777 != 0o640 || s.Uid != 33 || s.Gid != 34 {
		t.Errorf("%o %d %d", s.Mode, s.Uid, s.Gid)
	}
	if a := f.State(c); a.Status != "VALID" {
		t.Errorf("%+v", a)
	}
	c["content"] = "two\n"
	a := f.Apply(c)
	if len(a.Reasons) != 1 || a.Reasons[0].Path != "/content" || string(a.Reasons[0].Have) != `"one\n"` || string(a.Reasons[0].Want) != `"two\n"` {
		t.Errorf("%+v", a.Reasons)
	}
	if text(t, m, "/etc/motd") != "two\n" {
		t.Error("it has the old content")
	}
	f.Destroy(c)
	f.Destroy(c)
	leaves(t, m, "/etc", "group", "passwd")
}

func TestFile_WhatIsLeftOutIsNotManaged(t *testing.T) {
	t.Parallel()
	m := root(t)
	write(t, m, "/etc/motd", "by hand")
	must(t, os.Chown(m.Path("/etc/motd"), 33, 34))
	must(t, os.Chmod(m.Path("/etc/motd"), 0o600))
	f := kindtest.New(t, files.NewFile(m))
	if a := f.State(config{"path": "/etc/motd"}); a.Status != "VALID" {
		t.Errorf("%+v", a)
	}
	f.Apply(config{"path": "/etc/motd", "content": "ours"})
	if s := inode(t, m.Path("/etc/motd")); s.Mode&0o7777 != 0o600 || s.Uid != 33 || s.Gid != 34 {
		t.Errorf("a change of the content changed %o %d %d", s.Mode, s.Uid, s.Gid)
	}
	f.Apply(config{"path": "/etc/motd", "group": "0"})
	if s := inode(t, m.Path("/etc/motd")); s.Uid != 33 || s.Gid != 0 || text(t, m, "/etc/motd") != "ours" {
		t.Errorf("a change of the group changed %d %d", s.Uid, s.Gid)
	}
}

func TestFile_ModeIsComparedThoughContentIsEqual(t *testing.T) {
	t.Parallel()
	m := root(t)
	f := kindtest.New(t, files.NewFile(m))
	c := config{"path": "/etc/x", "content": "x", "mode": "0600"}
	f.Apply(c)
	must(t, os.Chmod(m.Path("/etc/x"), 0o644))
	before := inode(t, m.Path("/etc/x")).Ino
	if a := f.Apply(c); len(a.Reasons) != 1 || a.Reasons[0].Path != "/mode" || string(a.Reasons[0].Have) != `"0644"` {
		t.Errorf("%+v", a.Reasons)
	}
	if s := inode(t, m.Path("/etc/x")); s.Ino != before || s.Mode&0o7777 != 0o600 {
		t.Error("a change of the mode alone replaced the file, or did nothing")
	}
}

// As by chown: a program that runs as its owner was chosen by the old one.
func TestFile_ANewOwnerRemovesSetuid(t *testing.T) {
	t.Parallel()
	m := root(t)
	f := kindtest.New(t, files.NewFile(m))
	is := func(want uint32) {
		t.Helper()
		if s := inode(t, m.Path("/etc/x")); s.Mode&0o7777 != want {
			t.Errorf("it is %o, and not %o", s.Mode, want)
		}
	}
	f.Apply(config{"path": "/etc/x", "content": "x", "mode": "6755", "owner": "www"})
	f.Apply(config{"path": "/etc/x", "content": "x", "mode": "6755", "owner": "root"})
	is(0o6755)
	f.Apply(config{"path": "/etc/x", "content": "y", "owner": "root"})
	is(0o6755)
	for _, content := range []string{"y", "z"} { // in place, and by a new file
		must(t, os.Chmod(m.Path("/etc/x"), 0o755|os.ModeSetuid|os.ModeSetgid))
		a := f.Apply(config{"path": "/etc/x", "content": content, "owner": map[string]string{"y": "www", "z": "root"}[content]})
		if !strings.Contains(string(a.Forecast), `"mode":"0755"`) || !strings.Contains(fmt.Sprint(a.Reasons), "the mode 6755 becomes 0755") {
			t.Errorf("the plan does not show it: %s %v", a.Forecast, a.Reasons)
		}
		is(0o755)
	}
	must(t, os.Chmod(m.Path("/etc/x"), 0o644|os.ModeSetgid)) // it has no program
	f.Apply(config{"path": "/etc/x", "owner": "www"})
	is(0o2644)
}

func TestFile_OwnerAndModeBeforeItIsVisible(t *testing.T) {
	t.Parallel()
	m := root(t)
	f := kindtest.New(t, files.NewFile(m))
	// The command that validates sees the file as it will be, beside its place.
	c := config{"path": "/etc/secret", "content": "s", "mode": "0600", "owner": "www", "group": "www",
		"validate": []string{"sh", "-c", `test "$(stat -c '%a %u %g' "$1")" = "600 33 34" && ! test -e "$2"`, "sh", "%s", m.Path("/etc/secret")}}
	f.Apply(c)
}

func TestFile_ValidateKeepsTheOldContent(t *testing.T) {
	t.Parallel()
	m := root(t)
	f := kindtest.New(t, files.NewFile(m))
	check := []string{"grep", "-q", "good", "%s"}
	f.Apply(config{"path": "/etc/x", "content": "good\n", "validate": check})
	f.Fails(config{"path": "/etc/x", "content": "bad\n", "validate": []string{"sh", "-c", "echo line 1: no; cat $0; exit 3", "%s"}},
		"the new content is not valid, and the file is unchanged", "exit status 3", "line 1: no")
	if text(t, m, "/etc/x") != "good\n" {
		t.Error("content that is not valid was written")
	}
	leaves(t, m, "/etc", "group", "passwd", "x")
	f.Fails(config{"path": "/etc/x", "content": "x", "validate": []string{"nginx", "-t"}}, "config", "/validate", "%s")
	f.Fails(config{"path": "/etc/x", "content": "x", "validate": []string{"no-such-program", "%s"}}, "there is no program no-such-program")
}

func TestFile_KeepsAttributes(t *testing.T) {
	t.Parallel()
	m := root(t)
	write(t, m, "/etc/x", "old")
	must(t, unix.Setxattr(m.Path("/etc/x"), "user.note", []byte("kept"), 0))
	// An access control list: user 33 may read and write.
	acl := []byte{2, 0, 0, 0, 1, 0, 6, 0, 255, 255, 255, 255, 2, 0, 6, 0, 33, 0, 0, 0, 4, 0, 4, 0, 255, 255, 255, 255,
		16, 0, 6, 0, 255, 255, 255, 255, 32, 0, 4, 0, 255, 255, 255, 255}
	hasLists := unix.Setxattr(m.Path("/etc/x"), "system.posix_acl_access", acl, 0) == nil
	kindtest.New(t, files.NewFile(m)).Apply(config{"path": "/etc/x", "content": "new"})
	got := make([]byte, 100)
	if n, err := unix.Getxattr(m.Path("/etc/x"), "user.note", got); err != nil || string(got[:n]) != "kept" {
		t.Errorf("user.note: %q %v", got[:max(n, 0)], err)
	}
	if n, err := unix.Getxattr(m.Path("/etc/x"), "system.posix_acl_access", got); hasLists && (err != nil || string(got[:n]) != string(acl)) {
		t.Errorf("the access control list: %v %v", got[:max(n, 0)], err)
	}
	if !hasLists {
		t.Log("this file system has no access control lists")
	}
}

func TestFile_LinkIsReplacedOrFollowed(t *testing.T) {
	t.Parallel()
	m := root(t)
	write(t, m, "/etc/target", "target")
	must(t, os.Symlink("target", m.Path("/etc/x")))
	f := kindtest.New(t, files.NewFile(m))
	f.Apply(config{"path": "/etc/x", "content": "followed", "follow": true})
	if text(t, m, "/etc/target") != "followed" || inode(t, m.Path("/etc/x")).Mode&unix.S_IFMT != unix.S_IFLNK {
		t.Error("the link was not followed")
	}
	f = kindtest.New(t, files.NewFile(m))
	a := f.Apply(config{"path": "/etc/x", "content": "ours"})
	if len(a.Reasons) != 1 || a.Reasons[0].Message != "it is a link to target, and is replaced by the file" {
		t.Errorf("%+v", a.Reasons)
	}
	if text(t, m, "/etc/target") != "followed" || text(t, m, "/etc/x") != "ours" {
		t.Error("the link was not replaced")
	}
	must(t, os.Symlink("loop", m.Path("/etc/loop")))
	f.Fails(config{"path": "/etc/loop", "content": "x", "follow": true}, "lead to no end")
	must(t, os.Symlink("later", m.Path("/etc/dangling")))
	f.Apply(config{"path": "/etc/dangling", "content": "made", "follow": true})
	if text(t, m, "/etc/later") != "made" {
		t.Error("where the link leads, nothing was made")
	}
}

func TestFile_LinksOfOthersAreNotFollowedElsewhere(t *testing.T) {
	t.Parallel()
	m := root(t)
	must(t, os.MkdirAll(m.Path("/home/u"), 0o755))
	must(t, os.Chown(m.Path("/home/u"), 33, 34))
	for name, target := range map[string]string{"x": "../../etc/passwd", "y": "../../etc/new", "z": "own"} {
		must(t, os.Symlink(target, m.Path("/home/u/"+name)))
		must(t, os.Lchown(m.Path("/home/u/"+name), 33, 34))
	}
	f := kindtest.New(t, files.NewFile(m))
	for _, name := range []string{"x", "y"} {
		f.Fails(config{"path": "/home/u/" + name, "content": "x", "owner": "www", "follow": true}, "/path", "link of user 33", "it is not followed")
	}
	f.Apply(config{"path": "/home/u/z", "content": "x", "owner": "www", "follow": true})
	if text(t, m, "/home/u/own") != "x" || inode(t, m.Path("/etc/passwd")).Uid != 0 {
		t.Error("it was not followed, or elsewhere")
	}
}

func TestFile_OtherObjectsAreErrors(t *testing.T) {
	t.Parallel()
	m := root(t)
	must(t, os.Mkdir(m.Path("/etc/directory"), 0o755))
	must(t, unix.Mkfifo(m.Path("/etc/pipe"), 0o600))
	must(t, unix.Mknod(m.Path("/etc/null"), unix.S_IFCHR|0o600, int(unix.Mkdev(1, 3))))
	for name, want := range map[string]string{"directory": "a directory", "pipe": "a named pipe", "null": "a device"} {
		f := kindtest.New(t, files.NewFile(m))
		f.Fails(config{"path": "/etc/" + name, "content": "x"}, "config", "/path", "is "+want+", and this resource is a file")
		f.Destroy(config{"path": "/etc/" + name, "content": "x"}) // it is not ours
		if _, err := os.Lstat(m.Path("/etc/" + name)); err != nil {
			t.Error(err)
		}
	}
}

func TestFile_MountIsWrittenInPlace(t *testing.T) {
	m := root(t)
	write(t, m, "/etc/x", "old old old")
	write(t, m, "/etc/mounted", "mounted content")
	if err := unix.Mount(m.Path("/etc/mounted"), m.Path("/etc/x"), "", unix.MS_BIND, ""); err != nil {
		t.Fatal(err)
	}
	defer func() { must(t, unix.Unmount(m.Path("/etc/x"), unix.MNT_DETACH)) }()
	f := kindtest.New(t, files.NewFile(m))
	c := config{"path": "/etc/x", "content": "new", "mode": "0600"}
	f.Fails(c, "/etc/x is a mount of its own", "set in_place = true")
	if text(t, m, "/etc/x") != "mounted content" {
		t.Error("it was changed")
	}
	leaves(t, m, "/etc", "group", "mounted", "passwd", "x")
	c["in_place"], c["backup"] = true, true
	f.Apply(c)
	if text(t, m, "/etc/mounted") != "new" || text(t, m, "/etc/x.deployster-backup") != "mounted content" {
		t.Error("it was not written in place, or not kept")
	}
}

func TestFile_BackupKeepsTheOldFile(t *testing.T) {
	t.Parallel()
	m := root(t)
	f := kindtest.New(t, files.NewFile(m))
	c := config{"path": "/etc/x", "content": "one", "backup": true, "mode": "0600"}
	f.Apply(c)
	leaves(t, m, "/etc", "group", "passwd", "x")
	c["content"] = "two"
	f.Apply(c)
	c["content"] = "three"
	f.Apply(c)
	if got := text(t, m, "/etc/x.deployster-backup"); got != "two" {
		t.Errorf("%q", got)
	}
}

func TestFile_SourceIsComparedByItsSum(t *testing.T) {
	t.Parallel()
	m := root(t)
	source := filepath.Join(t.TempDir(), "source")
	must(t, os.WriteFile(source, []byte("\x00binary\xff"), 0o600))
	f := kindtest.New(t, files.NewFile(m))
	c := config{"path": "/etc/x", "source": source}
	f.Apply(c)
	if text(t, m, "/etc/x") != "\x00binary\xff" {
		t.Error("it has other content")
	}
	must(t, os.WriteFile(source, []byte("other"), 0o600))
	if a := f.Apply(c); len(a.Reasons) != 1 || a.Reasons[0].Path != "/source" || !strings.Contains(a.Reasons[0].Message, "sha256") {
		t.Errorf("%+v", a.Reasons)
	}
	f.Fails(config{"path": "/etc/x", "source": source, "content": "x"}, "exclude each other")
	f.Fails(config{"path": "/etc/x", "source": "/no/such"}, "/source", "cannot be read")
}

func TestFile_ContentStaysOutOfStateAndOtherReasons(t *testing.T) {
	t.Parallel()
	m := root(t)
	write(t, m, "/etc/x", "the old password")
	f := kindtest.New(t, files.NewFile(m))
	a := f.State(config{"path": "/etc/x", "content": "the new password", "mode": "0600"})
	for i, r := range a.Reasons { // deployster masks both values of the reason at /content if that is sensitive
		if r.Path != "/content" && strings.Contains(fmt.Sprint(string(r.Have), string(r.Want), r.Message), "password") {
			t.Errorf("reason %d holds the content", i)
		}
	}
	whole, _ := json.Marshal([]any{a.StaleState, a.Forecast, a.Actions})
	if strings.Contains(string(whole), "password") {
		t.Errorf("%s", whole)
	}
	f.Apply(config{"path": "/etc/x", "content": "the new password"})
	if strings.Contains(string(f.Last), "password") || strings.Contains(f.Log.String(), "password") {
		t.Errorf("%s %s", f.Last, f.Log.String())
	}
}

func TestFile_PathsAreRefused(t *testing.T) {
	t.Parallel()
	m := root(t)
	must(t, os.MkdirAll(m.Path("/var/lib/deployster"), 0o700))
	must(t, os.Symlink("../var/lib/deployster", m.Path("/etc/inside")))
	f := kindtest.New(t, files.NewFile(m))
	for path, want := range map[string]string{
		"/etc/../x":              "not in its shortest form",
		"/etc/x/":                "not in its shortest form",
		"/":                      "not managed",
		"/var/lib/deployster/x":  "data directory",
		"/var/lib/deployster":    "data directory",
		"/etc/inside/x":          "data directory",
		"/etc/inside/not/yet/it": "data directory",
	} {
		f.Fails(config{"path": path, "content": "x"}, "config", "/path", want)
	}
	must(t, os.Symlink("/var/lib/deployster/key", m.Path("/etc/key")))
	f.Fails(config{"path": "/etc/key", "content": "x", "follow": true}, "data directory")
}

func TestFile_IsPlannedBeforeItsDirectoryAndOwner(t *testing.T) {
	t.Parallel()
	m := root(t)
	f := kindtest.New(t, files.NewFile(m))
	c := config{"path": "/srv/site/x", "content": "x", "owner": "later", "group": "later"}
	a := f.State(c)
	if a.Status != "STALE" || a.Actions[0].Name != "create" || len(a.Reasons) != 2 || a.Reasons[0].Path != "/owner" {
		t.Errorf("%+v", a)
	}
	f.Fails(c, "there is no user later on this machine")
	f.Fails(config{"path": "/srv/site/x", "content": "x"}, "the directory /srv/site does not exist")
	f.Fails(config{"path": "/etc/passwd/x", "content": "x"}, "/etc/passwd is a file, not a directory")
}

func TestFile_UnknownContentIsExpectedToDiffer(t *testing.T) {
	t.Parallel()
	m := root(t)
	write(t, m, "/etc/x", "old")
	f := kindtest.New(t, files.NewFile(m))
	a := f.StateUnknown(config{"path": "/etc/x", "content": nil, "mode": "0644"}, "/content")
	if a.Status != "STALE" || a.Actions[0].Name != "update" || len(a.Reasons) != 1 || a.Reasons[0].Path != "/content" {
		t.Errorf("%+v", a)
	}
	a = f.StateUnknown(config{"path": "/etc/y", "content": nil}, "/content")
	if a.Status != "STALE" || a.Actions[0].Name != "create" {
		t.Errorf("%+v", a)
	}
}

func TestFile_IsDiscovered(t *testing.T) {
	t.Parallel()
	m := root(t)
	must(t, os.MkdirAll(m.Path("/etc/app/sub"), 0o755))
	write(t, m, "/etc/app/a", "a")
	write(t, m, "/etc/app/sub/b", "\xff")
	f := kindtest.New(t, files.NewFile(m))
	found := f.Discover(config{"directory": "/etc/app"})
	if len(found) != 2 || found[0]["path"] != "/etc/app/a" || found[0]["content"] != "a" || found[0]["mode"] != "0644" || found[1]["content"] != nil {
		t.Errorf("%v", found)
	}
	for _, c := range found {
		if a := kindtest.New(t, files.NewFile(m)).State(c); a.Status != "VALID" {
			t.Errorf("%v: %+v", c, a)
		}
	}
	if found := f.Discover(config{"prefix": "/etc/app/s"}); len(found) != 1 {
		t.Errorf("%v", found)
	}
	if found := f.Discover(config{}); len(found) != 0 {
		t.Errorf("%v", found)
	}
}

func TestFile_IsWatchedWhereItsLinksLead(t *testing.T) {
	t.Parallel()
	m := root(t)
	must(t, os.Symlink("b", m.Path("/etc/a")))
	must(t, os.Symlink("c", m.Path("/etc/b")))
	events := kindtest.New(t, files.NewFile(m)).Watch(config{"path": "/etc/a", "content": "x", "follow": true})
	for i, change := range []func() error{
		func() error { return os.WriteFile(m.Path("/etc/c"), []byte("x"), 0o600) },
		func() error { return errors.Join(os.Remove(m.Path("/etc/b")), os.Symlink("d", m.Path("/etc/b"))) },
		func() error { return os.WriteFile(m.Path("/etc/d"), []byte("x"), 0o600) },
	} {
		for quiet := false; !quiet; {
			select {
			case <-events:
			case <-time.After(50 * time.Millisecond):
				quiet = true
			}
		}
		must(t, change())
		select {
		case <-events:
		case <-time.After(time.Minute):
			t.Fatalf("change %d was not reported", i)
		}
	}
}

func TestFile_IsWatched(t *testing.T) {
	t.Parallel()
	m := root(t)
	f := kindtest.New(t, files.NewFile(m))
	events := f.Watch(config{"path": "/srv/site/x", "content": "x"})
	must(t, os.MkdirAll(m.Path("/srv/site"), 0o755))
	<-events
	write(t, m, "/srv/site/x", "x")
	<-events
	must(t, os.RemoveAll(m.Path("/srv")))
	<-events
}
