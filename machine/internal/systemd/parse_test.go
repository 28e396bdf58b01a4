package systemd

import (
	"strings"
	"testing"
)

func TestUnitName_AddsService(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"nginx": "nginx.service", "cups.socket": "cups.socket",
		"getty@tty1": "getty@tty1.service", "php8.2-fpm": "php8.2-fpm.service",
		"a.service": "a.service"} {
		if got := unitName(name); got != want {
			t.Errorf("%s: %s, and must be %s", name, got, want)
		}
	}
}

func TestUnitPath_IsEscaped(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"ssh.service": "/org/freedesktop/systemd1/unit/ssh_2eservice",
		"9p@a-b.service": "/org/freedesktop/systemd1/unit/_39p_40a_2db_2eservice"} {
		if got := unitPath(name); got != want {
			t.Errorf("%s: %s, and must be %s", name, got, want)
		}
	}
}

func TestProperties_OfAUnit(t *testing.T) {
	t.Parallel()
	p := parseProperties("LoadState=loaded\nActiveState=activating\nSubState=auto-restart\nUnitFileState=static\nLoadError=\"\" \"a=b\"\n")
	if p.running() || p.enabled() || p.masked() || !p.there() || p["LoadError"] != `"" "a=b"` {
		t.Errorf("%q", p)
	}
	if p := parseProperties("LoadState=not-found\n"); p.there() {
		t.Errorf("%q", p)
	}
	if p := parseProperties("LoadState=masked\nUnitFileState=masked-runtime\n"); !p.masked() {
		t.Errorf("%q", p)
	}
}

func TestFaults_AreThoseOfTheFiles(t *testing.T) {
	t.Parallel()
	text := `/run/x/a.service:3: Unknown key name 'ExecStrat' in section 'Service', ignoring.
/usr/lib/systemd/system/other.service:9: Something else.
/run/x/a.service:5: Command /usr/bin/later is not executable: No such file or directory
a.service: Command /usr/bin/later is not executable: No such file or directory
`
	var log strings.Builder
	faults := faultsIn(text, "a.service", "/run/x/", &log)
	if len(faults) != 1 || faults[0] != "a.service:3: Unknown key name 'ExecStrat' in section 'Service', ignoring." {
		t.Errorf("%q", faults)
	}
	if strings.Count(log.String(), "\n") != 3 {
		t.Errorf("the log is %q", log.String())
	}
}

func TestTimer_QuotesWords(t *testing.T) {
	t.Parallel()
	timer, service := TimerConfig{Name: "a", Command: []string{"/bin/echo", `50% of "$HOME"`, "a\nb\\"},
		Calendar:    []string{"daily", "Mon 03:00"},
		Environment: map[string]string{"B": "x y", "A": "$1%"}, User: "backup", Persistent: true}.files()
	for _, line := range []string{`ExecStart="/bin/echo" "50%% of \"$$HOME\"" "a\nb\\"`, "User=backup", `Environment="A=$1%%"`,
		`Environment="B=x y"`, "Type=oneshot"} {
		if !strings.Contains(service.text, line+"\n") {
			t.Errorf("the service lacks %q:\n%s", line, service.text)
		}
	}
	for _, line := range []string{"OnCalendar=daily", "OnCalendar=Mon 03:00", "Persistent=yes", "WantedBy=timers.target"} {
		if !strings.Contains(timer.text, line+"\n") {
			t.Errorf("the timer lacks %q:\n%s", line, timer.text)
		}
	}
}

func TestRendered_IsAUnit(t *testing.T) {
	t.Parallel()
	got, err := rendered(map[string]map[string]any{"Install": {"WantedBy": "multi-user.target"},
		"Service": {"ExecStart": []any{"", "/bin/a"}, "Restart": "always", "PrivateTmp": true,
			"RestartSec": 5.0}, "Unit": {"Description": "x"}}, "/sections")
	want := "[Unit]\nDescription=x\n\n[Service]\nExecStart=\nExecStart=/bin/a\nPrivateTmp=yes\nRestart=always\nRestartSec=5\n\n[Install]\nWantedBy=multi-user.target\n"
	if err != nil || got != want {
		t.Errorf("%v\n%s", err, got)
	}
	if _, err := rendered(map[string]map[string]any{"Service": {"ExecStart": "a\nb"}}, "/sections"); err == nil ||
		!strings.Contains(err.Error(), "more than one line") {
		t.Errorf("a value of two lines: %v", err)
	}
}
