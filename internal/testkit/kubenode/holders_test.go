//go:build kube

package kubenode_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"deployster/internal/testkit/services"
)

// beside is another machine with the manifests of a project: it has an id and files of its own, and the same namespace.
func (p *project) beside() *project {
	p.t.Helper()
	other := *p
	other.dir = directory(p.t)
	for _, name := range []string{"main.hcl", "host.hcl", "kubeconfig", ".deployster.lock.hcl"} {
		text, err := os.ReadFile(filepath.Join(p.dir, name))
		if err != nil {
			p.t.Fatal(err)
		}
		other.write(name, string(text))
	}
	return &other
}

// started runs deployster until its end, or until the returned function kills it and what it has started.
func (p *project) started(args ...string) (cmd *exec.Cmd, out *bytes.Buffer, kill func()) {
	p.t.Helper()
	cmd, out = p.command(args...), &bytes.Buffer{}
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	return cmd, out, func() {
		children, _ := os.ReadFile(fmt.Sprintf("/proc/%[1]d/task/%[1]d/children", cmd.Process.Pid))
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // it may have ended
		for child := range strings.FieldsSeq(string(children)) {
			_ = exec.Command("kill", "-KILL", child).Run() // deployster-kube has a session of its own, and may have ended
		}
	}
}

// Two machines share a state in S3, and one cluster: both apply at one time, then one is killed in the middle of an action, and the
// other takes over, with the action in its Pod. Nothing is done twice, and nothing is lost.
func TestHolders_TwoMachinesShareS3(t *testing.T) {
	onNode(t)
	p := newProject(t)
	state := "-state=" + s3State(services.S3(t), "shared")
	p.host("")
	chain := func(names ...string) (list []string) {
		for i, name := range names {
			takes := map[string]int{"third": 40}[name] // whoever did not know of it would begin it again
			block := resource(name, fmt.Sprintf("echo begun >>/objects/%s-begun; sleep %d", name, max(takes, 5)))
			if i > 0 {
				block = strings.Replace(block, "\n}", "\n  depends_on = [resource."+names[i-1]+"]\n}", 1)
			}
			list = append(list, block)
		}
		return list
	}
	p.files("", chain("first", "second")...)
	p.run(0, "init", state)
	other := p.beside()
	apply := []string{"apply", "-auto-approve", "-lock-timeout=5m", state}
	one, printed, kill := p.started(apply...)
	t.Cleanup(kill)
	p.until("the first action has begun", time.Minute, func() bool { return p.object("first-begun") != "" })
	if plan := other.run(0, "plan", state); !strings.Contains(plan, "in progress") {
		t.Errorf("a plan beside an apply prints %s", plan)
	}
	if waited := other.run(0, apply...); !strings.Contains(waited, "No changes") {
		t.Errorf("the second apply prints\n%s", waited)
	}
	if err := one.Wait(); err != nil {
		t.Errorf("%v: %s", err, printed)
	}

	p.files("", append(chain("first", "second"), chain("third", "fourth", "fifth")...)...)
	text, err := os.ReadFile(filepath.Join(p.dir, "main.hcl"))
	if err != nil {
		t.Fatal(err)
	}
	other.write("main.hcl", string(text))
	one, printed, kill = p.started(apply...)
	t.Cleanup(kill)
	p.until("the third action has begun", time.Minute, func() bool { return p.object("third-begun") != "" })
	two, later, end := other.started(apply...)
	t.Cleanup(end)
	time.Sleep(2 * time.Second)
	kill()
	_ = one.Wait() // killed
	if err := two.Wait(); err != nil {
		t.Errorf("%v: %s", err, later)
	}
	t.Logf("killed:\n%s\nthe other:\n%s", printed, later)
	for _, name := range []string{"first", "second", "third", "fourth", "fifth"} {
		if begun, made := p.object(name+"-begun"), p.object(name); begun != "begun\n" || made != "hunter2\n" {
			t.Errorf("%s is %q, and was begun %q", name, made, begun)
		}
	}
	if status := p.run(0, "state", "status", state); !strings.Contains(status, "5 resources") {
		t.Errorf("the state has %s", status)
	}
	p.run(0, "plan", "-detailed-exitcode", state)
	p.empty()
}
