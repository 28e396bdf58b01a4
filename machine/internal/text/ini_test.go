package text_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"deployster/machine/internal/kindtest"
	"deployster/machine/internal/text"
)

func TestINI_Edits(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ before, section, key, value, want, removed string }{
		"changes a value":              {"[a]\nk=1\n[b]\nk=1\n", "b", "k", "2", "[a]\nk=1\n[b]\nk=2\n", "[a]\nk=1\n[b]\n"},
		"keeps the spacing":            {"[a]\n  k  :   1\nx=y\n", "a", "k", "2", "[a]\n  k  :   2\nx=y\n", "[a]\nx=y\n"},
		"is added as its neighbours":   {"[a]\n\tx = 1\n\n# about b\n[b]\n", "a", "k", "2", "[a]\n\tx = 1\n\tk = 2\n\n# about b\n[b]\n", "[a]\n\tx = 1\n\n# about b\n[b]\n"},
		"is added without blanks":      {"[a]\nx=1\n", "a", "k", "2", "[a]\nx=1\nk=2\n", "[a]\nx=1\n"},
		"is added after its comment":   {"[a]\nx=1\n;k = 9\ny=1\n", "a", "k", "2", "[a]\nx=1\n;k = 9\nk=2\ny=1\n", "[a]\nx=1\n;k = 9\ny=1\n"},
		"is added to an empty section": {"[a]\n\n[b]\nx=1\n", "a", "k", "2", "[a]\nk=2\n\n[b]\nx=1\n", "[a]\n\n[b]\nx=1\n"},
		"makes its section":            {"[b]\nx = 1", "a", "k", "2", "[b]\nx = 1\n\n[a]\nk = 2", "[b]\nx = 1\n\n[a]"},
		"makes an empty file":          {"", "a", "k", "2", "[a]\nk = 2\n", "[a]\n"},
		"needs no section":             {"x = 1\n[a]\nk = 3\n", "", "k", "2", "x = 1\nk = 2\n[a]\nk = 3\n", "x = 1\n[a]\nk = 3\n"},
		"keeps CRLF":                   {"[a]\r\nk=1\r\n", "a", "k", "2", "[a]\r\nk=2\r\n", "[a]\r\n"},
		"fills an empty value":         {"[a]\nk =\n", "a", "k", "2", "[a]\nk = 2\n", "[a]\n"},
		"gets an empty value":          {"[a]\nk = 1\nl = 1\n", "a", "k", "", "[a]\nk = \nl = 1\n", "[a]\nl = 1\n"},
		"gives a bare key a value":     {"[a]\nk\n", "a", "k", "2", "[a]\nk = 2\n", "[a]\n"},
		"has a value with = in it":     {"[a]\nk=a=b\n", "a", "k", "c=d", "[a]\nk=c=d\n", "[a]\n"},
		"is in the section of a quote": {"[remote \"x\"] # y\n\turl = 1\n", `remote "x"`, "url", "2", "[remote \"x\"] # y\n\turl = 2\n", "[remote \"x\"] # y\n"},
		"is in the second of two":      {"[a]\nx=1\n[b]\n[a]\nk=1\n", "a", "k", "2", "[a]\nx=1\n[b]\n[a]\nk=2\n", "[a]\nx=1\n[b]\n[a]\n"},
		"is no part of a longer value": {"[a]\nv = 1\n  k = 2\nk = 3\n", "a", "k", "4", "[a]\nv = 1\n  k = 2\nk = 4\n", "[a]\nv = 1\n  k = 2\n"},
		"has a dot and a blank":        {"[a]\ncolour.ui x = no\n", "a", "colour.ui x", "yes", "[a]\ncolour.ui x = yes\n", "[a]\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := file(t, c.before)
			k := kindtest.New(t, text.NewINI(m))
			cfg := config{"path": "/etc/x", "section": c.section, "key": c.key, "value": c.value}
			k.Apply(cfg)
			holds(t, m, c.want)
			if a := k.State(cfg); a.Status != "VALID" {
				t.Errorf("%+v", a)
			}
			k.Destroy(cfg)
			holds(t, m, c.removed)
			k.Destroy(cfg)
		})
	}
}

