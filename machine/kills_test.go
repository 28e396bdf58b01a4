//go:build machines

package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

const killedManifest = `
variable "packages" { type = list(string) }
variable "text" { type = string }
variable "users" { type = list(string) }
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
resource "package" {
  for_each = toset(var.packages)
  host     = host.m
  type     = "${type.machine}#package"
  config   = { name = each.key }
}
resource "user" {
  for_each = toset(var.users)
  host     = host.m
  type     = "${type.machine}#user"
  config   = { name = each.key, remove_home = true }
}
resource "file" {
  for_each = toset(["a", "b", "c", "d"])
  host     = host.m
  type     = "${type.machine}#file"
  config   = { path = "/srv/${each.key}", content = "${var.text}\n", mode = "0640" }
}
resource "line" {
  host   = host.m
  type   = "${type.machine}#line"
  config = { path = "/etc/hosts", id = "killed", line = "10.0.0.1 ${var.text}", match = "^10.0.0.1 " }
}
resource "exec" {
  host = host.m
  type = "${type.machine}#exec"
  config = {
    name    = "alone"
    unless  = "test \"$(cat /srv/done)\" = ${var.text}"
    command = "flock -n /run/alone sh -c 'sleep 0.1; echo ${var.text} >/srv/done' || touch /srv/twice"
  }
}
`

// TestApply_KilledOnAMachine kills the client, the type or what runs it at a random moment of an apply, and applies
// again: nothing is lost, nothing is there or running twice, and no half of a file is left.
// DEPLOYSTER_MACHINE_KILLS is how often, and DEPLOYSTER_MACHINE_SEED chooses others.
func TestApply_KilledOnAMachine(t *testing.T) {
	count := number(t, "DEPLOYSTER_MACHINE_KILLS", 3)
	seed := number(t, "DEPLOYSTER_MACHINE_SEED", 1)
	random := rand.New(rand.NewPCG(uint64(seed), 0))
	s := newSite(t)
	text := strings.NewReplacer("NAME", s.machine.Name, "SSH", s.machine.SSHFile()).Replace(killedManifest)
	if err := os.WriteFile(filepath.Join(s.dir, "main.hcl"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	independent := strings.NewReplacer("hello hello-data", "hello-a hello-b hello-c", "[ $p = hello-data ] ||", ":").Replace(repository)
	if _, err := s.machine.Shell(independent + `
echo 'deb [trusted=yes] copy:/srv/repository ./' >/etc/apt/sources.list && apt-get update && mkdir -p /var/lib/apt/periodic &&
touch /var/lib/apt/periodic/update-success-stamp`); err != nil {
		t.Fatal(err)
	}
	usual, fell := 3*time.Second, map[string]int{}
	for round := range count {
		w := drawn(random, round)
		begin, after := time.Now(), time.Duration(random.Int64N(int64(usual)))
		victim := []string{"client", "type", "shim", "far end"}[random.IntN(4)]
		name := fmt.Sprintf("round %d of seed %d: %s after %s, %v", round, seed, victim, after.Round(time.Millisecond), w.args())
		c := s.command(append([]string{"apply", "-auto-approve"}, w.args()...)...)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- c.Wait() }()
		select {
		case <-ended: // it was faster
			usual = max(time.Since(begin), 500*time.Millisecond)
		case <-time.After(after):
			switch victim {
			case "client":
				_ = c.Process.Kill() // it may have ended
			case "type":
				_, _ = s.machine.Shell("pkill -KILL -x machine") // there may be none
			case "shim":
				_, _ = s.machine.Shell("pkill -KILL -f deployster-shim")
			case "far end":
				_, _ = s.machine.Shell("pkill -KILL -x deployster")
			}
			fell[victim]++
			<-ended
		}
		w.reached(s, name)
		if t.Failed() {
			return
		}
		if (round+1)%50 == 0 || round+1 == count {
			t.Logf("%d rounds; killed in an apply: %v", round+1, fell)
		}
	}
}

func number(t *testing.T, variable string, otherwise int) int {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", variable, err)
	}
	return n
}

// wish is what a manifest declares.
type wish struct {
	packages, users []string
	text            string
}

func drawn(random *rand.Rand, round int) wish {
	w := wish{text: fmt.Sprintf("t%d", round)}
	for _, name := range []string{"hello-a", "hello-b", "hello-c"} {
		if random.IntN(2) == 0 {
			w.packages = append(w.packages, name)
		}
	}
	for _, name := range []string{"ann", "bob"} {
		if random.IntN(2) == 0 {
			w.users = append(w.users, name)
		}
	}
	return w
}

func (w wish) args() []string {
	list := func(names []string) string {
		if len(names) == 0 {
			return "[]"
		}
		return `["` + strings.Join(names, `", "`) + `"]`
	}
	return []string{"-var", "packages=" + list(w.packages), "-var", "users=" + list(w.users), "-var", "text=" + w.text}
}

// reached applies until it ends well, which takes two tries at the most, and looks at the machine.
func (w wish) reached(s site, name string) {
	s.t.Helper()
	for try := 1; ; try++ {
		out, err := s.command(append([]string{"apply", "-auto-approve"}, w.args()...)...).CombinedOutput()
		if err == nil {
			break
		}
		if try == 3 {
			s.t.Fatalf("%s: %v\n%s", name, err, out)
		}
	}
	if out, err := s.command(append([]string{"plan", "-detailed-exitcode"}, w.args()...)...).CombinedOutput(); err != nil {
		s.t.Errorf("%s: it is not all done: %v\n%s", name, err, out)
	}
	out, err := s.machine.Shell(`cat /srv/a /srv/b /srv/c /srv/d; ls -A /srv | tr '\n' ' '; echo; stat -c %a /srv/a; grep -c 10.0.0.1 /etc/hosts
getent passwd ann bob | cut -d: -f1; dpkg --audit; dpkg-query -W -f '${Package} ${db:Status-Status}\n' 'hello*' 2>/dev/null | sed -n 's/ installed$//p'`)
	want := strings.Repeat(w.text+"\n", 4) + "a b c d done repository \n640\n1\n" + lines(w.users)
	if want += lines(w.packages); err != nil || out+"\n" != want {
		s.t.Errorf("%s: %v, the machine has\n%s\nand must have\n%s", name, err, out, want)
	}
}

func lines(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return strings.Join(names, "\n") + "\n"
}
