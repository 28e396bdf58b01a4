//go:build machines

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"deployster/internal/testkit/machines"
)

// site is a workspace that configures one machine by the real command.
type site struct {
	t       *testing.T
	machine *machines.Machine
	dir     string
}

// newSite boots a machine. The image is the one that `make build` has packed.
func newSite(t *testing.T) site {
	t.Helper()
	return site{t, machines.Start(t), t.TempDir()}
}

// run runs deployster, and returns what it printed.
func (s site) run(args ...string) string {
	s.t.Helper()
	bin, err := filepath.Abs("../bin")
	if err != nil {
		s.t.Fatal(err)
	}
	c := exec.CommandContext(s.t.Context(), filepath.Join(bin, "deployster"), args...)
	c.Dir = s.dir
	c.Env = append(os.Environ(), "DEPLOYSTER_DATA_DIR="+filepath.Join(s.dir, "data"),
		"PATH="+bin+":"+os.Getenv("PATH"))
	out, err := c.CombinedOutput()
	if err != nil {
		s.t.Fatalf("deployster %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// prints runs deployster, and wants texts in what it prints.
func (s site) prints(args []string, texts ...string) {
	s.t.Helper()
	out := s.run(args...)
	for _, text := range texts {
		if !strings.Contains(out, text) {
			s.t.Errorf("deployster %s does not print %q:\n%s", strings.Join(args, " "), text, out)
		}
	}
}

// holds runs a script in the machine, which prints what is to be compared.
func (s site) holds(script, want string) {
	s.t.Helper()
	if out, err := s.machine.Shell(script); err != nil || out != want {
		s.t.Errorf("%s\nprinted %q (%v), and should print %q", script, out, err, want)
	}
}

const manifest = `
variable "greeting" {
  type    = string
  default = "hello"
}
host "m" {
  address     = "NAME"
  ssh_options = ["-F", "SSH"]
}
type "machine" {
  image         = "deployster/machine"
  whole_machine = true
}
deployster {
  auto_edges = true
}
resource "directory" {
  host   = host.m
  type   = "${type.machine}#directory"
  config = { path = "/srv/app", mode = "0750", group = "adm" }
}
resource "file" {
  host   = host.m
  type   = "${type.machine}#file"
  config = { path = "/srv/app/greeting", content = "${var.greeting}\n", mode = "0640", owner = "daemon", validate = ["grep", "-q", "h", "%s"] }
}
resource "link" {
  host   = host.m
  type   = "${type.machine}#link"
  config = { path = "/srv/app/current", target = "greeting" }
}
resource "line" {
  host   = host.m
  type   = "${type.machine}#line"
  config = { path = "/etc/ssh/sshd_config", id = "x11", line = "X11Forwarding no", match = "^#?X11Forwarding\\b", validate = ["sshd", "-t", "-f", "%s"] }
}
resource "block" {
  host   = host.m
  type   = "${type.machine}#text_block"
  config = { path = "/etc/hosts", id = "cluster", content = "10.0.0.1 db\n" }
}
resource "sysctl" {
  host   = host.m
  type   = "${type.machine}#sysctl"
  config = { key = "kernel.domainname", value = "example" }
}
resource "exec" {
  host       = host.m
  depends_on = [resource.file]
  type       = "${type.machine}#exec"
  config     = { name = "copy", unless = "cmp -s /srv/app/greeting /srv/copy", command = "cp /srv/app/greeting /srv/copy", undo = "rm /srv/copy" }
}
`

// TestStandardTypes_ConfigureAMachine takes a Debian machine through the life of its resources.
func TestStandardTypes_ConfigureAMachine(t *testing.T) {
	s := newSite(t)
	text := strings.NewReplacer("NAME", s.machine.Name, "SSH", s.machine.SSHFile()).Replace(manifest)
	if err := os.WriteFile(filepath.Join(s.dir, "main.hcl"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	seen := `stat -c '%n %a %U %G' /srv/app /srv/app/greeting; cat /srv/app/greeting /srv/copy; readlink /srv/app/current
grep -c '^X11Forwarding no$' /etc/ssh/sshd_config; grep -A1 BEGIN /etc/hosts; cat /proc/sys/kernel/domainname; ls /etc/sysctl.d | grep -c deployster`
	want := "/srv/app 750 root adm\n/srv/app/greeting 640 daemon root\nhello\nhello\ngreeting\n1\n# BEGIN deployster cluster\n10.0.0.1 db\nexample\n1"

	s.prints([]string{"plan"}, "6 to create, 1 to update", "whole machine")
	s.prints([]string{"apply", "-auto-approve"}, "6 created, 1 updated")
	s.holds(seen, want)
	s.prints([]string{"apply", "-auto-approve"}, "No changes")
	const drift = `chmod 777 /srv/app/greeting; echo by hand >/etc/hosts; rm /srv/app/current
sed -i 's/^X11Forwarding no/X11Forwarding yes/' /etc/ssh/sshd_config; echo other >/proc/sys/kernel/domainname`
	if _, err := s.machine.Shell(drift); err != nil {
		t.Fatal(err)
	}
	s.run("apply", "-auto-approve")
	s.holds(seen, want)
	s.run("apply", "-auto-approve", "-var", "greeting=hi there")
	s.holds("cat /srv/app/greeting /srv/copy", "hi there\nhi there")
	s.run("destroy", "-auto-approve")
	s.holds("ls /srv; ls /etc/sysctl.d | grep -c deployster; grep -c '^X11Forwarding' /etc/ssh/sshd_config; cat /etc/hosts", "0\n0\nby hand")
}
