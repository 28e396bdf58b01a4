package content_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"deployster/machine/internal/content"
	"deployster/machine/internal/kindtest"
)

// A newer source has a directory where an older one had a file or a link, and a file where that had directories.
func TestTree_FilesAndDirectoriesTakePlaces(t *testing.T) {
	t.Parallel()
	m := machine(t)
	r := kindtest.New(t, content.NewTree(m))
	c := config{"path": "/srv/site", "source": source(t, m, map[string]string{"a": "a", "b/c/d": "d", "b/empty/": "", "l": "->/etc", "same/f": "f"})}
	r.Apply(c)
	for _, next := range []map[string]string{{"a/b": "ab", "b": "b", "l/x": "x", "same/f": "f"}, {"a/b/c": "c", "b": "->a", "l/x/y/": "", "same": "s"}} {
		c["source"] = source(t, m, next)
		if a := r.Apply(c); a.Actions[0].Destructive {
			t.Errorf("what came from an earlier source is in the way: %+v", a)
		}
	}
	if got := listing(t, m.Path("/srv/site")); !slices.Equal(got, []string{"a 755", "a/b 755", "a/b/c 644 c", "b 777", "l 755", "l/x 755",
		"l/x/y 755", "same 644 s"}) {
		t.Errorf("%q", got)
	}
	r.Destroy(c)
	if got := listing(t, m.Path("/srv")); len(got) != 0 {
		t.Errorf("%q is left", got)
	}
}

// What others put in the place of a directory or below that of a file is an error of the plan, and goes first with `delete`. A link
// is removed, and not what it leads to.
func TestTree_OthersInThePlaceOfItsOwn(t *testing.T) {
	t.Parallel()
	m := machine(t)
	r := kindtest.New(t, content.NewTree(m))
	c := config{"path": "/srv/site", "source": source(t, m, map[string]string{"a": "a", "d/x": "x"})}
	r.Apply(c)
	must(t, os.RemoveAll(m.Path("/srv/site/d")))
	must(t, os.Mkdir(m.Path("/srv/theirs"), 0o755))
	must(t, os.WriteFile(m.Path("/srv/theirs/x"), []byte("theirs"), 0o600))
	must(t, os.Symlink("../theirs", m.Path("/srv/site/d")))
	must(t, os.Remove(m.Path("/srv/site/a")))
	must(t, os.MkdirAll(m.Path("/srv/site/a/deep"), 0o755))
	must(t, os.WriteFile(m.Path("/srv/site/a/deep/y"), nil, 0o600))
	if a := r.State(c); a.Error == nil || !strings.Contains(a.Error.Message, "/srv/site/a/deep/y came from others") {
		t.Errorf("%+v", a)
	}
	c["delete"] = true
	if a := r.Apply(c); !a.Actions[0].Destructive || !strings.Contains(a.Actions[0].Description, "a/deep/y, d") {
		t.Errorf("%+v", a)
	}
	must(t, os.Remove(m.Path("/srv/.site.deployster-tree")))
	if got := listing(t, m.Path("/srv")); !slices.Equal(got, []string{"site 755", "site/a 644 a", "site/d 755", "site/d/x 644 x", "theirs 755",
		"theirs/x 600 theirs"}) {
		t.Errorf("%q", got)
	}
}

// After an update that failed, what others put there is still theirs: its removal is destructive in the next plan, too, and a
// destroy without `delete` keeps it.
func TestTree_OthersStayOthersAfterAFailure(t *testing.T) {
	t.Parallel()
	m := machine(t)
	r := kindtest.New(t, content.NewTree(m))
	c := config{"path": "/srv/site", "source": source(t, m, map[string]string{"a": "a", "b": "b"}), "delete": true}
	r.Apply(c)
	must(t, os.WriteFile(m.Path("/srv/site/upload"), []byte("theirs"), 0o600))
	must(t, os.Remove(m.Path("/srv/site/b")))
	must(t, os.Mkdir(m.Path("/srv/site/b"), 0o755)) // an empty directory is nobody's file
	r.Fails(c, "is a directory, and is not replaced by a file")
	if a := r.State(c); !a.Actions[0].Destructive || !strings.Contains(a.Actions[0].Description, "upload") {
		t.Errorf("%+v", a)
	}
	delete(c, "delete")
	if a := r.Destroy(c); a.Actions[0].Destructive {
		t.Errorf("%+v", a)
	}
	if got := listing(t, m.Path("/srv/site")); !slices.Equal(got, []string{"b 755", "upload 600 theirs"}) {
		t.Errorf("%q", got)
	}
}

// A directory that somebody has replaced by a link is theirs: a removal takes nothing from where it leads.
func TestTree_LinksAreNotFollowed(t *testing.T) {
	t.Parallel()
	m := machine(t)
	r := kindtest.New(t, content.NewTree(m))
	c := config{"path": "/srv/site", "source": source(t, m, map[string]string{"a": "a", "d/x": "x", "d/empty/": ""})}
	r.Apply(c)
	must(t, os.Rename(m.Path("/srv/site/d"), m.Path("/srv/theirs")))
	must(t, os.Symlink("../theirs", m.Path("/srv/site/d")))
	r.Destroy(c)
	if got := listing(t, m.Path("/srv")); !slices.Equal(got, []string{"site 755", "site/d 777", "theirs 755", "theirs/empty 755", "theirs/x 644 x"}) {
		t.Errorf("%q", got)
	}
}
