//go:build machines

package main

import (
	"encoding/json"
	"strings"
	"testing"

	"deployster/protocol"
)

// refused queries the state, carries out its actions, and returns what went wrong; "" = nothing.
func (p *program) refused(kind string, config any, intent protocol.Intent) string {
	p.t.Helper()
	out, log, code := p.call(kind, []string{"state"}, map[string]any{"config": config, "intent": intent})
	var a protocol.StateAnswer
	if code != 0 {
		return log
	}
	if err := json.Unmarshal([]byte(out), &a); err != nil {
		p.t.Fatalf("%s: %v", out, err)
	}
	if a.Error != nil {
		return a.Error.Error()
	}
	have := a.StaleState
	if have == nil {
		have = json.RawMessage("{}")
	}
	for _, action := range a.Actions {
		in := map[string]any{"config": config, "intent": intent, "action": action.Name, "staleState": have}
		if _, log, code := p.call(kind, action.Args, in); code != 0 {
			return log
		}
	}
	return ""
}

// brokenPackage is a package whose installation fails until /run/mended is there. The package hello can be had.
const brokenPackage = "(" + repository + ") >/dev/null 2>&1\n" + `cd /srv
mkdir -p broken/DEBIAN
printf 'Package: broken\nVersion: 1\nArchitecture: all\nMaintainer: N <n@example.org>\nDescription: t\n' >broken/DEBIAN/control
printf '#!/bin/sh\ntest -e /run/mended\n' >broken/DEBIAN/postinst
chmod 755 broken/DEBIAN/postinst
dpkg-deb --build -Znone --root-owner-group broken broken.deb >/dev/null
! dpkg -i broken.deb >/dev/null 2>&1
echo 'deb [trusted=yes] copy:/srv/repository ./' >/etc/apt/sources.list
apt-get update -q >/dev/null
mkdir -p /var/lib/apt/periodic
touch /var/lib/apt/periodic/update-success-stamp`

// laterRepository is a repository that was made a day later than the clock of the machine: that is slow. All machines have the
// clock of this one, so it is the repository that is moved.
const laterRepository = `mkdir -p /srv/clock && cd /srv/clock && : >Packages
printf 'Date: %s\nSuite: stable\nSHA256:\n %s 0 Packages\n' "$(date -Ru -d tomorrow)" "$(sha256sum Packages | cut -d' ' -f1)" >Release`

// A machine on which something is broken: each is said by its name, and nothing is lost.
func TestProgram_OnAHostileMachine(t *testing.T) {
	p, m := started(t)
	type configs = map[string]any
	for _, one := range []struct {
		name, kind   string
		config       configs
		intent       protocol.Intent
		before       string // what breaks the machine
		says         string
		kept, as     string // what still is as it was
		after, again string // mends the machine; again = "" if it works then
	}{
		{name: "full disk", kind: "file", config: configs{"path": "/srv/full/f", "content": strings.Repeat("x", 1<<20)}, intent: protocol.Present,
			before: "mkdir -p /srv/full && mount -t tmpfs -o size=64k tmpfs /srv/full && echo old >/srv/full/f",
			says:   "no space left on device", kept: "cat /srv/full/f; ls -A /srv/full", as: "old\nf", after: "mount -o remount,size=4m /srv/full"},
		{name: "read-only /usr", kind: "file", config: configs{"path": "/usr/share/own/f", "content": "new"}, intent: protocol.Present,
			before: "mkdir -p /usr/share/own && echo old >/usr/share/own/f && mount --bind /usr/share/own /usr/share/own && mount -o remount,bind,ro /usr/share/own",
			says:   "read-only file system", kept: "cat /usr/share/own/f; ls -A /usr/share/own", as: "old\nf", after: "umount /usr/share/own"},
		{name: "no systemd", kind: "unit", config: configs{"name": "later", "content": "[Service]\nExecStart=/bin/sleep 100\n"}, intent: protocol.Present,
			before: "mv /run/systemd/system /run/systemd/away", says: "systemd", kept: "ls /etc/systemd/system/later.service 2>/dev/null | wc -l", as: "0",
			after: "mv /run/systemd/away /run/systemd/system"},
		{name: "a unit that never starts", kind: "service", config: configs{"name": "never", "running": true}, intent: protocol.Present,
			before: `printf '[Service]\nType=notify\nTimeoutStartSec=2\nExecStart=/bin/sh -c "echo no database; sleep 100"\n' >/etc/systemd/system/never.service
systemctl daemon-reload`, says: "no database", kept: "systemctl is-active never || true", as: "failed",
			after: `printf '[Service]\nExecStart=/bin/sleep 100\n' >/etc/systemd/system/never.service; systemctl daemon-reload`},
		{name: "a user with running processes", kind: "user", config: configs{"name": "busy"}, intent: protocol.Absent,
			before: "useradd -m busy && systemd-run -q --uid=busy --unit=busy sleep 1000 && until pgrep -u busy sleep; do sleep 0.05; done", says: "the user busy still runs ",
			kept: "getent passwd busy | cut -d: -f1; systemctl is-active busy; ls -d /home/busy", as: "busy\nactive\n/home/busy",
			after: "systemctl stop busy"},
		{name: "broken dpkg", kind: "package", config: configs{"name": "hello"}, intent: protocol.Present, before: brokenPackage,
			says: "error processing package broken", kept: "dpkg-query -W -f '${db:Status-Status} ' broken; dpkg-query -W hello 2>/dev/null | wc -l",
			as: "half-configured 0", after: "touch /run/mended"},
		{name: "wrong time", kind: "apt_source", config: configs{"name": "clock", "uris": []string{"copy:/srv/clock"}, "suites": []string{"./"},
			"trusted": true}, intent: protocol.Present, before: laterRepository, says: "is not valid yet",
			kept: "ls /etc/apt/sources.list.d | wc -l", as: "0", after: "sed -i \"s/^Date: .*/Date: $(date -Ru)/\" /srv/clock/Release"},
		{name: "a directory in the place of a certificate", kind: "certificate", config: configs{"path": "/srv/clock.pem", "common_name": "a.example"},
			intent: protocol.Present, before: "mkdir /srv/clock.pem", says: "is a directory", kept: "ls -d /srv/clock.pem", as: "/srv/clock.pem",
			after: "rmdir /srv/clock.pem"},
	} {
		shell := func(script string) string {
			t.Helper()
			out, err := m.Shell(script)
			if err != nil {
				t.Fatalf("%s: %v", one.name, err)
			}
			return out
		}
		shell(one.before)
		if said := p.refused(one.kind, one.config, one.intent); !strings.Contains(said, one.says) {
			t.Errorf("%s: %q does not say %q", one.name, said, one.says)
		}
		if out := shell(one.kept); out != one.as {
			t.Errorf("%s: the machine has %q, and should have %q", one.name, out, one.as)
		}
		shell(one.after)
		if said := p.refused(one.kind, one.config, one.intent); said != one.again {
			t.Errorf("%s: after it was mended: %q", one.name, said)
		}
	}
}
