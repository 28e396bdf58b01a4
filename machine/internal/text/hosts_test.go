package text_test

import (
	"os"
	"testing"

	"deployster/machine/internal/access"
	"deployster/machine/internal/kindtest"
	"deployster/machine/internal/text"
)

func hosts(t *testing.T, content string) (*access.Machine, *kindtest.Resource) {
	t.Helper()
	m := &access.Machine{Root: t.TempDir()}
	must(t, os.MkdirAll(m.Path("/etc"), 0o755))
	must(t, os.WriteFile(m.Path("/etc/hosts"), []byte(content), 0o644))
	return m, kindtest.New(t, text.NewHosts(m))
}

func TestHosts_Edits(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before             string
		addresses, aliases []string
		want, removed      string
	}{
		"is added":                   {"127.0.0.1 localhost\n", []string{"10.0.0.1"}, []string{"db"}, "127.0.0.1 localhost\n10.0.0.1 db.example db\n", "127.0.0.1 localhost\n"},
		"keeps a line that is right": {"10.0.0.1\tdb.example  db # by hand\nx\n", []string{"10.0.0.1"}, []string{"db"}, "10.0.0.1\tdb.example  db # by hand\nx\n", "x\n"},
		"changes in place":           {"10.0.0.9 db.example # by hand\n# x\n", []string{"10.0.0.1"}, nil, "10.0.0.1 db.example # by hand\n# x\n", "# x\n"},
		"has two addresses":          {"10.0.0.1 db.example\n# x", []string{"10.0.0.1", "fe80::1"}, nil, "10.0.0.1 db.example\nfe80::1 db.example\n# x", "# x"},
		"loses an address":           {"10.0.0.1 db.example\n# x\n10.0.0.2 db.example\n", []string{"10.0.0.2"}, nil, "10.0.0.2 db.example\n# x\n", "# x\n"},
		"knows other spellings":      {"fe80:0::0:1 DB.example\n", []string{"fe80::1"}, nil, "fe80:0::0:1 DB.example\n", ""},
		"is no comment":              {"#10.0.0.1 db.example\n", []string{"10.0.0.1"}, nil, "#10.0.0.1 db.example\n10.0.0.1 db.example\n", "#10.0.0.1 db.example\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, r := hosts(t, c.before)
			cfg := config{"name": "db.example", "addresses": c.addresses}
			if c.aliases != nil {
				cfg["aliases"] = c.aliases
			}
			is := func(want string) {
				t.Helper()
				if got, err := os.ReadFile(m.Path("/etc/hosts")); err != nil || string(got) != want {
					t.Errorf("%q, and should be %q (%v)", got, want, err)
				}
			}
			r.Apply(cfg)
			is(c.want)
			r.Apply(cfg)
			is(c.want)
			r.Destroy(cfg)
			is(c.removed)
			r.Destroy(cfg)
		})
	}
}

func TestHosts_NameOfAnotherIsRefused(t *testing.T) {
	t.Parallel()
	_, r := hosts(t, "10.0.0.1 web.example db\n")
	r.Fails(config{"name": "db", "addresses": []string{"10.0.0.2"}}, "config", "/name", "a name of web.example too, in line 1")
	r.Fails(config{"name": "x", "addresses": []string{"10.0.0.2"}, "aliases": []string{"y", "DB"}}, "config", "/aliases/1")
	r.Fails(config{"name": "x", "addresses": []string{"10.0.0.2/8"}}, "config", "/addresses/0", "not an address")
	r.Fails(config{"name": "x", "addresses": []string{"::1", "0::1"}}, "config", "/addresses/1", "twice")
	r.Fails(config{"name": "x", "addresses": []string{"::1"}, "aliases": []string{"a b"}}, "config", "/aliases/0")
}

func TestHosts_LinesThatDifferAreDrift(t *testing.T) {
	t.Parallel()
	_, r := hosts(t, "10.0.0.1 db a\n10.0.0.2 db b\n")
	c := config{"name": "db", "addresses": []string{"10.0.0.1", "10.0.0.2"}, "aliases": []string{"a"}}
	if found := r.Discover(config{}); len(found) != 1 || len(found[0]["addresses"].([]any)) != 2 {
		t.Errorf("%v", found)
	}
	if a := r.Apply(c); len(a.Reasons) != 1 || a.Reasons[0].Path != "/aliases" {
		t.Errorf("%+v", a.Reasons)
	}
}
