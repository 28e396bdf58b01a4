package text_test

import (
	"os"
	"strings"
	"testing"

	"deployster/machine/internal/access"
	"deployster/machine/internal/kindtest"
	"deployster/machine/internal/text"
)

type config = kindtest.Config

// file returns a machine with one file at /etc/x.
func file(t *testing.T, content string) *access.Machine {
	t.Helper()
	m := &access.Machine{Root: t.TempDir()}
	must(t, os.MkdirAll(m.Path("/etc"), 0o755))
	must(t, os.WriteFile(m.Path("/etc/x"), []byte(content), 0o640))
	must(t, os.Chown(m.Path("/etc/x"), 33, 34))
	return m
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// holds wants this content, and the owner and mode from before.
func holds(t *testing.T, m *access.Machine, want string) {
	t.Helper()
	got, err := os.ReadFile(m.Path("/etc/x"))
	must(t, err)
	if string(got) != want {
		t.Errorf("it holds %q, and should hold %q", got, want)
	}
	if info, err := os.Stat(m.Path("/etc/x")); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	entries, err := os.ReadDir(m.Path("/etc"))
	if must(t, err); len(entries) != 1 {
		t.Errorf("%v", entries)
	}
}

func TestLine_Edits(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ before, line, match, after, first, want, removed string }{
		"is added at the end":          {"a\nb\n", "c", "", "", "", "a\nb\nc\n", "a\nb\n"},
		"keeps a missing last newline": {"a\nb", "c", "", "", "", "a\nb\nc", "a\nb"},
		"is added to an empty file":    {"", "c", "", "", "", "c\n", ""},
		"is there already":             {"a\nc\nb\n", "c", "", "", "", "a\nc\nb\n", "a\nb\n"},
		"replaces what matches":        {"a\n#c=1\nb\n", "c=2", "^#?c=", "", "", "a\nc=2\nb\n", "a\nb\n"},
		"replaces the last line":       {"a\nc=1", "c=2", "^c=", "", "", "a\nc=2", "a"},
		"keeps CRLF":                   {"a\r\nc=1\r\n", "c=2", "^c=", "", "", "a\r\nc=2\r\n", "a\r\n"},
		"goes after":                   {"a1\na2\nb\n", "c", "", "^a", "", "a1\na2\nc\nb\n", "a1\na2\nb\n"},
		"goes before":                  {"a1\na2\nb\n", "c", "", "", "^a", "c\na1\na2\nb\n", "a1\na2\nb\n"},
		"goes after the last line":     {"b\na", "c", "", "^a", "", "b\na\nc", "b\na"},
		"keeps bytes that are no text": {"\xff\x00\n\n\n", "c", "", "", "", "\xff\x00\n\n\nc\n", "\xff\x00\n\n\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := file(t, c.before)
			l := kindtest.New(t, text.NewLine(m))
			cfg := config{"path": "/etc/x", "id": "x", "line": c.line}
			for key, value := range map[string]string{"match": c.match, "after": c.after, "before": c.first} {
				if value != "" {
					cfg[key] = value
				}
			}
			l.Apply(cfg)
			holds(t, m, c.want)
			l.Apply(cfg)
			holds(t, m, c.want)
			l.Destroy(cfg)
			holds(t, m, c.removed)
			l.Destroy(cfg)
		})
	}
}

func TestLine_MatchThatMissesItsOwnLineIsRefused(t *testing.T) {
	t.Parallel()
	m := file(t, "Port 22\n")
	l := kindtest.New(t, text.NewLine(m))
	l.Fails(config{"path": "/etc/x", "id": "x", "line": "Listen 2222", "match": "^Port"}, "config", "/match", "does not match the line itself")
	l.Fails(config{"path": "/etc/x", "id": "x", "line": "Port 1", "match": "^Port ("}, "config", "/match", "not a valid regular expression")
	holds(t, m, "Port 22\n")
}

func TestLine_SeveralMatchesAreRefused(t *testing.T) {
	t.Parallel()
	m := file(t, "#Port 22\nx\nPort 22\n")
	l := kindtest.New(t, text.NewLine(m))
	l.Fails(config{"path": "/etc/x", "id": "x", "line": "Port 2222", "match": "^#?Port"}, "config", "/match", "2 lines match", "1, 3")
	l.Apply(config{"path": "/etc/x", "id": "x", "line": "Port 22", "match": "^#?Port"}) // it is there
	l.Apply(config{"path": "/etc/x", "id": "x", "line": "Port 2222", "match": "^Port"})
	holds(t, m, "#Port 22\nx\nPort 2222\n")
}

