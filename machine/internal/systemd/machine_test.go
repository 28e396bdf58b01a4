//go:build machines

package systemd

import (
	"os"
	"strings"
	"testing"
	"time"

	"deployster/internal/testkit/machines"
	"deployster/machine/internal/access"
	"deployster/machine/internal/kindtest"
	"deployster/protocol"
)

func TestMain(m *testing.M) {
	os.Exit(machines.RunInside(m, "apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends e2fsprogs"))
}

type config = kindtest.Config

var here = &access.Machine{Root: "/"}

func service(t *testing.T) *kindtest.Resource { return kindtest.New(t, NewService(here)) }

// made writes a unit that lives until the end of the test.
func made(t *testing.T, unit, text string) {
	t.Helper()
	path := unitDir + "/" + unit
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	kindtest.Shell(t, "systemctl daemon-reload")
	t.Cleanup(func() {
		kindtest.Shell(t, "systemctl disable --now "+unit+" 2>/dev/null; systemctl unmask "+unit+" 2>/dev/null; systemctl reset-failed "+
			""+unit+" 2>/dev/null; rm -rf "+path+" "+path+".d; systemctl daemon-reload")
	})
}

const sleeper = "[Service]\nExecStart=/bin/sleep 10000\n[Install]\nWantedBy=multi-user.target\n"

func is(t *testing.T, unit string) string {
	t.Helper()
	return kindtest.Shell(t, "systemctl is-active "+unit+" || true; systemctl is-enabled "+unit+" 2>/dev/null || true")
}

func TestService_RunningAndEnabledAreTwoFacts(t *testing.T) {
	made(t, "sleeper.service", sleeper)
	r := service(t)
	for _, c := range []struct {
		config  config
		actions string
		want    string
	}{
		{config{"name": "sleeper", "running": true}, "start", "active\ndisabled"},
		{config{"name": "sleeper", "enabled": true}, "enable", "active\nenabled"},
		{config{"name": "sleeper", "running": false}, "stop", "inactive\nenabled"},
		{config{"name": "sleeper", "running": true, "enabled": false}, "disable start", "active\ndisabled"},
		{config{"name": "sleeper", "running": false, "enabled": false}, "stop", "inactive\ndisabled"},
		{config{"name": "sleeper"}, "", "inactive\ndisabled"},
	} {
		a := r.Apply(c.config)
		if kindtest.Names(a) != c.actions || is(t, "sleeper") != c.want {
			t.Errorf("%v: %q, and it is %q", c.config, kindtest.Names(a), is(t, "sleeper"))
		}
		r.Valid(c.config)
	}
	r.Apply(config{"name": "sleeper", "running": true, "enabled": true})
	if a := r.Destroy(config{"name": "sleeper", "running": true}); kindtest.Names(a) != "stop" || is(t, "sleeper") != "inactive\nenabled" {
		t.Errorf("%q, and it is %q", kindtest.Names(a), is(t, "sleeper"))
	}
	if a := r.Destroy(config{"name": "sleeper", "running": true, "enabled": true}); kindtest.Names(a) != "disable" {
		t.Errorf("%q", kindtest.Names(a))
	}
}

func TestService_StaticIsNotDisabled(t *testing.T) {
	made(t, "static.service", "[Service]\nExecStart=/bin/sleep 10000\n")
	made(t, "indirect.service", "[Service]\nExecStart=/bin/sleep 10000\n[Install]\nAlso=static.service\n")
	made(t, "masked.service", sleeper)
	kindtest.Shell(t, "mv /etc/systemd/system/masked.service /run/systemd/system/; systemctl daemon-reload; systemctl mask masked.service")
	for name, word := range map[string]string{"static": "static", "indirect": "indirect"} {
		for _, value := range []bool{true, false} {
			service(t).Fails(config{"name": name, "enabled": value}, "config", "/enabled", word)
		}
	}
	service(t).Fails(config{"name": "masked", "enabled": true}, "config", "/enabled", "masked", "unmask")
	service(t).Fails(config{"name": "masked", "running": true}, "config", "/running", "masked", "unmask")
	service(t).Valid(config{"name": "masked", "enabled": false, "running": false})
	service(t).Apply(config{"name": "static", "running": true})
}

