package etc_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deployster/machine/internal/access"
	"deployster/machine/internal/etc"
	"deployster/machine/internal/kindtest"
	"deployster/protocol"
)

type config = kindtest.Config

// machine returns a machine with these files; a path that ends with a slash is a directory.
func machine(t *testing.T, with map[string]string) *access.Machine {
	t.Helper()
	m := &access.Machine{Root: t.TempDir()}
	for path, text := range with {
		real := m.Path(path)
		if strings.HasSuffix(path, "/") {
			must(t, os.MkdirAll(real, 0o755))
			continue
		}
		must(t, os.MkdirAll(filepath.Dir(real), 0o755))
		must(t, os.WriteFile(real, []byte(text), 0o644))
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

func valid(t *testing.T, r *kindtest.Resource, c config) {
	t.Helper()
	if a := r.State(c); a.Status != protocol.Valid {
		t.Errorf("%v: %+v", c, a)
	}
}

const passwd = "root:x:0:0:root:/root:/bin/sh\napp:x:1000:1000::/srv/app:/bin/sh\n"

func cron(t *testing.T) (*access.Machine, *kindtest.Resource) {
	t.Helper()
	m := machine(t, map[string]string{"/etc/cron.d/": "", "/etc/passwd": passwd})
	return m, kindtest.New(t, etc.NewCron(m))
}

func TestCron_PercentIsEscapedAndTheLastLineEnds(t *testing.T) {
	t.Parallel()
	m, r := cron(t)
	c := config{"name": "backup", "user": "app", "schedule": "30  3 * * 1-5", "command": "tar -cf $(date +%F).tar /srv",
		"env": map[string]string{"PATH": "/opt/bin:/bin", "MAILTO": "", "A": `say "x"`}}
	r.Apply(c)
	holds(t, m, "/etc/cron.d/backup", "# Managed by deployster\nA='say \"x\"'\nMAILTO=\"\"\nPATH=\"/opt/bin:/bin\"\n"+
		"30 3 * * 1-5 app tar -cf $(date +\\%F).tar /srv\n")
	valid(t, r, c)
	if info, err := os.Stat(m.Path("/etc/cron.d/backup")); err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("%v %v", info, err)
	}
	c["command"] = "true"
	delete(c, "env")
	if a := r.Apply(c); len(a.Reasons) != 2 || a.Reasons[0].Path != "/command" || a.Reasons[1].Path != "/env" {
		t.Errorf("%+v", a.Reasons)
	}
	holds(t, m, "/etc/cron.d/backup", "# Managed by deployster\n30 3 * * 1-5 app true\n")
	r.Destroy(c)
	r.Destroy(c)
}

func TestCron_SchedulesThatItDoesNotReadAreRefused(t *testing.T) {
	t.Parallel()
	_, r := cron(t)
	for _, bad := range []string{"60 * * * *", "* 24 * * *", "* * 0 * *", "* * * 13 *", "* * * * 8", "* * * *", "* * * * * *", "@often", "5/10 * * * *",
		"*/0 * * * *", "5-1 * * * *", "a * * * *", "1,,2 * * * *", "* * * foo *", "+1 * * * *", "daily"} {
		r.Fails(config{"name": "x", "schedule": bad, "command": "true"}, "config", "/schedule", "not a schedule of cron")
	}
	for _, good := range []string{"0-30/5,45 0,12 1-31 jan-mar sun", "*/15 * * * 7", "@daily", "@reboot", "0 0 1 12 Mon"} {
		if a := r.State(config{"name": "x", "schedule": good, "command": "true"}); a.Error != nil {
			t.Errorf("%s: %v", good, a.Error)
		}
	}
}

func TestCron_WhatItWouldMisreadIsRefused(t *testing.T) {
	t.Parallel()
	_, r := cron(t)
	for command, want := range map[string]string{"a\nb": "one line", " a": "blanks", `printf \%s`: "backslash", strings.Repeat("x", 999): "999"} {
		r.Fails(config{"name": "x", "schedule": "@daily", "command": command}, "config", "/command", want)
	}
	r.Fails(config{"name": "x", "schedule": "@daily", "command": "a", "env": map[string]string{"A": `"'`}}, "config", "/env/A", "quotes")
	r.Fails(config{"name": "x", "schedule": "@daily", "command": "a", "env": map[string]string{"A": " b"}}, "config", "/env/A", "blanks")
	r.Fails(config{"name": "x", "schedule": "@daily", "command": "a", "env": map[string]string{"A-B": "x"}}, "config", "/env", "A-B")
	c := config{"name": "x", "schedule": "@daily", "command": "a", "user": "later"}
	if a := r.State(c); len(a.Reasons) != 1 || a.Reasons[0].Path != "/user" {
		t.Errorf("%+v", a)
	}
	r.Fails(c, "there is no user later on this machine, and cron would ignore the job")
	about, err := etc.NewCron(machine(t, nil)).Describe()
	if must(t, err); !strings.Contains(string(about.ConfigSchema), `"pattern":"^[A-Za-z0-9_-]+$"`) { // cron does not read names with a dot
		t.Errorf("%s", about.ConfigSchema)
	}
	kindtest.New(t, etc.NewCron(machine(t, map[string]string{"/etc/passwd": passwd}))).Fails(
		config{"name": "x", "schedule": "@daily", "command": "a"}, "/etc/cron.d does not exist", "package cron")
}

func TestCron_DriftIsNoticed(t *testing.T) {
	t.Parallel()
	m, r := cron(t)
	c := config{"name": "x", "schedule": "@daily", "command": "a"}
	for text, want := range map[string]string{
		"# Managed by deployster\n@daily root a\n@daily root b\n": "something else than one job",
		"@daily root a\n":                        "another content",
		"# Managed by deployster\n@daily root a": "another content", // cron ignores a last line without an end
		"@daily root a%input\n":                  "something else than one job",
	} {
		r.Apply(c)
		must(t, os.WriteFile(m.Path("/etc/cron.d/x"), []byte(text), 0o644))
		if a := r.Apply(c); !strings.Contains(a.Reasons[len(a.Reasons)-1].Message, want) {
			t.Errorf("%q: %+v", text, a.Reasons)
		}
	}
	must(t, os.Chmod(m.Path("/etc/cron.d/x"), 0o666))
	if a := r.Apply(c); len(a.Reasons) != 1 || !strings.Contains(a.Reasons[0].Message, "0666, and must have 0644") {
		t.Errorf("%+v", a.Reasons)
	}
	must(t, os.WriteFile(m.Path("/etc/cron.d/many"), []byte("1 1 1 1 1 root a\n2 2 2 2 2 root b\n"), 0o644))
	must(t, os.WriteFile(m.Path("/etc/cron.d/y.dpkg-old"), []byte("1 1 1 1 1 root a\n"), 0o644))
	if found := r.Discover(config{"prefix": ""}); len(found) != 1 || found[0]["name"] != "x" || found[0]["command"] != "a" {
		t.Errorf("%v", found)
	}
}

const kernel = "/lib/modules/6.1/"

func module(t *testing.T, loaded string) (*access.Machine, *kindtest.Resource) {
	t.Helper()
	m := machine(t, map[string]string{"/proc/modules": loaded, "/proc/sys/kernel/osrelease": "6.1\n",
		kernel + "modules.builtin": "kernel/fs/ext4.ko\n", kernel + "modules.dep": "kernel/net/snd-pcm.ko.xz: kernel/a.ko\n"})
	return m, kindtest.New(t, etc.NewModule(m))
}

func TestModule_BuiltInOnesCountAsLoaded(t *testing.T) {
	t.Parallel()
	m, r := module(t, "")
	c := config{"name": "ext4"}
	valid(t, r, c)
	r.Destroy(c)
	r.Fails(config{"name": "ext4", "options": map[string]string{"a": "1"}}, "config", "/options", "built into the kernel")
	if _, err := os.Stat(m.Path("/etc/modules-load.d")); err == nil {
		t.Error("a file was written for it")
	}
}

func TestModule_KernelAndBootAreTwoFacts(t *testing.T) {
	t.Parallel()
	m, r := module(t, "snd_pcm 16384 0 - Live 0x0\n")
	c := config{"name": "snd-pcm", "options": map[string]string{"preallocate_dma": "0", "x": "a b"}}
	if a := r.Apply(c); a.Actions[0].Name != "update" || !strings.Contains(a.Reasons[0].Message, "not loaded at boot") {
		t.Errorf("%+v", a)
	}
	if !strings.Contains(r.Log.String(), "loaded the next time") {
		t.Error(r.Log.String())
	}
	holds(t, m, "/etc/modules-load.d/deployster-snd_pcm.conf", "# Managed by deployster\nsnd_pcm\n")
	holds(t, m, "/etc/modprobe.d/deployster-snd_pcm.conf", "# Managed by deployster\noptions snd_pcm preallocate_dma=0 x=\"a b\"\n")
	valid(t, r, c)
	if found := r.Discover(config{}); len(found) != 1 || found[0]["name"] != "snd_pcm" {
		t.Errorf("%v", found)
	}
	must(t, os.WriteFile(m.Path("/proc/modules"), nil, 0o644))
	if a := r.State(c); len(a.Reasons) != 1 || a.Reasons[0].Message != "it is not loaded" {
		t.Errorf("%+v", a)
	}
	must(t, os.WriteFile(m.Path("/proc/modules"), []byte("snd_pcm 1 0 - Live 0x0\n"), 0o644))
	delete(c, "options")
	if a := r.Apply(c); len(a.Reasons) != 1 || a.Reasons[0].Path != "/options" {
		t.Errorf("%+v", a)
	}
	r.Destroy(c)
	r.Destroy(c)
}

func TestModule_MissingOneIsPlanned(t *testing.T) {
	t.Parallel()
	_, r := module(t, "")
	if a := r.State(config{"name": "wireguard"}); a.Status != protocol.Stale || !strings.Contains(a.Reasons[0].Message, "has no module wireguard yet") {
		t.Errorf("%+v", a)
	}
	if a := r.State(config{"name": "snd_pcm"}); len(a.Reasons) != 0 || a.Actions[0].Name != "create" {
		t.Errorf("%+v", a)
	}
	r.Fails(config{"name": "x", "options": map[string]string{"a b": "1"}}, "config", "/options")
	r.Fails(config{"name": "x", "options": map[string]string{"a": "#"}}, "config", "/options/a")
}

func TestSudoers_DirectoryThatIsNotIncludedIsRefused(t *testing.T) {
	t.Parallel()
	m := machine(t, map[string]string{"/etc/sudoers": "root ALL=(ALL) ALL\n# includedir /etc/sudoers.d\n", "/etc/sudoers.d/": ""})
	r := kindtest.New(t, etc.NewSudoers(m))
	c := config{"name": "deploy", "content": "deploy ALL=(ALL) ALL"}
	r.Fails(c, "config", "/name", "does not include /etc/sudoers.d")
	must(t, os.WriteFile(m.Path("/etc/sudoers"), []byte("@includedir /etc/sudoers.d\n"), 0o440))
	if a := r.State(c); a.Error != nil || a.Actions[0].Name != "create" {
		t.Errorf("%+v", a)
	}
	later := kindtest.New(t, etc.NewSudoers(machine(t, nil)))
	if a := later.State(c); a.Error != nil || !strings.Contains(a.Reasons[0].Message, "the package sudo brings it") {
		t.Errorf("%+v", a)
	}
	later.Fails(c, "install the package sudo first")
	later.Destroy(c)
}

func TestSudoers_ModeIsAFact(t *testing.T) {
	t.Parallel()
	m := machine(t, map[string]string{"/etc/sudoers": "#includedir /etc/sudoers.d\n", "/etc/sudoers.d/deploy": "x\n", "/etc/sudoers.d/a.b": "y\n"})
	r := kindtest.New(t, etc.NewSudoers(m))
	c := config{"name": "deploy", "content": "x"}
	if a := r.State(c); len(a.Reasons) != 1 || !strings.Contains(a.Reasons[0].Message, "has the mode 0644, and must have 0440") {
		t.Errorf("%+v", a)
	}
	must(t, os.Chmod(m.Path("/etc/sudoers.d/deploy"), 0o440))
	valid(t, r, c)
	if found := r.Discover(config{"prefix": "d"}); len(found) != 1 || found[0]["name"] != "deploy" {
		t.Errorf("%v", found)
	}
	r.Destroy(c)
}
