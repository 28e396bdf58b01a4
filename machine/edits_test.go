//go:build machines

package main

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"deployster/protocol"
)

// edit is a change of a machine by a program that knows nothing of deployster, and where the plan shows it.
type edit struct{ script, path string }

// edited is a kind with a config that the edits leave.
type edited struct {
	kind   string
	config map[string]any
	edits  []edit
}

// editedKinds has what is edited: the model of an edit is the value that it changes.
var editedKinds = []edited{
	{"file", map[string]any{"path": "/srv/file", "content": "a\n", "mode": "0640", "owner": "daemon", "group": "adm"}, []edit{
		{"echo b >>/srv/file", "/content"}, {"chmod 600 /srv/file", "/mode"}, {"chown root /srv/file", "/owner"}, {"chgrp root /srv/file", "/group"},
		{": >/srv/file", "/content"}}},
	{"directory", map[string]any{"path": "/srv/directory", "mode": "0750", "owner": "daemon", "group": "adm"}, []edit{
		{"chmod 700 /srv/directory", "/mode"}, {"chown root /srv/directory", "/owner"}, {"chgrp root /srv/directory", "/group"}}},
	{"link", map[string]any{"path": "/srv/link", "target": "/srv/file"}, []edit{{"ln -sfn /srv/other /srv/link", "/target"}}},
	{"group", map[string]any{"name": "edited", "gid": 7001}, []edit{{"groupmod -g 7002 edited", "/gid"}}},
	{"user", map[string]any{"name": "edited", "uid": 7001, "shell": "/bin/bash", "comment": "Edited", "groups": []string{"audio"},
		"expires": "2031-12-31", "password_hash": "$6$salt$one"}, []edit{
		{"usermod -s /bin/sh edited", "/shell"}, {"usermod -c Other edited", "/comment"}, {"gpasswd -d edited audio", "/groups"},
		{"usermod -e 2032-01-01 edited", "/expires"}, {"usermod -p '$6$salt$two' edited", "/password_hash"}, {"usermod -u 7003 edited", "/uid"}}},
	{"hostname", map[string]any{"name": "edited"}, []edit{{"echo other >/etc/hostname", "/name"}, {"hostname other", "/name"}}},
	{"timezone", map[string]any{"name": "Europe/Zurich"}, []edit{{"ln -sf /usr/share/zoneinfo/Etc/UTC /etc/localtime", "/name"}}},
	{"hosts_entry", map[string]any{"name": "db", "addresses": []string{"192.0.2.7"}}, []edit{{"sed 's/192.0.2.7/192.0.2.8/' /etc/hosts >/tmp/hosts; " +
		"cat /tmp/hosts >/etc/hosts", "/addresses"}}},
	{"service", map[string]any{"name": "edited", "running": true, "enabled": true}, []edit{{"systemctl stop edited", "/running"},
		{"systemctl disable edited", "/enabled"}}},
	{"mount", map[string]any{"path": "/srv/memory", "source": "tmpfs", "fstype": "tmpfs", "options": []string{"noexec"}}, []edit{
		{"umount /srv/memory", "/mounted"}, {"systemctl disable srv-memory.mount", "/boot"}, {"mount -o remount,exec /srv/memory", "/options"}}},
	{"certificate", map[string]any{"path": "/srv/site.pem", "common_name": "web.example.org"}, []edit{{"chmod 644 /srv/site.key", "/key_path"},
		{"rm /srv/site.key", "/key_path"}, {"chown daemon /srv/site.pem", "/owner"}, {"chgrp adm /srv/site.key", "/group"}}},
}

// Random edits of a machine by hand: a plan shows exactly the value that was edited, an apply mends it, and the next plan is
// empty. DEPLOYSTER_MACHINE_EDITS is how many there are of each kind, and DEPLOYSTER_MACHINE_SEED chooses others.
func TestKinds_RandomEdits(t *testing.T) {
	count, seed := number(t, "DEPLOYSTER_MACHINE_EDITS", 10), number(t, "DEPLOYSTER_MACHINE_SEED", 1)
	p, m := started(t)
	if out, err := m.Shell(`printf '[Service]\nExecStart=/bin/sleep 100000\n[Install]\nWantedBy=multi-user.target\n' >/etc/systemd/system/edited.service
systemctl daemon-reload`); err != nil {
		t.Fatal(err, out)
	}
	for _, one := range editedKinds {
		begun, random := time.Now(), rand.New(rand.NewPCG(uint64(seed), 7))
		p.apply(one.kind, one.config, protocol.Present)
		for n := range count {
			e := one.edits[random.IntN(len(one.edits))]
			if out, err := m.Shell(e.script); err != nil {
				t.Fatal(err, out)
			}
			a := p.state(one.kind, one.config, protocol.Present)
			var paths []string
			for _, r := range a.Reasons {
				paths = append(paths, r.Path)
			}
			if slices.Sort(paths); len(slices.Compact(paths)) != 1 || paths[0] != e.path || a.Status != protocol.Stale {
				t.Fatalf("%s: edit %d by %q is shown as %s: %+v", one.kind, n, e.script, a.Status, a.Reasons)
			}
			p.apply(one.kind, one.config, protocol.Present) // it wants the next state to be VALID
		}
		t.Logf("%s: %d edits in %s", one.kind, count, time.Since(begun).Round(time.Millisecond))
	}
}
