//go:build machines

package machines

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const toRoot = "../../.."

// The README's first plan is word for word what a machine prints on which deployster is installed. Its first
// command installs the package, which a test of releases does: here the programs are copied.
func TestReadme_IsFollowed(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(toRoot, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	fences := regexp.MustCompile("(?ms)^```(sh|text)\n(.*?)^```$").FindAllStringSubmatch(string(page), 2)
	if len(fences) != 2 || fences[0][1] != "sh" || fences[1][1] != "text" {
		t.Fatal("README.md does not begin with commands, and what the plan prints")
	}
	install, commands, _ := strings.Cut(fences[0][2], "\n")
	if !strings.HasPrefix(install, "apt-get install ./deployster_") || strings.Count(commands, "\n") != 4 {
		t.Fatalf("these are not five commands:\n%s", fences[0][2])
	}
	m := Start(t)
	installed(t, m)
	if err := m.Ready(); err != nil {
		t.Fatal(err)
	}
	out, err := m.SSH("sh", "-euc", commands).Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if !strings.Contains(string(out), fences[1][2]) || !strings.Contains(string(out), "Apply complete. Resources: 2 created.") {
		t.Errorf("it does not print what the page shows:\n%s", out)
	}
	for _, c := range []struct{ script, want string }{
		{"cat /srv/hello/greeting", "hello"},
		{"cd hello && deployster plan -detailed-exitcode >/dev/null && rm /srv/hello/greeting && " +
			"deployster apply -auto-approve >/dev/null 2>&1 && cat /srv/hello/greeting", "hello"},
		{"cd hello && deployster destroy -auto-approve >/dev/null 2>&1 && ls /srv", ""},
	} {
		if out, err := m.Shell(c.script); err != nil || out != c.want {
			t.Errorf("%s\nprinted %q, %v", c.script, out, err)
		}
	}
}

// The root of a container is an overlay, which cannot hold another. There all works, with a warning of what it costs
// and of what to do, once.
func TestContainer_DataOnItsRootWorks(t *testing.T) {
	m := Start(t)
	installed(t, m)
	const begin = "mkdir -p /srv/x && cd /srv/x && export DEPLOYSTER_DATA_DIR=/var/data && "
	out, err := m.Shell(begin + "stat -f -c %T /var && deployster new machine >/dev/null && deployster apply -auto-approve && " +
		"cat /srv/hello/greeting")
	for _, want := range []string{"overlayfs\n", "Warning: Each container gets a copy of its image's files",
		"/var/data cannot hold layers: it is itself on overlayfs, as in a container",
		"Choose a directory on another file system with DEPLOYSTER_DATA_DIR", "Apply complete. Resources: 2 created.", "hello"} {
		if err != nil || !strings.Contains(out, want) {
			t.Errorf("%q is not printed, %v:\n%s", want, err, out)
		}
	}
	if out, err := m.Shell(begin + "deployster plan -detailed-exitcode"); err != nil || strings.Contains(out, "Warning") {
		t.Errorf("%v\n%s", err, out)
	}
}

// installed copies the programs that `make build` has built to where packages have them.
func installed(t *testing.T, m *Machine) {
	t.Helper()
	lib := filepath.Join(m.Root(), "usr/lib/deployster")
	bin := filepath.Join(toRoot, "bin")
	if err := os.MkdirAll(filepath.Join(lib, "images"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(lib, "images/machine"), os.DirFS(filepath.Join(bin, "images/machine"))); err != nil {
		t.Fatal(err)
	}
	runc := filepath.Join(bin, "runc")
	if _, err := os.Stat(runc); err != nil { // .ci/setup builds one only where there is none
		if runc, err = exec.LookPath("runc"); err != nil {
			t.Fatal(err)
		}
	}
	for at, from := range map[string]string{"../../bin/deployster": filepath.Join(bin, "deployster"), "runc": runc,
		"deployster-shim": filepath.Join(bin, "deployster-shim"), "deployster-agent": filepath.Join(bin, "deployster-agent"),
		"deployster-host": filepath.Join(bin, "deployster-host")} {
		if err := copyFile(from, filepath.Join(lib, at)); err != nil {
			t.Fatal(err)
		}
	}
}
