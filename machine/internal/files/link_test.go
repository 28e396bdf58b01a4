package files_test

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"deployster/machine/internal/files"
	"deployster/machine/internal/kindtest"
)

func TestLink_IsMadeChangedAndRemoved(t *testing.T) {
	t.Parallel()
	m := root(t)
	l := kindtest.New(t, files.NewLink(m))
	c := config{"path": "/etc/x", "target": "passwd"}
	l.Apply(c)
	if got, err := os.Readlink(m.Path("/etc/x")); err != nil || got != "passwd" {
		t.Errorf("%q %v", got, err)
	}
	c["target"] = "/not/there"
	if a := l.Apply(c); a.Actions[0].Destructive || len(a.Reasons) != 1 || a.Reasons[0].Path != "/target" {
		t.Errorf("%+v", a)
	}
	l.Destroy(c)
	l.Destroy(c)
	leaves(t, m, "/etc", "group", "passwd")
	l.Fails(config{"path": "/srv/x", "target": "y"}, "the directory /srv does not exist")
}

func TestLink_FileIsReplacedOnlyOnDemand(t *testing.T) {
	t.Parallel()
	m := root(t)
	write(t, m, "/etc/x", "a file")
	must(t, os.Mkdir(m.Path("/etc/directory"), 0o755))
	l := kindtest.New(t, files.NewLink(m))
	l.Fails(config{"path": "/etc/x", "target": "y"}, "/path", "set replace = true")
	l.Fails(config{"path": "/etc/directory", "target": "y", "replace": true}, "is a directory, and is not replaced")
	l.Destroy(config{"path": "/etc/x", "target": "y"})
	if text(t, m, "/etc/x") != "a file" {
		t.Error("the file has gone")
	}
	a := l.Apply(config{"path": "/etc/x", "target": "y", "replace": true})
	if !a.Actions[0].Destructive || a.Actions[0].Name != "replace" {
		t.Errorf("%+v", a.Actions)
	}
	leaves(t, m, "/etc", "directory", "group", "passwd", "x")
}

func TestLink_IsDiscoveredAndWatched(t *testing.T) {
	t.Parallel()
	m := root(t)
	must(t, os.Symlink("passwd", m.Path("/etc/x")))
	l := kindtest.New(t, files.NewLink(m))
	if found := l.Discover(config{"directory": "/etc"}); len(found) != 1 || found[0]["target"] != "passwd" {
		t.Errorf("%v", found)
	}
	events := l.Watch(config{"path": "/etc/x", "target": "passwd"})
	must(t, unix.Unlink(m.Path("/etc/x")))
	<-events
}
