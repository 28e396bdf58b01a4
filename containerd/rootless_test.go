package containerd

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"deployster/containerd/agentconn"
	"deployster/containerd/layout"
	"deployster/containerd/server"
	"deployster/internal/base/rootless"
	"deployster/internal/testkit/person"
)

// runcVariable names the runc of a test that runs as another user, who cannot read the module.
const runcVariable = "DEPLOYSTER_TEST_RUNC"

// enterNamespace moves a test binary that runs as a person into the namespace of that person.
func enterNamespace() error {
	if os.Getenv(runcVariable) == "" {
		return nil
	}
	if !rootless.Inside() {
		return rootless.Enter()
	}
	return rootless.Arrive()
}

// inNamespace runs a test of this binary as a user who is made for it, in the namespace of that user.
func inNamespace(t *testing.T, name string) string {
	t.Helper()
	needRoot(t)
	p := person.New(t)
	dir, err := os.MkdirTemp("/tmp", "cr") // which the user can reach
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	beside := filepath.Dir(self)
	errs := []error{os.Chmod(dir, 0o755)}
	for name, from := range map[string]string{"test": self, "runc": newEnoughRunc(t), server.ShimProgram: filepath.Join(beside, server.ShimProgram),
		agentconn.AgentName: filepath.Join(beside, agentconn.AgentName)} {
		errs = append(errs, layout.InstallProgram(filepath.Join(dir, name), from))
	}
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	c := p.Command(dir, filepath.Join(dir, "test"), "-test.v", "-test.run", "^"+name+"$")
	c.Env = append(c.Env, runcVariable+"="+filepath.Join(dir, "runc"))
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%s as %s: %v\n%s", name, p.Name, err, out)
	}
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil || bytes.Contains(mounts, []byte(p.Name)) {
		t.Errorf("mounts of the user are left, %v:\n%s", err, mounts)
	}
	return string(out)
}

// All that holds for root holds for a user who is not, but for limits of memory, processors and processes.
func TestRootless_KeepsTheContract(t *testing.T) {
	t.Parallel()
	if rootless.Inside() {
		actsAsTheUser(t)
		return
	}
	out := inNamespace(t, "(TestEmbedded|TestRootless)_KeepsTheContract")
	if n := strings.Count(out, "--- PASS: "); n < 25 {
		t.Errorf("only %d tests ran:\n%s", n, out)
	}
}

// actsAsTheUser checks that programs such as ssh have the ids, and so the name and the home directory, of the user.
func actsAsTheUser(t *testing.T) {
	t.Helper()
	c := exec.Command("id", "-un")
	c.SysProcAttr = rootless.AsUser(nil)
	if out, err := c.CombinedOutput(); err != nil || strings.TrimSpace(string(out)) != os.Getenv("USER") {
		t.Errorf("a command of the user is one of %q, %v", out, err)
	}
	if out, err := exec.Command("id", "-un").CombinedOutput(); err != nil || strings.TrimSpace(string(out)) != "root" {
		t.Errorf("another command is one of %q, %v", out, err)
	}
}
