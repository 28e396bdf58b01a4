package settings_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deployster/machine/internal/access"
	"deployster/machine/internal/kindtest"
	"deployster/machine/internal/settings"
	"deployster/protocol"
)

type config = kindtest.Config

func machine(t *testing.T, with map[string]string) *access.Machine {
	t.Helper()
	m := &access.Machine{Root: t.TempDir()}
	for path, text := range with {
		must(t, os.MkdirAll(filepath.Dir(m.Path(path)), 0o755))
		must(t, os.WriteFile(m.Path(path), []byte(text), 0o644))
	}
	return m
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func holds(t *testing.T, m *access.Machine, path, want string) {
	t.Helper()
	if got, err := os.ReadFile(m.Path(path)); err != nil || string(got) != want {
		t.Errorf("%s holds %q (%v), and should hold %q", path, got, err, want)
	}
}

const live = "/proc/sys/kernel/hostname"

func TestHostname_StaticAndTransientAreTwoFacts(t *testing.T) {
	t.Parallel()
	m := machine(t, map[string]string{live: "old\n", "/etc/hostname": "# x\nold\n", "/etc/hosts": "127.0.1.1 old\n"})
	r := kindtest.New(t, settings.NewHostname(m))
	c := config{"name": "web1.example"}
	if a := r.Apply(c); len(a.Reasons) != 2 || string(a.Reasons[0].Have) != `"old"` {
		t.Errorf("%+v", a.Reasons)
	}
	holds(t, m, live, "web1.example\n")
	holds(t, m, "/etc/hostname", "web1.example\n")
	if !strings.Contains(r.Log.String(), "/etc/hosts does not have the name web1.example") {
		t.Error(r.Log.String())
	}
	must(t, os.WriteFile(m.Path(live), []byte("dhcp-7\n"), 0o644))
	if a := r.Apply(c); len(a.Reasons) != 1 || a.Reasons[0].Message != "the machine has another name now than at boot" ||
		string(a.Reasons[0].Have) != `"dhcp-7"` {
		t.Errorf("%+v", a.Reasons)
	}
	must(t, os.Remove(m.Path("/etc/hostname")))
	if a := r.Apply(c); len(a.Reasons) != 1 || a.Reasons[0].Path != "/name" {
		t.Errorf("%+v", a.Reasons)
	}
	if found := r.Discover(config{"name": "x"}); len(found) != 1 || found[0]["name"] != "web1.example" {
		t.Errorf("%v", found)
	}
	r.Destroy(c)
	holds(t, m, "/etc/hostname", "web1.example\n")
}

const zone = "/usr/share/zoneinfo/"

func zones(t *testing.T) *access.Machine {
	t.Helper()
	return machine(t, map[string]string{zone + "Europe/Zurich": "TZif2", zone + "Etc/UTC": "TZif2", zone + "leapseconds": "# no zone", "/etc/x": ""})
}

func TestTimezone_LinkAndTextAreTwoFacts(t *testing.T) {
	t.Parallel()
	m := zones(t)
	r := kindtest.New(t, settings.NewTimezone(m))
	c := config{"name": "Europe/Zurich"}
	if a := r.Apply(c); a.Actions[0].Name != "create" {
		t.Errorf("%+v", a)
	}
	if to, err := os.Readlink(m.Path("/etc/localtime")); err != nil || to != zone+"Europe/Zurich" {
		t.Errorf("%s %v", to, err)
	}
	if _, err := os.Stat(m.Path("/etc/timezone")); err == nil {
		t.Error("/etc/timezone was made, which this machine had not")
	}
	must(t, os.WriteFile(m.Path("/etc/timezone"), []byte("Etc/UTC\n"), 0o644))
	if a := r.Apply(c); len(a.Reasons) != 1 || a.Reasons[0].Message != "/etc/timezone has another zone" {
		t.Errorf("%+v", a.Reasons)
	}
	holds(t, m, "/etc/timezone", "Europe/Zurich\n")
	r.Apply(config{"name": "Etc/UTC"})
	holds(t, m, "/etc/timezone", "Etc/UTC\n")
	must(t, os.Remove(m.Path("/etc/localtime")))
	must(t, os.Symlink("../usr/share/zoneinfo/Europe/Zurich", m.Path("/etc/localtime")))
	if found := r.Discover(config{"name": "x"}); len(found) != 1 || found[0]["name"] != "Europe/Zurich" {
		t.Errorf("%v", found)
	}
	r.Destroy(c)
}

func TestTimezone_CopyOfAZoneIsReplaced(t *testing.T) {
	t.Parallel()
	m := zones(t)
	must(t, os.WriteFile(m.Path("/etc/localtime"), []byte("TZif2"), 0o644))
	r := kindtest.New(t, settings.NewTimezone(m))
	if a := r.Apply(config{"name": "Etc/UTC"}); !strings.Contains(a.Reasons[0].Message, "is not a link to a zone") {
		t.Errorf("%+v", a.Reasons)
	}
}

func TestTimezone_UnknownZoneIsRefused(t *testing.T) {
	t.Parallel()
	r := kindtest.New(t, settings.NewTimezone(zones(t)))
	for _, name := range []string{"Europe/Zuerich", "leapseconds", "Europe"} {
		r.Fails(config{"name": name}, "config", "/name", "has no zone")
	}
	later := kindtest.New(t, settings.NewTimezone(machine(t, map[string]string{"/etc/x": ""})))
	if a := later.State(config{"name": "Etc/UTC"}); a.Error != nil || !strings.Contains(a.Reasons[0].Message, "the package tzdata brings it") {
		t.Errorf("%+v", a)
	}
	later.Fails(config{"name": "Etc/UTC"}, "install the package tzdata first")
}

func TestLocale_OtherVariablesStay(t *testing.T) {
	t.Parallel()
	m := machine(t, map[string]string{"/etc/default/locale": "#  by hand\nexport LC_TIME=\"C\"\nLANG=POSIX\nLANG=C"})
	r := kindtest.New(t, settings.NewLocale(m))
	c := config{"lang": "C.UTF-8"}
	if a := r.Apply(c); len(a.Reasons) != 1 || a.Reasons[0].Path != "/lang" {
		t.Errorf("%+v", a.Reasons)
	}
	holds(t, m, "/etc/default/locale", "#  by hand\nexport LC_TIME=\"C\"\nLANG=C.UTF-8\n")
	c["variables"] = map[string]string{"LANGUAGE": "de_CH:de", "LC_NUMERIC": "C"}
	if a := r.Apply(c); len(a.Reasons) != 1 || a.Reasons[0].Path != "/variables" {
		t.Errorf("%+v", a.Reasons)
	}
	holds(t, m, "/etc/default/locale", "#  by hand\nLANG=C.UTF-8\nLANGUAGE=de_CH:de\nLC_NUMERIC=C\n")
	if a := r.State(config{"lang": "C.UTF-8"}); a.Status != protocol.Valid {
		t.Errorf("%+v", a)
	}
	r.Destroy(c)
}

func TestLocale_WhatOverridesAllIsRefused(t *testing.T) {
	t.Parallel()
	r := kindtest.New(t, settings.NewLocale(machine(t, map[string]string{"/etc/default/x": ""})))
	r.Fails(config{"lang": "C", "variables": map[string]string{"LC_ALL": "C"}}, "config", "/variables/LC_ALL")
	r.Fails(config{"lang": "C", "variables": map[string]string{"PATH": "C"}}, "config", "/variables")
	r.Fails(config{"lang": "C", "variables": map[string]string{"LC_TIME": "a b"}}, "config", "/variables/LC_TIME")
}
