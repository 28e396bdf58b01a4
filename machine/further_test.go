//go:build machines

package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"deployster/protocol"
)

// The kinds that need no program of a package, in a machine: from nothing, without changes, after
// drift by hand, and removed.
func TestProgram_HasFurtherKinds(t *testing.T) {
	p, m := started(t)
	shell := func(script string) string {
		t.Helper()
		out, err := m.Shell(script)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	shell(`printf '[a]\nx = 1\n' >/etc/app.ini; printf '{"a": 1}\n' >/etc/app.json; mkdir -p /etc/cron.d /srv/from/d /srv/archive
echo one >/srv/from/d/file; echo two >/srv/archive/file; tar -C /srv/archive -czf /srv/archive.tar.gz .`)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, "program") }))
	defer server.Close()
	sum := shell("printf program | sha256sum | cut -d' ' -f1")
	archive := shell("sha256sum /srv/archive.tar.gz | cut -d' ' -f1")
	jobs := shell("ls -A /etc/cron.d")
	all := []struct {
		kind   string
		config map[string]any
		drift  string
	}{
		{"ini", map[string]any{"path": "/etc/app.ini", "section": "b", "key": "k", "value": "v"}, "sed -i s/v/w/ /etc/app.ini"},
		{"json", map[string]any{"path": "/etc/app.json", "pointer": "/b/c", "value": []any{1, "x"}}, "echo {} >/etc/app.json"},
		{"hosts_entry", map[string]any{"name": "db", "addresses": []string{"192.0.2.7"}}, "sed -i /db/d /etc/hosts"},
		{"cron", map[string]any{"name": "job", "schedule": "@daily", "command": "date +%F"}, "rm /etc/cron.d/job"},
		{"hostname", map[string]any{"name": "web1"}, "hostname other"},
		{"timezone", map[string]any{"name": "Europe/Zurich"}, "ln -sf /usr/share/zoneinfo/Etc/UTC /etc/localtime"},
		{"locale", map[string]any{"lang": "C.UTF-8"}, "rm /etc/default/locale"},
		{"download", map[string]any{"path": "/srv/program", "url": server.URL, "sha256": sum}, "echo x >>/srv/program"},
		{"archive", map[string]any{"path": "/srv/app", "source": "/srv/archive.tar.gz", "sha256": archive}, "rm /srv/app"},
		{"tree", map[string]any{"path": "/srv/to", "source": "/srv/from", "owner": "daemon"}, "chown root /srv/to/d/file"},
		{"mount", map[string]any{"path": "/srv/memory", "source": "tmpfs", "fstype": "tmpfs"}, "umount /srv/memory"},
	}
	for _, one := range all {
		if names := p.apply(one.kind, one.config, protocol.Present); len(names) == 0 {
			t.Errorf("%s: nothing was done", one.kind)
		}
	}
	for _, one := range all {
		if names := p.apply(one.kind, one.config, protocol.Present); len(names) > 0 {
			t.Errorf("%s: %q, without changes", one.kind, names)
		}
		shell(one.drift)
		if names := p.apply(one.kind, one.config, protocol.Present); len(names) == 0 {
			t.Errorf("%s: the drift by %q was not noticed", one.kind, one.drift)
		}
	}
	if out := shell("cat /etc/app.ini; hostname; date +%Z | cut -c1-2; cat /srv/app/file; stat -c %U /srv/to/d/file; findmnt -no FSTYPE /srv/memory"); out !=
		"[a]\nx = 1\n\n[b]\nk = v\nweb1\nCE\ntwo\ndaemon\ntmpfs" {
		t.Errorf("the machine has %q", out)
	}
	for _, one := range slices.Backward(all) {
		p.apply(one.kind, one.config, protocol.Absent)
	}
	if out := shell("ls -A /srv; grep -c db /etc/hosts || true; ls -A /etc/cron.d"); out != strings.TrimSpace("archive\narchive.tar.gz\nfrom\nmemory\n0\n"+jobs) {
		t.Errorf("the machine still has %q", out)
	}
}
