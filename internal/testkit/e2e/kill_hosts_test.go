//go:build linux && amd64

package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deployster/internal/base/programs"
	"deployster/internal/runtime/remote/frame"
	"deployster/internal/testkit/crash"
	"deployster/internal/testkit/services"
)

// hostProject is a project whose things are on a host behind an ssh that breaks,
// every other one; the rest are here.
type hostProject struct {
	*project
	dir string // of the ssh
}

func newHostProject(t *testing.T) *hostProject {
	t.Helper()
	p := &hostProject{project: newProject(t)}
	p.dir = filepath.Join(p.root, "ssh")
	m := services.SSHD(t, filepath.Join(p.root, "sshd"), "2m")
	hosts, err := os.MkdirTemp("", "dh")
	if err == nil {
		p.hosts, err = filepath.EvalSymlinks(hosts)
	}
	self, err2 := os.Executable()
	if err = errors.Join(err, err2, os.Mkdir(p.dir, 0o700)); err == nil {
		err = os.Symlink(self, filepath.Join(p.dir, cutSSH))
	}
	key, err2 := os.ReadFile(m.HostKey)
	command, err3 := exec.LookPath("deployster") // beside it is what hosts run
	if err = errors.Join(err, err2, err3); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.nothingLeft()
		if err := os.RemoveAll(p.hosts); err != nil {
			t.Errorf("something still uses the host's data directory: %v", err)
		}
		if left := waitGone(p.hosts); left != "" {
			t.Errorf("left behind on the host: %s", left)
		}
	})
	p.environ = append(p.environ, "DEPLOYSTER_SSH="+filepath.Join(p.dir, cutSSH)+" "+p.dir, "DEPLOYSTER_HOST_PATIENCE=2s",
		programs.Variable+"="+filepath.Dir(command))
	p.declare = fmt.Sprintf("plug \"world\" {\n  path = %q\n}\nhost \"web\" {\n  address = \"127.0.0.1\"\n  user = \"root\"\n  port = %s\n"+
		"  identity_file = %q\n  host_key = %q\n  data_dir = %q\n}\n", filepath.Join(p.work, "world"), m.Port, m.Key, string(key), p.hosts)
	p.on = func(name string) string {
		if name >= "c" && name < "e" {
			return ""
		}
		return "  host = host.web\n"
	}
	return p
}

// arm says what is cut in the next connection, and puts the network back.
func (p *hostProject) arm(c cut) {
	p.t.Helper()
	text, err := json.Marshal(c)
	for _, name := range []string{takenFile, hitFile, goneFile} {
		err = errors.Join(err, os.RemoveAll(filepath.Join(p.dir, name)))
	}
	if err = errors.Join(err, os.WriteFile(filepath.Join(p.dir, armedFile), text, 0o600)); err != nil {
		p.t.Fatal(err)
	}
}

// repair puts the network back.
func (p *hostProject) repair() {
	p.t.Helper()
	if err := errors.Join(os.RemoveAll(filepath.Join(p.dir, goneFile)), os.RemoveAll(filepath.Join(p.dir, armedFile))); err != nil {
		p.t.Fatal(err)
	}
}

// apply runs the saved plan.
func (p *hostProject) apply() outcome {
	p.t.Helper()
	c := p.command("apply", "-json", "p.plan")
	text, _ := c.CombinedOutput() // how it ended is looked at
	return outcome{crash.Result{Exit: c.ProcessState.ExitCode()}, string(text)}
}

// TestApply_CutFromItsHost ends, before messages of an apply with real containers on a
// host behind a real sshd, ssh, the far end, the command itself, or the host's network.
// What was lost on the way is had again by the same apply, where there is a way; else
// the next one adopts it or tells of it. Nothing may be lost, done twice, kept from the
// person or torn.
func TestApply_CutFromItsHost(t *testing.T) {
	t.Parallel()
	p := newHostProject(t)
	d := scenario{"made, changed and removed", map[string]string{"b": "1", "e": "1"}, map[string]string{"a": "1", "b": "2", "c": "1"}}
	all := p.prepareCuts(d)
	for i, c := range p.chosen(all) {
		p.reset()
		p.arm(c)
		begun := time.Now()
		o := p.apply()
		t.Logf("%s: exit %d after %s", c, o.Exit, time.Since(begun).Round(time.Millisecond))
		hit := exists(filepath.Join(p.dir, hitFile))
		for _, f := range p.checkCut(d, c, o, hit, i) {
			t.Errorf("cut %s: %s", c, f)
		}
		if t.Failed() {
			t.Fatalf("the apply said: exit %d, %s", o.Exit, o.output)
		}
	}
}

