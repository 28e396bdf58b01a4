//go:build machines

package apt

import (
	"strings"
	"testing"

	"deployster/machine/internal/kindtest"
)

// apt keeps what dpkg knows, and does not notice a file of the same size from the same second.
func TestPackage_WhatAptHasKeptIsNotTrusted(t *testing.T) {
	fresh(t)
	r, c := pkg(t), config{"name": "hello", "version": "1.1"}
	r.Apply(c)
	kindtest.Shell(t, `apt-get check >/dev/null
		at=$(stat -c %Y /var/lib/dpkg/status)
		dpkg -i /srv/repository/hello_1.0.deb >/dev/null 2>&1
		touch -d @$at /var/lib/dpkg/status`)
	if v := version(t, "hello"); v != "1.0 installed" {
		t.Fatalf("it is %s", v)
	}
	if out := kindtest.Shell(t, "apt-get -s install hello=1.1"); !strings.Contains(out, "already the newest version (1.1)") {
		t.Fatalf("apt does not err any more: %s", out)
	}
	r.Apply(c)
	if v := version(t, "hello"); v != "1.1 installed" {
		t.Errorf("it is %s", v)
	}
}
