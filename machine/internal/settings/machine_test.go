//go:build machines

package settings_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"deployster/internal/testkit/machines"
	"deployster/machine/internal/access"
	"deployster/machine/internal/kindtest"
	"deployster/machine/internal/settings"
	"deployster/protocol"
)

func TestMain(m *testing.M) {
	os.Exit(machines.RunInside(m, "apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends locales"))
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

func TestHostname_OfAMachine(t *testing.T) {
	r := kindtest.New(t, settings.NewHostname(here))
	r.Apply(config{"name": "web1"})
	if out := shell(t, "hostname; hostnamectl --static; cat /etc/hostname"); out != "web1\nweb1\nweb1" {
		t.Errorf("%s", out)
	}
	shell(t, "hostname dhcp-7")
	if a := r.Apply(config{"name": "web1"}); len(a.Reasons) != 1 || shell(t, "hostname") != "web1" {
		t.Errorf("%+v", a.Reasons)
	}
}

func TestTimezone_OfAMachine(t *testing.T) {
	r := kindtest.New(t, settings.NewTimezone(here))
	c := config{"name": "Europe/Zurich"}
	r.Apply(c)
	if out := shell(t, "timedatectl show -p Timezone --value; TZ= date -d @0 +%Z; env -u TZ date -d @0 +%Z; cat /etc/timezone"); out !=
		"Europe/Zurich\nUTC\nCET\nEurope/Zurich" {
		t.Errorf("%s", out)
	}
	events := r.Watch(c)
	shell(t, "timedatectl set-timezone Etc/UTC")
	select {
	case <-events:
	case <-time.After(5 * time.Second):
		t.Error("no event came")
	}
	if a := r.Apply(c); a.Reasons[0].Path != "/name" {
		t.Errorf("%+v", a.Reasons)
	}
}

func TestLocale_IsGenerated(t *testing.T) {
	r := kindtest.New(t, settings.NewLocale(here))
	c := config{"lang": "de_CH.UTF-8", "variables": map[string]string{"LC_MONETARY": "C"}}
	if a := r.Apply(c); !strings.Contains(a.Reasons[len(a.Reasons)-1].Message, "generate de_CH.UTF-8") {
		t.Errorf("%+v", a.Reasons)
	}
	if out := shell(t, "locale -a | grep _; grep '^[a-z]' /etc/locale.gen; . /etc/default/locale; LC_ALL=$LANG locale decimal_point"); out !=
		"de_CH.utf8\nde_CH.UTF-8 UTF-8\n." {
		t.Errorf("%s", out)
	}
	if a := r.State(c); a.Status != protocol.Valid {
		t.Errorf("%+v", a)
	}
	r.Fails(config{"lang": "de_XX.UTF-8"}, "config", `has no locale "de_XX.UTF-8"`)
}
