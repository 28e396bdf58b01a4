//go:build machines

package etc_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"deployster/internal/testkit/machines"
	"deployster/machine/internal/access"
	"deployster/machine/internal/etc"
	"deployster/machine/internal/kindtest"
)

func TestMain(m *testing.M) {
	os.Exit(machines.RunInside(m, "apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends sudo cron"))
}

var here = &access.Machine{Root: "/"}

func shell(t *testing.T, script string) string {
	t.Helper()
	out, err := exec.Command("sh", "-c", script).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", script, err, out)
	}
	return strings.TrimSpace(string(out))
}

func TestSudoers_IsCheckedBeforeItIsThere(t *testing.T) {
	r := kindtest.New(t, etc.NewSudoers(here))
	c := config{"name": "deploy", "content": "daemon ALL=(ALL) NOPASSWD: /usr/bin/id"}
	r.Apply(c)
	if out := shell(t, "stat -c %a:%u:%g /etc/sudoers.d/deploy; runuser -u daemon -- sudo -n id -u"); out != "440:0:0\n0" {
		t.Errorf("%s", out)
	}
	bad := config{"name": "deploy", "content": "daemon ALL=(ALL) NOPASWD: /usr/bin/id\n"}
	r.Fails(bad, "sudo does not accept the rules, and nothing was changed", "/etc/sudoers.d/deploy")
	valid(t, r, c)
	shell(t, "chmod 666 /etc/sudoers.d/deploy")
	if a := r.Apply(c); len(a.Reasons) != 1 || !strings.Contains(a.Reasons[0].Message, "0666") {
		t.Errorf("%+v", a.Reasons)
	}
	r.Destroy(c)
}

func TestSudoers_AliasesOfTwoFilesAreCheckedTogether(t *testing.T) {
	first := kindtest.New(t, etc.NewSudoers(here))
	c := config{"name": "first", "content": "User_Alias OPS = daemon\nOPS ALL=(ALL) NOPASSWD: ALL\n"}
	first.Apply(c)
	second := kindtest.New(t, etc.NewSudoers(here))
	second.Fails(config{"name": "second", "content": "User_Alias OPS = bin\n"}, "sudo does not accept the rules", "OPS")
	if out := shell(t, "visudo -c -q; ls /etc/sudoers.d /run/deployster-machine"); strings.Contains(out, "second") || strings.Contains(out, "sudoers-") {
		t.Errorf("%s", out)
	}
	shell(t, "echo 'User_Alias OPS = games' >/etc/sudoers.d/broken; chmod 440 /etc/sudoers.d/broken")
	third := kindtest.New(t, etc.NewSudoers(here)) // what is broken already is no reason to refuse
	third.Apply(config{"name": "third", "content": "bin ALL=(ALL) ALL\n"})
	if !strings.Contains(third.Log.String(), "rules of others") {
		t.Errorf("%s", third.Log.String())
	}
	shell(t, "rm /etc/sudoers.d/broken")
	third.Destroy(config{"name": "third", "content": ""})
	first.Destroy(c)
}

func TestCron_RunsTheCommandAsItIs(t *testing.T) {
	r := kindtest.New(t, etc.NewCron(here))
	c := config{"name": "job", "user": "daemon", "schedule": "@reboot", "command": `printf '%s\n' "$A" "$(id -un)" '50% off' >/tmp/cron-ran`,
		"env": map[string]string{"A": `say "x"  y`}}
	r.Apply(c)
	valid(t, r, c)
	shell(t, "systemctl stop cron; rm -f /run/crond.reboot; systemctl start cron")
	for range 100 {
		if _, err := os.Stat("/tmp/cron-ran"); err == nil {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	time.Sleep(100 * time.Millisecond)
	if out := shell(t, "cat /tmp/cron-ran"); out != "say \"x\"  y\ndaemon\n50% off" {
		t.Errorf("%q", out)
	}
	events := r.Watch(c)
	shell(t, "rm /etc/cron.d/job")
	select {
	case <-events:
	case <-time.After(5 * time.Second):
		t.Error("no event came")
	}
	r.Apply(c)
	r.Destroy(c)
}

// The kernel of the tests has no modules.
func TestModule_ThatCannotBeLoadedIsNotLoadedAtBoot(t *testing.T) {
	r := kindtest.New(t, etc.NewModule(here))
	r.Fails(config{"name": "no-such-module"}, "cannot be loaded, and is not loaded at boot")
	if _, err := os.Stat("/etc/modules-load.d/deployster-no_such_module.conf"); err == nil {
		t.Error("it is loaded at boot")
	}
}