func TestLine_ChangedLineReplacesItsFormerSelf(t *testing.T) {
	t.Parallel()
	m := file(t, "a\nb\n")
	l := kindtest.New(t, text.NewLine(m))
	l.Apply(config{"path": "/etc/x", "id": "x", "line": "one", "after": "^a"})
	a := l.Apply(config{"path": "/etc/x", "id": "x", "line": "two"})
	if a.Actions[0].Name != "update" || len(a.Reasons) != 1 || string(a.Reasons[0].Have) != `"one"` {
		t.Errorf("%+v", a)
	}
	holds(t, m, "a\ntwo\nb\n")
}

func TestLine_DriftIsNoticed(t *testing.T) {
	t.Parallel()
	m := file(t, "a\n")
	l := kindtest.New(t, text.NewLine(m))
	c := config{"path": "/etc/x", "id": "x", "line": "c=1", "match": "^c="}
	l.Apply(c)
	must(t, os.WriteFile(m.Path("/etc/x"), []byte("a\nc=9\n"), 0o640))
	if a := l.Apply(c); len(a.Reasons) != 1 || a.Reasons[0].Path != "/line" || string(a.Reasons[0].Have) != `"c=9"` {
		t.Errorf("%+v", a)
	}
	must(t, os.WriteFile(m.Path("/etc/x"), []byte("c=9\n"), 0o640))
	l.Destroy(c) // another line is in its place, which is not ours
	holds(t, m, "c=9\n")
}

func TestLine_PlaceMustExist(t *testing.T) {
	t.Parallel()
	m := file(t, "a\n")
	l := kindtest.New(t, text.NewLine(m))
	l.Fails(config{"path": "/etc/x", "id": "x", "line": "c", "after": "^zz"}, "config", "/after", `no line of the file matches "^zz"`)
	l.Fails(config{"path": "/etc/x", "id": "x", "line": "c", "before": "^zz"}, "config", "/before")
	l.Fails(config{"path": "/etc/x", "id": "x", "line": "c", "before": "a", "after": "a"}, "exclude each other")
	holds(t, m, "a\n")
}

func TestLine_FileMustExistWhenItActs(t *testing.T) {
	t.Parallel()
	m := file(t, "a\n")
	for _, path := range []string{"/etc/later", "/srv/later/x"} {
		l := kindtest.New(t, text.NewLine(m))
		c := config{"path": path, "id": "x", "line": "c", "after": "^zz"}
		if a := l.State(c); a.Status != "STALE" || a.Actions[0].Name != "create" || a.Reasons[0].Message != "the file "+path+" does not exist yet" {
			t.Errorf("%+v", a)
		}
		l.Fails(c, path+" does not exist")
		l.Destroy(c)
	}
	must(t, os.Mkdir(m.Path("/etc/d"), 0o755))
	kindtest.New(t, text.NewLine(m)).Fails(config{"path": "/etc/d", "id": "x", "line": "c"}, "/path", "not a regular file")
	kindtest.New(t, text.NewLine(m)).Fails(config{"path": "/var/lib/deployster/x", "id": "x", "line": "c"}, "data directory")
}

func TestLine_ValidateKeepsTheOldContent(t *testing.T) {
	t.Parallel()
	m := file(t, "good\n")
	l := kindtest.New(t, text.NewLine(m))
	l.Fails(config{"path": "/etc/x", "id": "x", "line": "bad", "validate": []string{"sh", "-c", "! grep bad $0", "%s"}}, "is unchanged")
	holds(t, m, "good\n")
}

func TestLine_LinkIsFollowed(t *testing.T) {
	t.Parallel()
	m := file(t, "a\n")
	must(t, os.Mkdir(m.Path("/srv"), 0o755))
	must(t, os.Symlink("../etc/x", m.Path("/srv/x")))
	kindtest.New(t, text.NewLine(m)).Apply(config{"path": "/srv/x", "id": "x", "line": "c"})
	holds(t, m, "a\nc\n")
}

// Parts of one file are changed by many at once, and none is lost.
func TestLine_ManyAtOnceLoseNothing(t *testing.T) {
	t.Parallel()
	m := file(t, "")
	done := make(chan bool)
	for i := range 20 {
		go func() {
			defer func() { done <- true }()
			kindtest.New(t, text.NewLine(m)).Apply(config{"path": "/etc/x", "id": "x", "line": strings.Repeat("x", i+1)})
		}()
	}
	for range 20 {
		<-done
	}
	got, err := os.ReadFile(m.Path("/etc/x"))
	if must(t, err); strings.Count(string(got), "\n") != 20 {
		t.Errorf("%q", got)
	}
}

