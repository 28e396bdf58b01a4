//go:build machines

package main

import (
	"bufio"
	"encoding/json"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"deployster/internal/testkit/machines"
	"deployster/machine/internal/access"
	"deployster/protocol"
)

// program is the program as a worker in a machine, reached by ssh.
type program struct {
	t     *testing.T
	in    io.Writer
	out   *bufio.Scanner
	calls int64
}

// started builds the program, and starts it in a machine.
func started(t *testing.T) (*program, *machines.Machine) {
	t.Helper()
	m := machines.Start(t)
	if err := m.Ready(); err != nil {
		t.Fatal(err)
	}
	built := filepath.Join(m.Root(), "usr/local/bin/machine")
	if out, err := exec.Command("go", "build", "-o", built, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return connected(t, m), m
}

func connected(t *testing.T, m *machines.Machine) *program {
	t.Helper()
	c := m.SSH("/usr/local/bin/machine", "worker")
	c.Stderr = os.Stderr
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = c.Wait() // a killed one ends with an error
	})
	p := &program{t: t, in: in, out: bufio.NewScanner(out)}
	p.out.Buffer(nil, 1<<24)
	return p
}

// call runs one step, and returns its stdout, its stderr and its exit code.
func (p *program) call(kind string, args []string, stdin map[string]any) (out, log string, code int) {
	p.t.Helper()
	p.calls++
	stdin["name"], stdin["type"] = "tested", "deployster/machine#"+kind
	raw, err := json.Marshal(stdin)
	if err != nil {
		p.t.Fatal(err)
	}
	line, err := json.Marshal(protocol.WorkerRequest{ID: p.calls, Args: args, Stdin: raw})
	if err != nil {
		p.t.Fatal(err)
	}
	if _, err := p.in.Write(append(line, '\n')); err != nil {
		p.t.Fatal(err)
	}
	for p.out.Scan() {
		var reply protocol.WorkerReply
		if err := json.Unmarshal(p.out.Bytes(), &reply); err != nil || reply.ID != p.calls {
			p.t.Fatalf("%s: %v", p.out.Bytes(), err)
		}
		out, log = out+reply.Stdout, log+reply.Stderr
		if reply.Exit != nil {
			return out, log, *reply.Exit
		}
	}
	p.t.Fatalf("%s %q: the program has ended: %v", kind, args, p.out.Err())
	return "", "", 0
}

func (p *program) state(kind string, config any, intent protocol.Intent) (a protocol.StateAnswer) {
	p.t.Helper()
	out, log, code := p.call(kind, []string{"state"}, map[string]any{"config": config, "intent": intent})
	if err := json.Unmarshal([]byte(out), &a); err != nil || code != 0 {
		p.t.Fatalf("%s: exit %d, %v\n%s%s", kind, code, err, out, log)
	}
	return a
}

// apply runs what the state needs, and wants it to need nothing after that.
func (p *program) apply(kind string, config any, intent protocol.Intent) (names []string) {
	p.t.Helper()
	a := p.state(kind, config, intent)
	if a.Error != nil {
		p.t.Fatalf("%s %v: %v", kind, config, a.Error)
	}
	have := a.StaleState
	if have == nil {
		have = json.RawMessage("{}")
	}
	for _, action := range a.Actions {
		in := map[string]any{"config": config, "intent": intent, "action": action.Name, "staleState": have}
		if _, log, code := p.call(kind, action.Args, in); code != 0 {
			p.t.Fatalf("%s %v: %s ended with %d:\n%s", kind, config, action.Name, code, log)
		}
		names = append(names, action.Name)
	}
	want := map[protocol.Intent]protocol.Status{protocol.Present: protocol.Valid, protocol.Absent: protocol.Missing}[intent]
	if a = p.state(kind, config, intent); a.Status != want {
		text, _ := json.Marshal(a)
		p.t.Fatalf("%s %v: after %q it is %s", kind, config, names, text)
	}
	return names
}

