//go:build machines

package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
)

const judgedManifest = `
host "m" {
  address     = "NAME"
  ssh_options = ["-F", "SSH"]
}
type "machine" {
  image         = "deployster/machine"
  whole_machine = true
  host          = host.m
}
deployster {
  auto_edges = true
}
locals {
  all = jsondecode(file("judged.json"))
}
`

const judgedBlock = `
resource "KIND" {
  for_each = local.all.KIND
  type     = "${type.machine}#KIND"
  config   = each.value
}
`

// slots is how many objects of each kind a round has.
const slots = 8

// Ansible is the judge of eight kinds: random configs, by both on two machines, make the same of them, and nothing is to
// be done in a second run. What differs by design is in docs/from-ansible.md, and each kind names it where its task is made.
// DEPLOYSTER_MACHINE_JUDGED is how many configs of each kind there are, at least 8, and DEPLOYSTER_MACHINE_SEED chooses others:
// each eight of them are a round, in which the objects of the rounds before it are changed or removed.
func TestKinds_MakeWhatAnsibleMakes(t *testing.T) {
	t.Parallel()
	count, seed := number(t, "DEPLOYSTER_MACHINE_JUDGED", slots), number(t, "DEPLOYSTER_MACHINE_SEED", 1)
	p := newPair(t, "cron")
	if own, err := os.Readlink("/proc/self/ns/ipc"); err != nil || p.output(p.machine, "readlink /proc/self/ns/ipc") == own {
		t.Fatalf("a machine has the parameters of this one: %v", err)
	}
	p.each(judgedRepository())
	manifest := strings.NewReplacer("NAME", p.machine.Name, "SSH", p.machine.SSHFile()).Replace(judgedManifest)
	for _, kind := range judgedKinds {
		manifest += strings.ReplaceAll(judgedBlock, "KIND", kind.name)
	}
	p.write("main.hcl", manifest)
	random := rand.New(rand.NewPCG(uint64(seed), 1))
	had, last := map[string]bool{}, map[int]string{}
	for round := range (count + slots - 1) / slots {
		p.judged(fmt.Sprintf("round %d of seed %d", round, seed), random, round, had, last)
		if t.Failed() {
			return
		}
	}
	if out := p.play(); !strings.Contains(out, "changed=0 ") {
		t.Errorf("the second run of the playbook made changes:\n%s", out)
	}
	p.prints([]string{"apply", "-auto-approve"}, "No changes")
}

// judged draws configs, applies them on both machines and compares these.
func (p pair) judged(name string, random *rand.Rand, round int, had map[string]bool, last map[int]string) {
	p.t.Helper()
	manifest, before, check := map[string]map[string]any{}, []string{}, []string{}
	var tasks []any
	for _, kind := range judgedKinds {
		manifest[kind.name] = map[string]any{}
		for slot := range slots {
			d := draw{random, round, slot, had[fmt.Sprint(kind.name, slot)], last}
			one := kind.draw(d)
			if one.config != nil {
				manifest[kind.name][fmt.Sprint(slot)] = one.config
			}
			had[fmt.Sprint(kind.name, slot)] = one.config != nil
			for _, task := range one.tasks {
				task["name"] = fmt.Sprint(kind.name, " ", slot)
				tasks = append(tasks, task)
			}
			before, check = append(before, one.before), append(check, one.check)
		}
	}
	for file, value := range map[string]any{"judged.json": manifest,
		"playbook.yml": []any{map[string]any{"hosts": "all", "gather_facts": false, "tasks": tasks}}} {
		text, err := json.MarshalIndent(value, "", " ")
		if err != nil {
			p.t.Fatal(err)
		}
		p.write(file, string(text))
	}
	p.each("exec 2>/dev/null </dev/null\nmkdir -p /srv/judged /srv/home\n" + strings.Join(before, "\n") + "\nsystemctl daemon-reload\n:")
	p.applied()
	p.both(name, strings.Join(check, "\n"))
	if p.t.Failed() {
		text, _ := json.MarshalIndent(manifest, "", " ") // it was written above
		p.t.Logf("%s\n%s", name, text)
	}
}

// each runs a script on both machines.
func (p pair) each(script string) {
	p.t.Helper()
	for _, m := range []interface{ Shell(string) (string, error) }{p.machine, p.theirs} {
		if out, err := m.Shell(script); err != nil {
			p.t.Fatalf("%v\n%s", err, out)
		}
	}
}
