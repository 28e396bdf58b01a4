//go:build machines

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const guardedManifest = `
host "m" {
  address             = "NAME"
  ssh_options         = ["-F", "SSH"]
  undo_unless_reached = "10s"
}
type "machine" {
  image         = "deployster/machine"
  whole_machine = true
}
deployster {
  auto_edges = true
}
`

// guardedSite is a site whose host undoes guarded actions.
func guardedSite(t *testing.T) site {
	s := newSite(t)
	if err := s.machine.Ready(); err != nil {
		t.Fatal(err)
	}
	return s
}

// declares writes the manifest with resources.
func (s site) declares(resources string) {
	s.t.Helper()
	text := strings.NewReplacer("NAME", s.machine.Name, "SSH", s.machine.SSHFile(), "ADDRESS", s.machine.Address, "PORT", s.machine.Port).
		Replace(guardedManifest + resources)
	if err := os.WriteFile(filepath.Join(s.dir, "main.hcl"), []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// fails runs deployster, which must fail, and wants texts in what it prints.
func (s site) fails(args []string, texts ...string) {
	s.t.Helper()
	out, err := s.command(args...).CombinedOutput()
	if err == nil {
		s.t.Errorf("deployster %s does not fail", strings.Join(args, " "))
	}
	for _, text := range texts {
		if !strings.Contains(string(out), text) {
			s.t.Errorf("deployster %s does not print %q:\n%s", strings.Join(args, " "), text, out)
		}
	}
}

// reached wants a new login to the machine.
func (s site) reached() {
	s.t.Helper()
	for limit := time.Now().Add(30 * time.Second); ; time.Sleep(200 * time.Millisecond) {
		out, err := s.machine.SSH("true").CombinedOutput()
		if err == nil {
			return
		}
		if time.Now().After(limit) {
			s.t.Fatalf("the machine cannot be reached: %v\n%s", err, out)
		}
	}
}

// clean wants nothing of a guard on the machine.
func (s site) clean() {
	s.t.Helper()
	for limit := time.Now().Add(20 * time.Second); ; time.Sleep(200 * time.Millisecond) {
		out, err := s.machine.Shell("find /var/lib/deployster/guard -mindepth 1; find /etc/systemd/system -name 'deployster-guard-*'; " +
			"systemctl list-units --no-legend 'deployster-guard-*'")
		if err == nil && strings.TrimSpace(out) == "" || time.Now().After(limit) {
			if out != "" {
				s.t.Errorf("of the guard there is left:\n%s", out)
			}
			return
		}
	}
}

const wrongSSH = `
resource "ssh_config" {
  host   = host.m
  type   = "${type.machine}#file"
  config = { path = "/etc/ssh/sshd_config.d/10-root.conf", content = "PermitRootLogin no\n" }
}
resource "ssh" {
  host       = host.m
  type       = "${type.machine}#service"
  subscribe  = [resource.ssh_config]
  config     = { name = "ssh", running = true }
}
`

// A config of sshd that refuses the next login is undone, and one that does not stays.
func TestGuard_ConfigOfSSH(t *testing.T) {
	s := guardedSite(t)
	s.declares(wrongSSH)
	s.run("init")
	s.prints([]string{"plan"}, "will be reverted after 10s unless the host can be reached again")
	s.fails([]string{"apply", "-auto-approve", "-approve=whole-machine"}, "reverted", "could not be reached again within 10s")
	s.reached()
	s.holds("ls /etc/ssh/sshd_config.d/10-root.conf 2>/dev/null | wc -l", "0")
	s.clean()
	s.prints([]string{"plan"}, "PermitRootLogin no")

	s.declares(strings.Replace(wrongSSH, "PermitRootLogin no", "PermitRootLogin prohibit-password", 1))
	s.prints([]string{"apply", "-auto-approve", "-approve=whole-machine"}, "so that the changes of ssh_config, ssh stay")
	s.reached()
	s.holds("cat /etc/ssh/sshd_config.d/10-root.conf", "PermitRootLogin prohibit-password")
	s.clean()
	s.prints([]string{"plan"}, "No changes")
}

// Another port locks out as a refusal does; the firewall, too.
func TestGuard_Firewall(t *testing.T) {
	s := guardedSite(t)
	if _, err := s.machine.Shell("apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends nftables"); err != nil {
		t.Fatal(err)
	}
	table := "guard_" + s.machine.Name
	t.Cleanup(func() { _, _ = s.machine.Shell("nft delete table inet " + table) }) // the packet filter is shared
	rules := fmt.Sprintf(`
resource "firewall" {
  host   = host.m
  type   = "${type.machine}#nftables"
  config = { table = %q, ruleset = "chain in {\n\ttype filter hook input priority 0\n\tip daddr ADDRESS tcp dport PORT VERDICT\n}\n" }
}
`, table)
	s.declares(strings.Replace(rules, "VERDICT", "accept", 1))
	s.run("init")
	s.run("apply", "-auto-approve", "-approve=whole-machine")
	s.declares(strings.Replace(rules, "VERDICT", "drop", 1))
	s.fails([]string{"apply", "-auto-approve"}, "reverted")
	s.reached()
	s.holds("nft list table inet "+table+" | grep -c dport.*accept; grep -c accept /etc/nftables.d/*.nft", "1\n1")
	s.clean()
}

// Another port of sshd locks out a client that knows the old one, and is undone.
func TestGuard_AnotherPortOfSSH(t *testing.T) {
	s := guardedSite(t)
	const listen = "/etc/ssh/sshd_config.d/listen.conf"
	had, err := s.machine.Shell("cat " + listen)
	if err != nil {
		t.Fatal(err)
	}
	s.declares(strings.NewReplacer("10-root.conf", "listen.conf", `"PermitRootLogin no\n"`, fmt.Sprintf("%q", strings.Replace(had+"\n", ":"+s.machine.Port,
		":3999", 1))).Replace(wrongSSH))
	s.run("init")
	s.fails([]string{"apply", "-auto-approve", "-approve=whole-machine"}, "reverted", "could not be reached again within 10s")
	s.reached()
	s.holds("cat "+listen, had)
	s.clean()
}

const wrongNetwork = `
resource "network" {
  host   = host.m
  type   = "${type.machine}#file"
  config = { path = "/etc/network/route", content = "KIND\n" }
}
resource "networking" {
  host      = host.m
  type      = "${type.machine}#service"
  subscribe = [resource.network]
  config    = { name = "networking", running = true, on_refresh = "restart" }
}
`

// A change of the network that takes the address of the machine away is undone.
func TestGuard_Network(t *testing.T) {
	s := guardedSite(t)
	// The network is shared with this machine: the route concerns the address of the booted one alone.
	remove := "ip route del unreachable ADDRESS table local 2>/dev/null"
	script := strings.ReplaceAll(`mkdir -p /etc/network && echo none >/etc/network/route
printf '[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=/bin/sh /etc/network/up\n' >/etc/systemd/system/networking.service
printf '`+remove+`\n[ "$(cat /etc/network/route)" = none ] || ip route add unreachable ADDRESS table local\n' >/etc/network/up
systemctl daemon-reload && systemctl start networking`, "ADDRESS", s.machine.Address)
	if _, err := s.machine.Shell(script); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = s.machine.Shell(strings.ReplaceAll(remove, "ADDRESS", s.machine.Address)) })
	s.declares(strings.Replace(wrongNetwork, "KIND", "unreachable", 1))
	s.run("init")
	s.fails([]string{"apply", "-auto-approve", "-approve=whole-machine"}, "reverted")
	s.reached()
	s.holds("cat /etc/network/route", "none")
	s.clean()
}