func TestProgram_UnderstandsTheExamples(t *testing.T) {
	p, _ := started(t)
	for _, name := range slices.Sorted(maps.Keys(kinds(&access.Machine{}))) {
		if out, log, code := p.call(name, nil, map[string]any{}); code != 0 || !strings.Contains(out, `"kind":"linux/`+name+`"`) {
			t.Errorf("%s is %d %s%s", name, code, out, log)
		}
		for _, e := range regexp.MustCompile("(?s)```hcl\n(.*?)```").FindAllStringSubmatch(prose(t, name), -1) {
			for _, c := range configs(t, e[1], name) {
				if a := p.state(name, c, protocol.Present); a.Error != nil || a.Status != protocol.Stale {
					t.Errorf("%s: %+v, %v", name, a, a.Error)
				}
			}
		}
	}
}

// Ten resources of a small site: from nothing, without changes, after drift by hand, after the
// program was killed, and removed.
func TestProgram_ConfiguresAMachine(t *testing.T) {
	p, m := started(t)
	type resource struct {
		kind   string
		config map[string]any
	}
	site := []resource{
		{"group", map[string]any{"name": "app", "gid": 2000}},
		{"user", map[string]any{"name": "app", "group": "app", "system": true, "home": "/srv/app", "shell": "/usr/sbin/nologin"}},
		{"user", map[string]any{"name": "deploy", "groups": []string{"app", "adm"}, "shell": "/bin/bash"}},
		{"ssh_key", map[string]any{"user": "deploy", "key": "ssh-ed25519 " +
			"AAAAC3NzaC1lZDI1NTE5AAAAIJ1QGGcHyYwJkfSBzsGTMjoI7e8B1cXHEv2oDxO5sNyo"}},
		{"file", map[string]any{"path": "/srv/app/run", "content": "#!/bin/sh\nexec sleep 1000\n", "mode": "0755", "owner": "app"}},
		{"unit", map[string]any{"name": "app",
			"content": "[Service]\nUser=app\nExecStart=/srv/app/run\n[Install]\nWantedBy=multi-user.target\n"}},
		{"drop_in", map[string]any{"unit": "app", "name": "limits",
			"sections": map[string]any{"Service": map[string]any{"LimitNOFILE": 4096}}}},
		{"service", map[string]any{"name": "app", "running": true, "enabled": true}},
		{"timer", map[string]any{"name": "clean", "command": []string{"/bin/true"}, "calendar": []string{"daily"}, "user": "app"}},
		{"link", map[string]any{"path": "/srv/current", "target": "/srv/app"}},
	}
	for _, r := range site {
		if names := p.apply(r.kind, r.config, protocol.Present); len(names) == 0 {
			t.Errorf("%s %v: nothing was done", r.kind, r.config)
		}
	}
	again := func(when string, want int) {
		t.Helper()
		done := 0
		for _, r := range site {
			done += len(p.apply(r.kind, r.config, protocol.Present))
		}
		if done != want {
			t.Errorf("%s: %d actions, and must be %d", when, done, want)
		}
	}
	again("without changes", 0)
	shell := func(script string) string {
		t.Helper()
		out, err := m.Shell(script)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	shell("systemctl disable --now app clean.timer; gpasswd -d deploy app; rm /home/deploy/.ssh/authorized_keys; echo x " +
		">>/srv/app/run; rm /srv/current")
	again("after drift", 7) // file, service twice, timer, user, key, link
	if out := shell("systemctl is-active app clean.timer; systemctl show -p User,LimitNOFILE --value app; id -Gn deploy"); out !=
		"active\nactive\n4096\napp\ndeploy adm app" {
		t.Errorf("the machine has %q", out)
	}
	shell("pkill -KILL -x machine")
	p = connected(t, m)
	again("after a kill", 0)
	for _, r := range slices.Backward(site) {
		p.apply(r.kind, r.config, protocol.Absent)
	}
	if out := shell("getent passwd app deploy; getent group app; ls /etc/systemd/system | grep -E 'app|clean'; ls /srv; " +
		"systemctl --failed --no-legend; true"); out != "app" {
		t.Errorf("the machine still has %q", out)
	}
}
