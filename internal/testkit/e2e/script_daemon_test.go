package e2e

import (
	"crypto/sha256"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// systemContainerd is Debian's: another version than the one that is built in.
const systemContainerd = "/usr/bin/containerd"

// startDaemon starts a private instance of the system's containerd, and says in
// the environment where it is: DAEMON_ADDRESS, DAEMON_PID. Called again, after
// the first one was killed, it starts the same one anew.
func startDaemon(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: daemon")
	}
	dir := ts.Getenv("DAEMON_DIR")
	if dir == "" {
		var err error
		dir, err = os.MkdirTemp("", "ct") // short, because of its sockets
		ts.Check(err)
		ts.Setenv("DAEMON_DIR", dir)
		ts.Setenv("DAEMON_ADDRESS", dir+"/c.sock")
		config := fmt.Sprintf("version = 2\nroot = %q\nstate = %q\ndisabled_plugins = [\"io.containerd.grpc.v1.cri\"]\n[grpc]\naddress = %q\n[ttrpc]\naddress = %q\n",
			dir+"/root", dir+"/state", dir+"/c.sock", dir+"/t.sock")
		ts.Check(os.WriteFile(dir+"/config.toml", []byte(config), 0o600))
		atEnd(ts, func() error { return removeDaemon(ts, dir) })
	}
	log, err := os.OpenFile(dir+"/log", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	ts.Check(err)
	cmd := exec.Command(systemContainerd, "--config", dir+"/config.toml")
	cmd.Stdout, cmd.Stderr = log, log
	ts.Check(cmd.Start())
	go func() { _ = cmd.Wait() }() // reaps it; how it ends is the script's business
	ts.Check(log.Close())
	ts.Setenv("DAEMON_PID", strconv.Itoa(cmd.Process.Pid))
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if c, err := net.Dial("unix", dir+"/c.sock"); err == nil {
			ts.Check(c.Close())
			return
		}
		if time.Now().After(end) {
			ts.Fatalf("containerd does not listen")
		}
	}
}

// removeDaemon ends the daemon and whatever of it a script's kill left over.
func removeDaemon(ts *testscript.TestScript, dir string) error {
	for end := time.Now().Add(time.Minute); users(dir) != "" && time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		killUsers(dir)
	}
	if left := users(dir); left != "" {
		ts.Logf("left behind: %s", left)
	}
	for _, namespace := range []string{"deployster", "other"} {
		key := sha256.Sum256([]byte(dir + "/c.sock\x00" + namespace))
		if err := os.RemoveAll(filepath.Join("/run/deployster", fmt.Sprintf("%x", key)[:12])); err != nil {
			return err
		}
	}
	return os.RemoveAll(dir)
}

// daemonClean asks the daemon, by its own tool, what is left in a namespace:
// images may stay, and nothing else.
func daemonClean(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: daemon-clean NAMESPACE")
	}
	ask := func(args ...string) string {
		out, err := exec.Command("ctr", append([]string{"-a", ts.Getenv("DAEMON_ADDRESS")}, args...)...).CombinedOutput()
		if err != nil {
			ts.Fatalf("ctr %q: %s: %s", args, err, out)
		}
		return string(out)
	}
	for _, what := range []string{"containers", "tasks", "leases"} {
		if left := strings.TrimSpace(ask("-n", args[0], what, "ls", "-q")); left != "" {
			ts.Fatalf("%s left: %s", what, left)
		}
	}
	for line := range strings.Lines(ask("-n", args[0], "snapshots", "ls")) {
		if strings.Contains(line, "Active") || strings.Contains(line, "View") {
			ts.Fatalf("snapshot left: %s", line)
		}
	}
	if left := waitGone(ts.Getenv("DAEMON_DIR") + "/state/io.containerd.runtime.v2.task/" + args[0] + "/"); left != "" {
		ts.Fatalf("left: %s", left)
	}
}