func TestLine_IsWatched(t *testing.T) {
	t.Parallel()
	m := file(t, "")
	events := kindtest.New(t, text.NewLine(m)).Watch(config{"path": "/etc/x", "id": "x", "line": "c"})
	must(t, os.WriteFile(m.Path("/etc/x"), []byte("c"), 0o640))
	<-events
}

func TestBlock_IsMadeChangedAndRemoved(t *testing.T) {
	t.Parallel()
	m := file(t, "a\nb")
	b := kindtest.New(t, text.NewBlock(m))
	c := config{"path": "/etc/x", "id": "web-1", "content": "one\ntwo\n", "before": "^b"}
	b.Apply(c)
	holds(t, m, "a\n# BEGIN deployster web-1\none\ntwo\n# END deployster web-1\nb")
	c["content"] = "three"
	if a := b.Apply(c); len(a.Reasons) != 1 || a.Reasons[0].Path != "/content" {
		t.Errorf("%+v", a)
	}
	holds(t, m, "a\n# BEGIN deployster web-1\nthree\n# END deployster web-1\nb")
	c["content"] = ""
	b.Apply(c)
	holds(t, m, "a\n# BEGIN deployster web-1\n# END deployster web-1\nb")
	b.Destroy(c)
	holds(t, m, "a\nb")
	b.Destroy(c)
}

func TestBlock_CommentsMayHaveAnEnd(t *testing.T) {
	t.Parallel()
	m := file(t, "<x>\r\n</x>\r\n")
	b := kindtest.New(t, text.NewBlock(m))
	c := config{"path": "/etc/x", "id": "a", "content": "<y/>\n", "comment": "<!-- -->", "after": "<x>"}
	b.Apply(c)
	holds(t, m, "<x>\r\n<!-- BEGIN deployster a -->\r\n<y/>\r\n<!-- END deployster a -->\r\n</x>\r\n")
	b.Destroy(c)
	holds(t, m, "<x>\r\n</x>\r\n")
}

func TestBlock_AnotherCommentIsTheSameBlock(t *testing.T) {
	t.Parallel()
	m := file(t, "a\n")
	b := kindtest.New(t, text.NewBlock(m))
	b.Apply(config{"path": "/etc/x", "id": "a.b", "content": "x"})
	a := b.Apply(config{"path": "/etc/x", "id": "a.b", "content": "x", "comment": "/* */"})
	if len(a.Reasons) != 1 || a.Reasons[0].Path != "/comment" || string(a.Reasons[0].Have) != `"#"` {
		t.Errorf("%+v", a.Reasons)
	}
	holds(t, m, "a\n/* BEGIN deployster a.b */\nx\n/* END deployster a.b */\n")
	b.Destroy(config{"path": "/etc/x", "id": "a.b", "content": "x"})
	holds(t, m, "a\n")
}

func TestBlock_BrokenMarksAreRefused(t *testing.T) {
	t.Parallel()
	const begin, end = "# BEGIN deployster a\n", "# END deployster a\n"
	for content, want := range map[string]string{
		begin + end + begin + end: "more than once, in lines 1, 3",
		begin + "x\n":             "is broken",
		"x\n" + end:               "is broken",
		end + begin:               "is broken",
		begin + end + end:         "is broken",
	} {
		m := file(t, content)
		b := kindtest.New(t, text.NewBlock(m))
		b.Fails(config{"path": "/etc/x", "id": "a", "content": "y"}, "config", "/id", want)
		b.DestroyFails(config{"path": "/etc/x", "id": "a", "content": "y"}, "config", "/id", want)
		holds(t, m, content)
	}
}

func TestBlock_ContentMayNotHoldItsMarks(t *testing.T) {
	t.Parallel()
	m := file(t, "")
	b := kindtest.New(t, text.NewBlock(m))
	b.Fails(config{"path": "/etc/x", "id": "a", "content": "x\n# END deployster a\n"}, "config", "/content")
	b.Fails(config{"path": "/etc/x", "id": "a", "content": "x", "comment": " "}, "config", "/comment")
	b.Apply(config{"path": "/etc/x", "id": "a", "content": "x\n# END deployster ab\n"})
}
