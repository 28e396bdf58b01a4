//go:build machines

package main

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

const lockedManifest = `
host "m" {
  address     = "NAME"
  ssh_options = ["-F", "SSH"]
}
type "machine" {
  image         = "deployster/machine"
  whole_machine = true
  host          = host.m
}
resource "package" {
  type   = "${type.machine}#package"
  config = { name = "hello" }
}
`

// slowPackage is installed by apt in the background, and its script sleeps: apt and dpkg have their locks meanwhile.
const slowPackage = `cd /srv
mkdir -p slow/DEBIAN
printf 'Package: slow\nVersion: 1\nArchitecture: all\nMaintainer: N <n@example.org>\nDescription: t\n' >slow/DEBIAN/control
printf '#!/bin/sh\nsleep SECONDS\n' >slow/DEBIAN/postinst
chmod 755 slow/DEBIAN/postinst
dpkg-deb --build -Znone --root-owner-group slow slow.deb >/dev/null
echo 'deb [trusted=yes] copy:/srv/repository ./' >/etc/apt/sources.list
apt-get update -q >/dev/null
mkdir -p /var/lib/apt/periodic
touch /var/lib/apt/periodic/update-success-stamp
systemd-run -q --unit=unattended apt-get install -y /srv/slow.deb
until pgrep -f slow.postinst; do sleep 0.05; done`

// An apply waits as long as somebody else has the locks of apt, by default for any time, and reports for whom it waits.
// DEPLOYSTER_MACHINE_LOCKED is how long: ten minutes in the run that docs/internals/how-it-is-tested.md has.
func TestApply_WaitsForTheLockOfApt(t *testing.T) {
	t.Parallel()
	text := os.Getenv("DEPLOYSTER_MACHINE_LOCKED")
	if text == "" {
		text = "8s"
	}
	long, err := time.ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	s := newSite(t)
	manifest := strings.NewReplacer("NAME", s.machine.Name, "SSH", s.machine.SSHFile()).Replace(lockedManifest)
	if err := os.WriteFile(s.dir+"/main.hcl", []byte(manifest), 0o600); err != nil {
		t.Fatal(err)
	}
	s.run("plan") // what the host needs is there
	script := repository + "\n" + strings.Replace(slowPackage, "SECONDS", fmt.Sprint(long.Seconds()), 1)
	if out, err := s.machine.Shell(script); err != nil {
		t.Fatal(err, out)
	}
	begun := time.Now()
	out := s.run("apply", "-auto-approve")
	if took := time.Since(begun); took < long-5*time.Second {
		t.Errorf("it waited %s of %s", took, long)
	}
	s.holds("dpkg-query -W -f '${Package} ${db:Status-Status}\\n' hello slow; systemctl is-failed unattended || true",
		"hello installed\nslow installed\ninactive")
	for _, said := range []string{"waiting for process", "holds /var/lib/dpkg/lock"} {
		if !strings.Contains(out, said) {
			t.Errorf("it does not report %q:\n%s", said, out)
		}
	}
}
