package e2e

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// busybox is a static one: it is all that the shell types need.
const busybox = "/bin/busybox"

// applets are what the shell types call.
var applets = []string{"sh", "cat", "sed", "cut", "mkdir", "mv", "rm", "sleep", "echo", "sha256sum", "id", "pwd", "env", "ls", "kill",
	"head", "dd", "tr", "printf", "true", "wc", "stat"}

// packKept packs one of the types in testdata/types, with empty files beside it if any
// are named.
func packKept(kind string) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		if neg || len(args) < 1 {
			ts.Fatalf("usage: %s NAME [FILE...]", kind)
		}
		dir := ts.MkAbs("." + kind)
		source, err := os.ReadFile(filepath.Join(ts.Getenv("ROOT"), "testdata/types", kind, "type.sh"))
		ts.Check(err)
		ts.Check(os.MkdirAll(dir, 0o755))
		ts.Check(os.WriteFile(filepath.Join(dir, "type"), source, 0o755))
		for _, name := range args[1:] {
			ts.Check(os.WriteFile(filepath.Join(dir, name), nil, 0o644))
		}
		pack(ts, args[0], dir)
	}
}

// packShellType packs a directory of the script.
func packShellType(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: shelltype NAME DIR")
	}
	dir := ts.MkAbs(args[1])
	ts.Check(os.Chmod(filepath.Join(dir, "type"), 0o755))
	pack(ts, args[0], dir)
}

// pack puts busybox beside the files of a type and makes the image.
func pack(ts *testscript.TestScript, name, dir string) {
	addBusybox(ts, dir)
	ts.Check(ts.Exec("deployster", "image", "pack", "-t", name, "-entrypoint", "/type", dir))
}

// addBusybox makes a directory one in which shell scripts run.
func addBusybox(ts *testscript.TestScript, dir string) {
	bin := filepath.Join(dir, "bin")
	ts.Check(os.MkdirAll(bin, 0o755))
	if !exists(filepath.Join(bin, "busybox")) {
		content, err := os.ReadFile(busybox)
		ts.Check(err)
		ts.Check(os.WriteFile(filepath.Join(bin, "busybox"), content, 0o755))
		for _, applet := range applets {
			ts.Check(os.Symlink("busybox", filepath.Join(bin, applet)))
		}
	}
}

// exits runs a command that must end with an exit code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND...")
	}
	got := 0
	var exit *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if fmt.Sprint(got) != args[0] {
		ts.Fatalf("exit code %d, want %s", got, args[0])
	}
}

// waitFor waits for what a process in the background does.
func waitFor(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: wait-for FILE [TEXT]")
	}
	deadline := time.Now().Add(90 * time.Second)
	for {
		content, err := os.ReadFile(ts.MkAbs(args[0]))
		if err == nil && (len(args) == 1 || strings.Contains(string(content), args[1])) {
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("%s: waited in vain; it holds %q", args[0], content)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// noContainers looks for what a run would leave: a mounted root file system, a
// shim, a directory with its files.
func noContainers(ts *testscript.TestScript, neg bool, args []string) {
	data := ts.Getenv("DEPLOYSTER_DATA_DIR")
	deadline := time.Now().Add(90 * time.Second) // a worker that nobody wants is ended in the background
	for {
		var left []string
		for line := range strings.Lines(users(data)) {
			if !strings.Contains(line, "deployster-containerd") {
				left = append(left, line)
			}
		}
		if len(left) == 0 {
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("left behind:\n%s", strings.Join(left, ""))
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// leaveSocket makes a unix socket that nobody listens at.
func leaveSocket(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: socket FILE")
	}
	ts.Check(os.MkdirAll(filepath.Dir(ts.MkAbs(args[0])), 0o755))
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: ts.MkAbs(args[0])})
	ts.Check(err)
	l.SetUnlinkOnClose(false)
	ts.Check(l.Close())
}