// prepareCuts makes what there is before, and counts the messages of an apply.
func (p *hostProject) prepareCuts(d scenario) (list []cut) {
	p.t.Helper()
	p.start(d)
	p.arm(cut{})
	o := p.apply()
	if o.Exit != 0 {
		p.t.Fatalf("without a cut: %s", o.output)
	}
	var n frames
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) { // what was ssh may end after the apply
		text, err := os.ReadFile(filepath.Join(p.dir, framesFile))
		if err = errors.Join(err, json.Unmarshal(text, &n)); err == nil {
			break
		}
		if time.Now().After(end) {
			p.t.Fatal(err)
		}
	}
	if faults := p.checkNext(d, nil, []string{"apply", "-auto-approve"}); len(faults) > 0 {
		p.t.Fatalf("without a cut: %v", faults)
	}
	for _, what := range []string{cutConnection, cutFarEnd, cutClient, cutHost} {
		for at, kind := range n.Up {
			list = append(list, cut{What: what, Up: true, At: at + 1, Data: p.hosts, kind: kind})
		}
		for at, kind := range n.Down {
			list = append(list, cut{What: what, At: at + 1, Data: p.hosts, kind: kind})
		}
	}
	p.t.Logf("%v to the host, %v from it", n.Up, n.Down)
	return list
}

// The messages that matter most, as package far numbers them: an action ended, and that
// is on record.
const (
	endedMessage    frame.Kind = 7
	recordedMessage frame.Kind = 8
)

// chosen are the cuts that are made: with DEPLOYSTER_CRASH=all every one, and some in
// which the network falls silent; else one of each kind, at the end of an action.
func (p *hostProject) chosen(all []cut) (list []cut) {
	if os.Getenv("DEPLOYSTER_CRASH") != "all" {
		wanted := map[string]frame.Kind{cutConnection: endedMessage, cutFarEnd: recordedMessage, cutClient: recordedMessage, cutHost: endedMessage}
		for _, c := range all {
			if wanted[c.What] == c.kind {
				list = append(list, c)
				delete(wanted, c.What)
			}
		}
		if len(wanted) > 0 {
			p.t.Fatalf("no such messages: %v", wanted)
		}
		return list
	}
	for at := 2; at < 14; at += 3 {
		all = append(all, cut{What: cutNetwork, Up: at%2 == 0, At: at, Data: p.hosts})
	}
	return all
}

// checkCut looks at what an apply has done whose way to its host was cut, and has the
// next command go on.
func (p *hostProject) checkCut(d scenario, c cut, o outcome, hit bool, i int) (faults []string) {
	p.t.Helper()
	next := []string{"apply", "p.plan"}
	if i%2 == 1 || c.What == cutHost { // a plan that has failed is used
		next = []string{"apply", "-auto-approve"}
	}
	ended := c.What == cutClient && hit
	switch lasting := c.What == cutHost && hit; {
	case ended && o.Exit != -1:
		faults = append(faults, fmt.Sprintf("the command was killed, and its exit code is %d", o.Exit))
	case lasting && o.Exit == 1:
		faults = append(faults, p.tellsOfHost(o)...)
	case lasting && o.Exit == 0 && !strings.Contains(o.output, "unreachable"): // it was cut after the last that mattered
	case !ended && o.Exit != 0:
		faults = append(faults, fmt.Sprintf("exit code %d", o.Exit))
	case !ended:
		faults = append(faults, p.once(d)...)
	}
	p.repair()
	killed, inFlight := p.checkKilled(d, o)
	return append(append(faults, killed...), p.checkNext(d, inFlight, next)...)
}

// tellsOfHost reports what the words about a host that went away lack.
func (p *hostProject) tellsOfHost(o outcome) (faults []string) {
	for _, word := range []string{" on web of image test/world:1 ", "(root@127.0.0.1:", "No route to host", "deployster host check"} {
		if !strings.Contains(o.output, word) {
			faults = append(faults, fmt.Sprintf("nobody is told %q", word))
		}
	}
	return faults
}

// once reports what an apply that went well has not done once.
func (p *hostProject) once(d scenario) (faults []string) {
	text, err := os.ReadFile(filepath.Join(p.work, "world/log"))
	if err != nil {
		p.t.Fatal(err)
	}
	if n := bytes.Count(text, []byte("\n")) - len(d.before); n != 4 {
		faults = append(faults, fmt.Sprintf("%d things were done, and not 4: %s", n, text))
	}
	return faults
}
