package files_test

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"deployster/machine/internal/files"
	"deployster/machine/internal/kindtest"
)

func TestDirectory_IsMadeChangedAndRemoved(t *testing.T) {
	t.Parallel()
	m := root(t)
	d := kindtest.New(t, files.NewDirectory(m))
	c := config{"path": "/etc/app", "mode": "2770", "group": "www"}
	d.Apply(c)
	if s := inode(t, m.Path("/etc/app")); s.Mode&0o7777 != 0o2770 || s.Gid != 34 {
		t.Errorf("%o %d", s.Mode, s.Gid)
	}
	c["mode"], c["owner"] = "0700", "www"
	if a := d.Apply(c); a.Actions[0].Name != "update" || len(a.Reasons) != 2 {
		t.Errorf("%+v", a)
	}
	d.Destroy(c)
	d.Destroy(c)
	leaves(t, m, "/etc", "group", "passwd")
}

func TestDirectory_ParentsAreMadeOnDemand(t *testing.T) {
	t.Parallel()
	m := root(t)
	d := kindtest.New(t, files.NewDirectory(m))
	d.Fails(config{"path": "/srv/a/b"}, "the directory /srv/a does not exist")
	d.Apply(config{"path": "/srv/a/b", "parents": true, "mode": "0700"})
	if a, b := inode(t, m.Path("/srv/a")), inode(t, m.Path("/srv/a/b")); a.Mode&0o7777 != 0o755 || b.Mode&0o7777 != 0o700 {
		t.Errorf("%o %o", a.Mode, b.Mode)
	}
	leaves(t, m, "/srv/a", "b")
}

func TestDirectory_ManyMakeOneParent(t *testing.T) {
	t.Parallel()
	m := root(t)
	done := make(chan bool)
	for i := range 20 {
		go func() {
			defer func() { done <- true }()
			kindtest.New(t, files.NewDirectory(m)).Apply(config{"path": "/srv/a/b/" + strconv.Itoa(i), "parents": true})
		}()
	}
	for range 20 {
		<-done
	}
}

func TestDirectory_IsRemovedOnlyWhenEmpty(t *testing.T) {
	t.Parallel()
	m := root(t)
	d := kindtest.New(t, files.NewDirectory(m))
	c := config{"path": "/etc/app"}
	d.Apply(c)
	write(t, m, "/etc/app/x", "")
	d.DestroyFails(c, "is not empty", "it holds x", "recursive = true")
	if text(t, m, "/etc/app/x") != "" {
		t.Error("it was removed")
	}
	c["recursive"] = true
	outside := m.Path("/etc/outside")
	must(t, os.Mkdir(outside, 0o755))
	write(t, m, "/etc/outside/y", "kept")
	must(t, os.Symlink("../outside", m.Path("/etc/app/link")))
	if a := d.Destroy(c); !a.Actions[0].Destructive || !strings.Contains(a.Actions[0].Description, "link, x") {
		t.Errorf("%+v", a.Actions)
	}
	leaves(t, m, "/etc", "group", "outside", "passwd")
	leaves(t, m, "/etc/outside", "y")
}

func TestDirectory_MountsAreNotEmptied(t *testing.T) {
	m := root(t)
	d := kindtest.New(t, files.NewDirectory(m))
	c := config{"path": "/etc/app", "recursive": true}
	d.Apply(c)
	must(t, os.MkdirAll(m.Path("/etc/app/mount"), 0o755))
	must(t, os.MkdirAll(m.Path("/etc/outside"), 0o755))
	write(t, m, "/etc/outside/y", "kept")
	must(t, unix.Mount(m.Path("/etc/outside"), m.Path("/etc/app/mount"), "", unix.MS_BIND, ""))
	defer func() { must(t, unix.Unmount(m.Path("/etc/app/mount"), unix.MNT_DETACH)) }()
	must(t, os.Symlink("etc", m.Path("/link")))
	d.DestroyFails(c, "holds a mount at", "unmount it first")
	d.DestroyFails(config{"path": "/link/app", "recursive": true}, "holds a mount at")
	leaves(t, m, "/etc/outside", "y")
}

func TestDirectory_SystemDirectoriesAreNotRemovedWithAll(t *testing.T) {
	t.Parallel()
	m := root(t)
	d := kindtest.New(t, files.NewDirectory(m))
	for _, path := range []string{"/etc", "/usr", "/var/lib", "/home"} {
		d.Fails(config{"path": path, "recursive": true}, "/recursive", "belongs to the system")
	}
}

func TestDirectory_OtherObjectsAreErrors(t *testing.T) {
	t.Parallel()
	m := root(t)
	write(t, m, "/etc/file", "")
	must(t, os.Symlink("nowhere", m.Path("/etc/dangling")))
	d := kindtest.New(t, files.NewDirectory(m))
	d.Fails(config{"path": "/etc/file"}, "/path", "is a file, and this resource is a directory")
	d.Fails(config{"path": "/etc/dangling"}, "/path", "target does not exist")
	d.Destroy(config{"path": "/etc/file"})
	leaves(t, m, "/etc", "dangling", "file", "group", "passwd")
}

// A user puts a link in place of a directory of theirs: root does not give where it leads to them.
func TestDirectory_LinksOfOthersGiveNothingAway(t *testing.T) {
	t.Parallel()
	m := root(t)
	must(t, os.MkdirAll(m.Path("/home/u"), 0o755))
	must(t, os.Symlink("../../etc", m.Path("/home/u/x")))
	must(t, os.Lchown(m.Path("/home/u/x"), 33, 34))
	d := kindtest.New(t, files.NewDirectory(m))
	d.Fails(config{"path": "/home/u/x", "owner": "www"}, "user 33 has put a link to ../../etc on the way", "it is not followed")
	d.Fails(config{"path": "/home/u/x/new", "owner": "www"}, "it is not followed")
	if s := inode(t, m.Path("/etc")); s.Uid != 0 {
		t.Error("it was given away")
	}
	must(t, os.Lchown(m.Path("/home/u/x"), 0, 0))
	d.Apply(config{"path": "/home/u/x", "mode": "0700"})
}

func TestDirectory_IsDiscoveredAndWatched(t *testing.T) {
	t.Parallel()
	m := root(t)
	must(t, os.MkdirAll(m.Path("/etc/app/sub"), 0o755))
	d := kindtest.New(t, files.NewDirectory(m))
	if found := d.Discover(config{"prefix": "/etc/a"}); len(found) != 2 || found[1]["path"] != "/etc/app/sub" {
		t.Errorf("%v", found)
	}
	events := d.Watch(config{"path": "/etc/app"})
	must(t, os.Chmod(m.Path("/etc/app"), 0o700))
	<-events
}