func TestService_GeneratedIsNotDisabled(t *testing.T) {
	kindtest.Shell(t, "printf '#!/bin/sh\\n### BEGIN INIT INFO\\n# Provides: old\\n# Default-Start: 2\\n### END INIT INFO\\nexit "+
		"0\\n' >/etc/init.d/old && chmod 755 /etc/init.d/old && systemctl daemon-reload")
	defer kindtest.Shell(t, "rm /etc/init.d/old && systemctl daemon-reload")
	service(t).Fails(config{"name": "old", "enabled": true}, "config", "/enabled", "generated")
}

func TestService_OneshotNeverRuns(t *testing.T) {
	made(t, "once.service", "[Service]\nType=oneshot\nExecStart=/bin/true\n")
	service(t).Fails(config{"name": "once", "running": true}, "config", "/running", "oneshot")
}

func TestService_FailedStartShowsItsJournal(t *testing.T) {
	made(t, "fails.service", "[Service]\nExecStart=/bin/sh -c 'echo the port is taken; exit 3'\nRestart=no\n")
	r := service(t)
	r.Fails(config{"name": "fails", "running": true}, "start failed", "the port is taken")
	made(t, "fails-late.service", "[Service]\nType=notify\nExecStart=/bin/sh -c 'echo no licence; sleep 0.1; exit 3'\n")
	r.Fails(config{"name": "fails-late", "running": true}, "start failed", "no licence")
}

func TestService_StartLimitIsReset(t *testing.T) {
	made(t, "limited.service", "[Unit]\nStartLimitIntervalSec=1000\nStartLimitBurst=2\n[Service]\nExecStart=/bin/sh -c 'test "+
		"-e /run/allowed && exec sleep 10000'\n")
	kindtest.Shell(t, "for i in 1 2 3 4; do systemctl start limited; sleep 0.1; done; true")
	kindtest.Shell(t, "touch /run/allowed; ! systemctl start limited")
	service(t).Apply(config{"name": "limited", "running": true})
}

func TestService_ReloadsSystemdOnlyIfNeeded(t *testing.T) {
	made(t, "changed.service", sleeper)
	stamp := func() string { return kindtest.Shell(t, "systemctl show -p UnitsLoadTimestampMonotonic --value") }
	before := stamp()
	service(t).Apply(config{"name": "changed", "running": true})
	if stamp() != before {
		t.Error("systemd was reloaded without need")
	}
	kindtest.Shell(t, "sed -i s/10000/20000/ /etc/systemd/system/changed.service")
	service(t).Refresh(config{"name": "changed", "running": true})
	if stamp() == before || !strings.Contains(kindtest.Shell(t, "systemctl show -p ExecStart changed"), "20000") {
		t.Error("systemd was not reloaded")
	}
}

func TestService_RefreshReloadsOrRestarts(t *testing.T) {
	made(t, "plain.service", sleeper)
	made(t, "reloads.service", "[Service]\nExecStart=/bin/sleep 10000\nExecReload=/bin/touch /run/reloaded\n")
	kindtest.Shell(t, "systemctl start plain reloads")
	for _, c := range []struct {
		config config
		want   string
	}{
		{config{"name": "plain"}, "restart"},
		{config{"name": "reloads"}, "reload"},
		{config{"name": "reloads", "on_refresh": "restart"}, "restart"},
		{config{"name": "plain", "on_refresh": "none"}, ""},
		{config{"name": "plain", "running": false}, "stop"},
	} {
		r := service(t)
		pid := kindtest.Shell(t, "systemctl show -p MainPID --value "+c.config["name"].(string))
		a := r.Refresh(c.config)
		if kindtest.Names(a) != c.want {
			t.Errorf("%v: %q, and must be %q", c.config, kindtest.Names(a), c.want)
		}
		if now := kindtest.Shell(t, "systemctl show -p MainPID --value "+c.config["name"].(string)); (now != pid) != (c.want == "restart" ||
			c.want == "stop") {
			t.Errorf("%v: process %s is %s now", c.config, pid, now)
		}
	}
	if _, err := os.Stat("/run/reloaded"); err != nil {
		t.Error(err)
	}
}

