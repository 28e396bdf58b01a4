//go:build machines

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const exclusiveSets = `
host "m" {
  address     = "NAME"
  ssh_options = ["-F", "SSH"]
}
type "machine" {
  image         = "deployster/machine"
  whole_machine = true
}
exclusive "cron" {
  host = host.m
  type = "${type.machine}#cron"
  keep = ["kept*"]
}
exclusive "keys" {
  host = host.m
  type = "${type.machine}#ssh_key"
  keep = ["root *"]
}
resource "user" {
  host   = host.m
  type   = "${type.machine}#user"
  config = { name = "app" }
}
resource "job" {
  host   = host.m
  type   = "${type.machine}#cron"
  config = { name = "job", schedule = "@daily", command = "date" }
}
resource "key" {
  host   = host.m
  type   = "${type.machine}#ssh_key"
  config = { user = "app", key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ1QGGcHyYwJkfSBzsGTMjoI7e8B1cXHEv2oDxO5sNyo" }

  depends_on = [resource.user]
}
`

// Other jobs and other keys of a machine are removed, if that is approved; what is declared or kept stays.
func TestStandardTypes_OfSetsThatAreExclusive(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	text := strings.NewReplacer("NAME", s.machine.Name, "SSH", s.machine.SSHFile()).Replace(exclusiveSets)
	if err := os.WriteFile(filepath.Join(s.dir, "main.hcl"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.machine.Shell("mkdir -p /etc/cron.d"); err != nil {
		t.Fatal(err)
	}
	s.run("apply", "-auto-approve")
	const foreign = `printf '@daily root true\n' | tee /etc/cron.d/foreign >/etc/cron.d/kept-one
echo ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIDG8a0tVOSZnQ0wLZuIqEz5qzTMTdVhHfO3n3oMnG1bP other >>/home/app/.ssh/authorized_keys`
	if _, err := s.machine.Shell(foreign); err != nil {
		t.Fatal(err)
	}
	const seen = "ls /etc/cron.d | grep -x 'job\\|foreign\\|kept-one'; wc -l </home/app/.ssh/authorized_keys; test -s ~root/.ssh/authorized_keys && echo reached"
	s.prints([]string{"apply", "-auto-approve"}, "destroyed only with -approve=purge: foreign", "destroyed only with -approve=purge: app ssh-ed25519")
	s.holds(seen, "foreign\njob\nkept-one\n2\nreached")
	s.prints([]string{"apply", "-auto-approve", "-approve=purge"}, `exclusive.cron["foreign"]`, "2 destroyed")
	s.holds(seen, "job\nkept-one\n1\nreached")
	s.prints([]string{"apply", "-auto-approve", "-approve=purge"}, "No changes")
}

// A kind that lists only what it is narrowed to passes the test of types.
func TestTypeTest_OfAKindThatIsNarrowed(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for name, text := range map[string]string{
		"main.hcl": "host \"m\" {\n  address = \"" + s.machine.Name + "\"\n  ssh_options = [\"-F\", \"" + s.machine.SSHFile() + "\"]\n}\n",
		"one.hcl":  "path = \"/srv/one\"\ncontent = \"one\"\n",
		"two.hcl":  "path = \"/srv/one\"\ncontent = \"two\"\n",
	} {
		if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s.prints([]string{"type", "test", "-whole-machine", "-host", "m", "-auto-approve", "-config", "one.hcl", "-then", "two.hcl",
		"deployster/machine#file"}, "discover lists it", " 0 failed")
}