func TestINI_AmbiguousIsRefused(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]string{
		"[a]\nk=1\nx=1\nk=2\n":        "more than once, in lines 2, 4",
		"[a]\nk=1\n[b]\n[a]\nk=1\n":   "more than once, in lines 2, 5",
		"[a]\nk = 1\n  more\n":        "over several lines",
		"[a]\nk = 1 \\\n2\n":          "over several lines",
		"[a]\nk = 1\n# c\n\n\tmore\n": "over several lines",
	} {
		m := file(t, content)
		k := kindtest.New(t, text.NewINI(m))
		c := config{"path": "/etc/x", "section": "a", "key": "k", "value": "3"}
		k.Fails(c, "config", "/key", want)
		k.DestroyFails(c, "config", "/key", want)
		holds(t, m, content)
	}
	m := file(t, "")
	k := kindtest.New(t, text.NewINI(m))
	k.Fails(config{"path": "/etc/x", "section": "a", "key": "k", "value": " 3"}, "config", "/value", "blanks")
	k.Fails(config{"path": "/etc/x", "section": "a", "key": "k", "value": `3\`}, "config", "/value", "backslash")
	k.Fails(config{"path": "/etc/x", "section": " a", "key": "k", "value": "3"}, "config", "/section", "blanks")
}

func TestINI_ReportsDriftAndMissingKeys(t *testing.T) {
	t.Parallel()
	m := file(t, "[a]\nk=1\n")
	k := kindtest.New(t, text.NewINI(m))
	c := config{"path": "/etc/x", "section": "a", "key": "k", "value": "2"}
	if a := k.Apply(c); len(a.Reasons) != 1 || a.Reasons[0].Path != "/value" || string(a.Reasons[0].Have) != `"1"` ||
		a.Actions[0].Name != "update" {
		t.Errorf("%+v", a)
	}
	c = config{"path": "/etc/x", "section": "b", "key": "k", "value": "2"}
	if a := kindtest.New(t, text.NewINI(m)).State(c); a.Reasons[0].Path != "/section" || a.Actions[0].Name != "create" {
		t.Errorf("%+v", a)
	}
	c["path"] = "/etc/later"
	k = kindtest.New(t, text.NewINI(m))
	if a := k.State(c); a.Reasons[0].Message != "the file /etc/later does not exist yet" {
		t.Errorf("%+v", a)
	}
	k.Fails(c, "/etc/later does not exist")
	k.Destroy(c)
	c = config{"path": "/etc/x", "section": "a", "key": "k", "value": "bad", "validate": []string{"sh", "-c", "! grep bad $0", "%s"}}
	kindtest.New(t, text.NewINI(m)).Fails(c, "is unchanged")
	holds(t, m, "[a]\nk=2\n")
}

// TestINI_RandomEdits wants of any file and any change: the key has its value, and all lines that
// are no line of it are as before, in their order.
func TestINI_RandomEdits(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 6))
	m := file(t, "")
	k := kindtest.New(t, text.NewINI(m))
	for i := range randomEdits {
		if r.IntN(2) == 0 {
			var b strings.Builder
			for range r.IntN(8) {
				b.WriteString([]string{"[a]", "[b]", "# k = 1", "x=1", "y = 2", "", "; c", "[c] # z"}[r.IntN(8)] + "\n")
			}
			must(t, os.WriteFile(m.Path("/etc/x"), []byte(strings.TrimSuffix(b.String(), []string{"", "\n"}[r.IntN(2)])), 0o640))
		}
		before, err := os.ReadFile(m.Path("/etc/x"))
		must(t, err)
		c := config{"path": "/etc/x", "section": []string{"", "a", "b"}[r.IntN(3)], "key": []string{"k", "l"}[r.IntN(2)],
			"value": fmt.Sprint(r.IntN(3))}
		k.Last = nil
		k.Apply(c)
		after, err := os.ReadFile(m.Path("/etc/x"))
		must(t, err)
		rest := func(text []byte, key string) string {
			var list []string
			for one := range strings.Lines(string(text)) {
				if one = strings.TrimRight(one, "\n"); !strings.HasPrefix(one, key) && one != "" && one[0] != '[' {
					list = append(list, one)
				}
			}
			return strings.Join(list, "\n")
		}
		if key := c["key"].(string); rest(before, key) != rest(after, key) || len(before) > 0 && open(string(before)) != open(string(after)) {
			t.Fatalf("%d: %v made %q of %q", i, c, after, before)
		}
		k.Destroy(c)
		if gone, err := os.ReadFile(m.Path("/etc/x")); err != nil || strings.Count(string(gone), "\n"+c["key"].(string)) >
			strings.Count(string(before), "\n"+c["key"].(string)) {
			t.Fatalf("%d: the removal of %v made %q", i, c, gone)
		}
		k.Apply(c)
	}
}