func TestService_MissingUnitIsPlanned(t *testing.T) {
	r := service(t)
	if a := r.State(config{"name": "later", "running": true, "enabled": true}); kindtest.Names(a) != "enable start" ||
		!strings.Contains(a.Reasons[0].Message, "no unit later.service") {
		t.Errorf("%+v", a)
	}
	r.Fails(config{"name": "later", "running": true}, "there is no unit later.service on this machine")
	r.Fails(config{"name": "ssh.service", "running": true}, "config", "/name", `write "ssh"`)
}

func TestService_IsWatched(t *testing.T) {
	made(t, "watched.service", sleeper)
	kindtest.Shell(t, "systemctl start watched")
	r := service(t)
	events := r.Watch(config{"name": "watched", "running": true})
	for _, change := range []string{"systemctl stop watched", "systemctl start watched; pkill -f '[s]leep 10000'",
		"systemctl enable watched"} {
		for len(events) > 0 {
			<-events
		}
		begin := time.Now()
		kindtest.Shell(t, change)
		select {
		case <-events:
			t.Logf("%s: an event after %s", change, time.Since(begin))
		case <-time.After(5 * time.Second):
			t.Errorf("%s: no event came", change)
		}
		time.Sleep(200 * time.Millisecond)
	}
}

func TestService_IsDiscovered(t *testing.T) {
	found := map[any]config{}
	for _, c := range service(t).Discover(config{"name": "x"}) {
		found[c["name"]] = c
	}
	if c := found["ssh"]; c["running"] != true || c["enabled"] != true {
		t.Errorf("ssh is %v of %v", c, found)
	}
	for _, c := range found {
		service(t).Valid(c)
	}
}

const tick = "[Unit]\nDescription=x\n[Service]\nExecStart=/bin/true\n"

func TestUnit_IsVerifiedBeforeItIsThere(t *testing.T) {
	r := kindtest.New(t, NewUnit(here))
	for content, words := range map[string]string{
		"[Service]\nExecStrat=/bin/true\n":                        "ExecStrat",
		"[Service]\nExecStart=relative/path\n":                    "relative/path",
		"[Unit]\nDescription=no service\n":                        "tick",
		"[Service]\nExecStart=/bin/true\nRestart=sometimes\n":     "sometimes",
		"[Servce]\nExecStart=/bin/true\n":                         "Servce",
		"[Service]\nExecStart=/bin/true\nTimeoutStartSec=often\n": "often",
	} {
		r.Fails(config{"name": "tick", "content": content}, "does not accept", words)
		if _, err := os.Stat(unitDir + "/tick.service"); err == nil {
			t.Fatalf("%q was written", content)
		}
	}
	if left := kindtest.Shell(t, "ls /run/deployster-machine | grep verify || true"); left != "" {
		t.Errorf("%s is left", left)
	}
}

func TestUnit_IsWrittenReadAndRemoved(t *testing.T) {
	r := kindtest.New(t, NewUnit(here))
	r.Apply(config{"name": "tick", "content": tick})
	if text := kindtest.Shell(t, "systemctl cat tick | tail -n +2; stat -c %a:%U /etc/systemd/system/tick.service; systemctl show -p "+
		"NeedDaemonReload --value tick"); text != strings.TrimSpace(tick)+"\n644:root\nno" {
		t.Errorf("systemd has %q", text)
	}
	c := config{"name": "tick", "sections": map[string]any{"Service": map[string]any{"ExecStart": []any{"/bin/sleep 10000"}},
		"Install": map[string]any{"WantedBy": "multi-user.target"}}}
	if a := r.Apply(c); a.Reasons[0].Path != "/sections" {
		t.Errorf("the reasons are %+v", a.Reasons)
	}
	r.Valid(c)
	service(t).Apply(config{"name": "tick", "running": true, "enabled": true})
	kindtest.Shell(t, "echo '# by hand' >>/etc/systemd/system/tick.service")
	if a := r.Apply(c); kindtest.Names(a) != "update" {
		t.Errorf("%q", kindtest.Names(a))
	}
	r.Destroy(c)
	if state := kindtest.Shell(t, "systemctl show -p LoadState --value tick; ls "+
		"/etc/systemd/system/multi-user.target.wants/tick.service 2>/dev/null; pgrep -f '[s]leep 10000' || true"); state != "not-found" {
		t.Errorf("after its removal: %s", state)
	}
}

