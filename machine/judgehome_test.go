//go:build machines

package main

import (
	"strings"
	"testing"
)

const formerManifest = `
host "m" {
  address     = "NAME"
  ssh_options = ["-F", "SSH"]
}
type "machine" {
  image         = "deployster/machine"
  whole_machine = true
  host          = host.m
}
variable "users" { type = any }
resource "user" {
  for_each = var.users
  type     = "${type.machine}#user"
  config   = each.value
}
`

// A user whose number and home are changed, and whose home is then set back, has a home that its former number owns: usermod
// gives away only what the user has then. Both leave it so. userdel removes such a user, and fails at its home; Ansible
// fails with it, and does not find the user any more when it is run again. Deployster refuses before anything is removed.
func TestUser_HomeOfAFormerNumberIsRefused(t *testing.T) {
	t.Parallel()
	p := newPair(t, "")
	p.write("main.hcl", strings.NewReplacer("NAME", p.machine.Name, "SSH", p.machine.SSHFile()).Replace(formerManifest))
	playbook := func(user string) {
		p.write("playbook.yml", "[{hosts: all, gather_facts: false, tasks: [{ansible.builtin.user: {name: former, "+user+"}}]}]\n")
	}
	users := func(config string) {
		p.write("vars.auto.hcl", "users = { former = { name = \"former\", remove_home = true, "+config+" } }\n")
	}
	for _, step := range []struct{ theirs, ours string }{
		{"uid: 62001, home: /home/former", `uid = 62001, home = "/home/former"`},
		{"uid: 62002, home: /srv/former", `uid = 62002, home = "/srv/former"`},
		{"uid: 62002, home: /home/former", `uid = 62002, home = "/home/former"`},
	} {
		playbook(step.theirs)
		users(step.ours)
		p.applied()
		p.both(step.ours, "getent passwd former; find /home /srv -printf '%p %y %m %U %s\\n' | sort")
	}
	p.holds("stat -c %u /home/former", "62001")

	playbook("state: absent, remove: true")
	if out, err := p.playbook(); err == nil || !strings.Contains(out, "not owned by former") {
		t.Errorf("Ansible has removed the user: %v\n%s", err, out)
	}
	p.write("vars.auto.hcl", "users = {}\n")
	out, err := p.command("apply", "-auto-approve").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "belongs to the user number 62001") {
		t.Errorf("deployster has removed the user: %v\n%s", err, out)
	}
	if left := p.output(p.theirs, "getent passwd former; stat -c %u /home/former"); left != "62001" {
		t.Errorf("Ansible has left %q", left)
	}
	p.holds("getent passwd former | cut -d: -f3; stat -c %u /home/former", "62002\n62001")
}
