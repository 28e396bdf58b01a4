//go:build machines

package main

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"deployster/internal/testkit/machines"
)

// pair is two machines: deployster configures the one of the site, and Ansible the other.
type pair struct {
	site
	theirs *machines.Machine
}

// newPair boots both, and installs on both what Ansible needs there, so that they are the same.
func newPair(t *testing.T, packages string) pair {
	t.Helper()
	if _, err := exec.LookPath("ansible-playbook"); err != nil {
		t.Fatalf("%v: install it by .ci/setup test-machines", err)
	}
	p := pair{newSite(t), machines.Start(t)}
	ready := make(chan error, 2)
	for _, m := range []*machines.Machine{p.machine, p.theirs} {
		go func() {
			_, err := m.Shell(`exec </dev/null; export DEBIAN_FRONTEND=noninteractive
apt-get update && apt-get install -y --no-install-recommends python3 python3-apt ` + packages)
			ready <- errors.Join(err, m.Ready())
		}()
	}
	if err := errors.Join(<-ready, <-ready); err != nil {
		t.Fatal(err)
	}
	control, err := os.MkdirTemp("", "control") // the path of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c := exec.Command("ssh", "-F", p.theirs.SSHFile(), "-o", "ControlPath="+filepath.Join(control, "c"), "-O", "exit", p.theirs.Name)
		_ = c.Run() // it may have ended
		if err := os.RemoveAll(control); err != nil {
			t.Error(err)
		}
	})
	p.write("ansible.cfg", fmt.Sprintf(`[defaults]
host_key_checking = False
local_tmp = %s/ansible
[ssh_connection]
pipelining = True
ssh_args = -F %s -o ControlMaster=auto -o ControlPersist=60s -o ControlPath=%s/c
`, p.dir, p.theirs.SSHFile(), control))
	return p
}

func (p pair) write(name, text string) {
	p.t.Helper()
	if err := os.WriteFile(filepath.Join(p.dir, name), []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// play runs the playbook on Ansible's machine, and returns what it printed.
func (p pair) play(vars ...string) string {
	p.t.Helper()
	out, err := p.playbook(vars...)
	if err != nil {
		p.t.Fatal(err)
	}
	return out
}

func (p pair) playbook(vars ...string) (string, error) {
	args := []string{"-i", p.theirs.Name + ",", "playbook.yml"}
	for _, v := range vars {
		args = append(args, "-e", v)
	}
	c := exec.Command("ansible-playbook", args...)
	c.Dir = p.dir
	c.Env = append(os.Environ(), "ANSIBLE_CONFIG="+filepath.Join(p.dir, "ansible.cfg"), "ANSIBLE_HOME="+filepath.Join(p.dir, "ansible"),
		"ANSIBLE_NOCOLOR=1", "LC_ALL=C.UTF-8")
	out, err := c.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("ansible-playbook: %w\n%s", err, out)
	}
	return string(out), err
}

// applied runs both programs at the same time.
func (p pair) applied(vars ...string) {
	p.t.Helper()
	played := make(chan error, 1)
	go func() {
		_, err := p.playbook(vars...)
		played <- err
	}()
	out, err := p.command("apply", "-auto-approve", "-compact").CombinedOutput()
	if err != nil {
		err = fmt.Errorf("deployster: %w\n%s", err, out)
	}
	if err = errors.Join(err, <-played); err != nil {
		p.t.Fatal(err)
	}
}

// both runs a script on both machines, and wants one output.
func (p pair) both(name, script string) {
	p.t.Helper()
	ours, theirs := p.output(p.machine, script), p.output(p.theirs, script)
	if p.t.Logf("%s: %d lines were compared", name, strings.Count(ours, "\n")); ours == theirs {
		return
	}
	p.write("ours", ours+"\n")
	p.write("theirs", theirs+"\n")
	c := exec.Command("diff", "-U1", "theirs", "ours")
	c.Dir = p.dir
	out, _ := c.Output() // exit code 1: they differ
	p.t.Errorf("%s: the machine of Ansible (-) and that of deployster (+) differ:\n%s", name, out)
}

func (p pair) output(m *machines.Machine, script string) string {
	p.t.Helper()
	out, err := m.Shell("cat >/run/check.sh <<'END OF SCRIPT'\n" + script + "\nEND OF SCRIPT\nADDRESS=" + m.Address +
		" bash /run/check.sh 2>&1")
	if err != nil {
		p.t.Fatal(err)
	}
	return strings.ReplaceAll(out, m.Name, "NAME")
}

// release is an archive with two files.
func release(t *testing.T) []byte {
	t.Helper()
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	for name, mode := range map[string]int64{"run": 0o755, "LICENSE": 0o644} {
		err := w.WriteHeader(&tar.Header{Name: name, Mode: mode, Size: 4})
		if err == nil {
			_, err = w.Write([]byte("text"))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return archive.Bytes()
}

// The playbook of docs/from-ansible.md and the manifest beside it make the same of a machine, and find nothing to do in
// a second run.
func TestPlaybook_MakesTheSameAsItsManifest(t *testing.T) {
	t.Parallel()
	p := newPair(t, "")
	if err := os.CopyFS(p.dir, os.DirFS("../docs/ansible")); err != nil {
		t.Fatal(err)
	}
	archive := release(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(archive) // a client that is gone has its reasons
	}))
	defer server.Close()
	sum := fmt.Sprintf("%x", sha256.Sum256(archive))
	p.write("vars.auto.hcl", fmt.Sprintf("machine = %q\nssh_config = %q\naddress = %q\nmirror = %q\nrelease = %q\n",
		p.machine.Name, p.machine.SSHFile(), p.machine.Address, server.URL, sum))
	vars := []string{"address=" + p.theirs.Address, "mirror=" + server.URL, "release=" + sum}

	p.applied(vars...)
	check, err := os.ReadFile("../docs/ansible/check.sh")
	if err != nil {
		t.Fatal(err)
	}
	p.both("docs/ansible", string(check))
	if out := p.play(vars...); !strings.Contains(out, "changed=0 ") {
		t.Errorf("the second run of the playbook made changes:\n%s", out)
	}
	p.prints([]string{"apply", "-auto-approve"}, "No changes")
}