// A client that is killed leaves an undo to the machine; a power failure, too.
func TestGuard_KilledAndRebooted(t *testing.T) {
	s := guardedSite(t)
	s.declares(wrongSSH)
	s.run("init")
	for _, reboot := range []bool{false, true} {
		c := s.command("apply", "-auto-approve", "-approve=whole-machine")
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		for limit := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
			if out, _ := s.machine.Shell("cat /etc/ssh/sshd_config.d/10-root.conf 2>/dev/null"); out != "" {
				break
			}
			if time.Now().After(limit) {
				t.Fatal("the config is not written")
			}
		}
		_ = c.Process.Kill()
		_ = c.Wait()
		if reboot {
			if err := s.machine.Reboot(); err != nil {
				t.Fatal(err)
			}
		}
		for limit := time.Now().Add(time.Minute); ; time.Sleep(200 * time.Millisecond) {
			if out, _ := s.machine.Shell("cat /etc/ssh/sshd_config.d/10-root.conf 2>/dev/null"); out == "" {
				break
			}
			if time.Now().After(limit) {
				out, _ := s.machine.Shell("journalctl -u 'deployster-guard-*' --no-pager | tail -30; find /var/lib/deployster/guard")
				t.Fatalf("reboot %v: it is not undone:\n%s", reboot, out)
			}
		}
		s.reached()
	}
	s.declares(strings.Replace(wrongSSH, "PermitRootLogin no", "PermitRootLogin prohibit-password", 1))
	s.run("apply", "-auto-approve", "-approve=whole-machine")
	s.clean()
}