func TestUnit_AMaskIsReplacedAndReported(t *testing.T) {
	kindtest.Shell(t, "ln -s /dev/null /etc/systemd/system/tick.service; systemctl daemon-reload")
	r := kindtest.New(t, NewUnit(here))
	if a := r.Apply(config{"name": "tick", "content": tick}); !strings.Contains(a.Reasons[0].Message, "masks the unit") {
		t.Errorf("%+v", a.Reasons)
	}
	r.Destroy(config{"name": "tick", "content": tick})
}

func TestUnit_ALaterProgramIsNotAFault(t *testing.T) {
	r, c := kindtest.New(t, NewUnit(here)), config{"name": "tick", "content": "[Service]\nExecStart=/opt/comes/later\n"}
	r.Apply(c)
	r.Destroy(c)
}

func TestDropIn_AddsToAUnit(t *testing.T) {
	made(t, "base.service", sleeper)
	r, c := kindtest.New(t, NewDropIn(here)), config{"unit": "base", "name": "limits", "content": "[Service]\nLimitNOFILE=4321"}
	r.Fails(config{"unit": "base", "name": "limits", "content": "[Service]\nLimitNOFLE=1"}, "does not accept", "LimitNOFLE")
	r.Apply(c)
	r.Valid(c)
	if got := kindtest.Shell(t, "systemctl show -p LimitNOFILE --value base"); got != "4321" {
		t.Errorf("systemd has %s", got)
	}
	r.Destroy(c)
	if _, err := os.Stat(unitDir + "/base.service.d"); err == nil {
		t.Error("its directory is left")
	}
}

func TestTimer_BringsItsService(t *testing.T) {
	r := kindtest.New(t, NewTimer(here))
	c := config{"name": "clock", "command": []string{"/bin/sh", "-c", `echo "$0 $A" >/run/clock`, "50% off"},
		"calendar": []string{"*-*-* 04:00:00"}, "environment": map[string]string{"A": "b c"}}
	r.Apply(c)
	r.Valid(c)
	if text := kindtest.Shell(t, "systemctl start clock.service; cat /run/clock"); text != "50% off b c" {
		t.Errorf("it has written %q", text)
	}
	c["calendar"] = []string{"2099-01-01"}
	r.Apply(c)
	if next := kindtest.Shell(t, "systemctl show -p NextElapseUSecRealtime --value clock.timer"); !strings.Contains(next, "2099-01-01") {
		t.Errorf("it waits for %s", next)
	}
	events := r.Watch(c)
	kindtest.Shell(t, "systemctl disable --now clock.timer")
	select {
	case <-events:
	case <-time.After(5 * time.Second):
		t.Error("no event came")
	}
	if a := r.Apply(c); len(a.Reasons) != 2 {
		t.Errorf("%+v", a.Reasons)
	}
	r.Destroy(c)
	if left := kindtest.Shell(t, "ls /etc/systemd/system | grep clock; systemctl show -p LoadState --value clock.timer "+
		"clock.service"); left != "not-found\n\nnot-found" {
		t.Errorf("after its removal: %q", left)
	}
}

func TestTimer_CalendarIsCheckedInState(t *testing.T) {
	r := kindtest.New(t, NewTimer(here))
	if a := r.State(config{"name": "clock", "command": []string{"/bin/true"}, "calendar": []string{"daily",
		"every tuesday"}}); a.Error == nil || a.Error.Path != "/calendar/1" ||
		a.Error.Class != protocol.ConfigError {
		t.Errorf("%+v", a)
	}
}
