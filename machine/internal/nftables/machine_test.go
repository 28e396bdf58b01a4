//go:build machines

package nftables

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"deployster/internal/testkit/machines"
	"deployster/machine/internal/access"
	"deployster/machine/internal/kindtest"
	"deployster/protocol"
)

func TestMain(m *testing.M) {
	os.Exit(machines.RunInside(m, "apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends nftables"))
}

func shell(t *testing.T, script string) string {
	t.Helper()
	out, err := exec.Command("sh", "-c", script).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", script, err, out)
	}
	return strings.TrimSpace(string(out))
}

// table returns a name that no other machine has: they share the packet filter of this one.
func table(t *testing.T, name string) string {
	t.Helper()
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	name = "test_" + host + "_" + name
	t.Cleanup(func() { shell(t, "nft delete table inet "+name+" 2>/dev/null || true") })
	return name
}

const rules = "set s {\n\ttype ipv4_addr\n\telements = { 192.0.2.1 }\n}\nchain c {\n\tip saddr @s counter accept\n}\n"

func valid(t *testing.T, r *kindtest.Resource, c kindtest.Config) {
	t.Helper()
	if a := r.State(c); a.Status != protocol.Valid {
		t.Errorf("%v: %+v", c, a)
	}
}

func TestTable_KernelAndBootAreTwoFacts(t *testing.T) {
	name := table(t, "life")
	r := kindtest.New(t, New(&access.Machine{Root: "/"}))
	c := kindtest.Config{"table": name, "ruleset": rules}
	r.Apply(c)
	valid(t, r, c)
	unit := "deployster-nftables-inet-" + name
	if got := shell(t, "systemctl is-enabled "+unit+"; nft list table inet "+name+" | grep -c counter; stat -c %a /etc/nftables.d/*.nft"); got !=
		"enabled\n1\n600" {
		t.Errorf("%s", got)
	}
	shell(t, "nft add rule inet "+name+" c drop")
	if a := r.Apply(c); len(a.Reasons) != 1 || a.Reasons[0].Path != "/ruleset" {
		t.Errorf("%+v", a.Reasons)
	}
	shell(t, "nft delete table inet "+name)
	if a := r.Apply(c); len(a.Reasons) != 1 || a.Reasons[0].Message != "the kernel does not have the table" {
		t.Errorf("%+v", a.Reasons)
	}
	shell(t, "systemctl disable "+unit)
	if a := r.Apply(c); len(a.Reasons) != 1 || a.Reasons[0].Message != "it is not loaded at boot" {
		t.Errorf("%+v", a.Reasons)
	}
	shell(t, "nft delete table inet "+name+"; systemctl start "+unit) // as at boot
	valid(t, r, c)
	c["ruleset"] = rules + "chain d {\n}\n"
	if a := r.Apply(c); len(a.Reasons) != 1 || a.Reasons[0].Path != "/ruleset" {
		t.Errorf("%+v", a.Reasons)
	}
	events := r.Watch(c)
	time.Sleep(200 * time.Millisecond)
	shell(t, "nft flush table inet "+name)
	select {
	case <-events:
	case <-time.After(5 * time.Second):
		t.Error("no event came")
	}
	r.Apply(c)
	r.Destroy(c)
	if got := shell(t, "nft list tables | grep -c "+name+"; ls -A /etc/nftables.d; systemctl show -p LoadState --value "+unit); got != "0\nnot-found" {
		t.Errorf("%s", got)
	}
	r.Destroy(c)
}

func TestTable_RulesAreCheckedBeforeTheyAreLoaded(t *testing.T) {
	name := table(t, "check")
	r := kindtest.New(t, New(&access.Machine{Root: "/"}))
	c := kindtest.Config{"table": name, "ruleset": rules}
	r.Apply(c)
	r.Fails(kindtest.Config{"table": name, "ruleset": "chain c {\n\tip saddr 1.2.3.4 acept\n}\n"}, "nft does not accept the rules, and nothing was changed",
		"/etc/nftables.d/deployster-inet-"+name+".nft")
	valid(t, r, c)
	r.Destroy(c)
}

func TestTable_ThatOfSomebodyElseIsNamed(t *testing.T) {
	name := table(t, "theirs")
	shell(t, "nft add table inet "+name)
	r := kindtest.New(t, New(&access.Machine{Root: "/"}))
	c := kindtest.Config{"table": name, "ruleset": rules}
	r.Destroy(c) // it is not this resource's
	if a := r.Apply(c); !a.Actions[0].Destructive || !strings.Contains(a.Reasons[0].Message, "somebody else has loaded") {
		t.Errorf("%+v", a)
	}
	r.Destroy(c)
}
