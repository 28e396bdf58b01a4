package agent

import (
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestMain makes this test binary an agent too.
func TestMain(m *testing.M) {
	if path := os.Getenv("AGENT_TEST"); path != "" {
		os.Unsetenv("AGENT_TEST")
		os.Exit(Serve(path))
	}
	os.Exit(m.Run())
}

// client is who an agent works for.
type client struct {
	t *testing.T
	*net.UnixConn
	agent *exec.Cmd
}

// begin starts an agent in a directory, with a PATH.
func begin(t *testing.T, dir, path string) *client {
	t.Helper()
	name := filepath.Join(t.TempDir(), "s")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Net: "unix", Name: name})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := &client{t: t, agent: exec.Command(self)}
	c.agent.Dir, c.agent.Env = dir, []string{"AGENT_TEST=" + name, "PATH=" + path, "GREETING=good day"}
	c.agent.Stderr = os.Stderr
	if err := c.agent.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.agent.Process.Kill() })
	if c.UnixConn, err = l.AcceptUnix(); err != nil {
		t.Fatal(err)
	}
	if err := c.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	c.says(Ready, Layout)
	return c
}

// says waits for a reply. A value of -1 is any.
func (c *client) says(kind Kind, value int64) Reply {
	c.t.Helper()
	b := make([]byte, ReplySize)
	_, err := io.ReadFull(c, b)
	r, derr := DecodeReply(b)
	if err != nil || derr != nil || r.Kind != kind || value >= 0 && r.Value != uint32(value) {
		c.t.Fatalf("it says %c %d (%v, %v), want %c %d", r.Kind, r.Value, err, derr, kind, value)
	}
	return r
}

// ask sends a command line, and gives what the program prints.
func (c *client) ask(argv ...string) (out *os.File) {
	c.t.Helper()
	b, err := EncodeRequest(argv)
	if err != nil {
		c.t.Fatal(err)
	}
	out, in, err := os.Pipe()
	if err != nil {
		c.t.Fatal(err)
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		c.t.Fatal(err)
	}
	rights := syscall.UnixRights(int(null.Fd()), int(in.Fd()), int(in.Fd()))
	if n, _, err := c.WriteMsgUnix(b[:3], rights, nil); err != nil || n != 3 {
		c.t.Fatal(n, err)
	}
	if _, err := c.Write(b[3:]); err != nil { // it need not come at once
		c.t.Fatal(err)
	}
	_, _ = null.Close(), in.Close()
	return out
}

func (c *client) prints(out *os.File, want string) {
	c.t.Helper()
	if b, err := io.ReadAll(out); err != nil || string(b) != want {
		c.t.Errorf("it prints %q (%v), want %q", b, err, want)
	}
	_ = out.Close()
}

// ends checks that the agent has gone, with an exit code.
func (c *client) ends(code int) {
	c.t.Helper()
	_ = c.Close()
	if _ = c.agent.Wait(); c.agent.ProcessState.ExitCode() != code {
		c.t.Errorf("the agent ended with %v, want %d", c.agent.ProcessState, code)
	}
}

func TestAgent_StartsProgramsOneAfterTheOther(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{"script": "#!/bin/sh\necho \"$GREETING $# $2\"; pwd\n", "none": "no program"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	work := filepath.Join(dir, "work")
	if err := os.Mkdir(work, 0o755); err != nil {
		t.Fatal(err)
	}
	c := begin(t, work, dir+":/bin")
	out := c.ask("script", "", "a b")
	c.says(Started, -1)
	c.says(Ended, 0)
	c.prints(out, "good day 2 a b\n"+work+"\n")

	out = c.ask("sh", "-c", "kill -TERM $$") // not the directory of that name
	c.says(Started, -1)
	c.says(Ended, int64(syscall.SIGTERM))
	c.prints(out, "")

	// Signals to itself, and what goes on when a program has ended.
	out = c.ask("/bin/sh", "-c", "kill -TERM $PPID; kill -HUP $PPID; kill -SEGV $PPID; (sleep 0.1; echo late) & exit 7")
	c.says(Started, -1)
	c.says(Ended, 7<<8)
	c.prints(out, "late\n")

	long := strings.Repeat("x", 100<<10)
	out = c.ask("/bin/sh", "-c", "echo ${#1}", "sh", long)
	c.says(Started, -1)
	c.says(Ended, 0)
	c.prints(out, "102400\n")

	for argv0, errno := range map[string]syscall.Errno{"missing": syscall.ENOENT, "": syscall.ENOENT, dir: syscall.EACCES, "/missing": syscall.ENOENT, "none": syscall.ENOEXEC} {
		out := c.ask(argv0)
		c.says(Failed, int64(errno))
		c.prints(out, "")
	}
	if err := os.Remove(work); err != nil {
		t.Fatal(err)
	}
	out = c.ask("script")
	c.says(Failed, int64(syscall.ENOTDIR)) // it may not be where it should be
	c.prints(out, "")
	c.ends(0)
}

// A PATH with a directory that is not named from the root on depends on where one
// is: whoever else can find the program has to.
func TestAgent_LeavesUnusualPathsToOthers(t *testing.T) {
	t.Parallel()
	c := begin(t, "/", "bin:/bin")
	out := c.ask("sh", "-c", "exit 0")
	c.says(Failed, int64(syscall.ENOENT))
	c.prints(out, "")
	c.ends(0)
}

func TestAgent_EndsAtBadRequests(t *testing.T) {
	t.Parallel()
	rights := syscall.UnixRights(0, 1, 2)
	for name, send := range map[string]struct{ bytes, oob []byte }{
		"no files":       {[]byte("\x02\x00\x00\x00a\x00"), nil},
		"a file too few": {[]byte("\x02\x00\x00\x00a\x00"), syscall.UnixRights(0, 1)},
		"no end":         {[]byte("\x02\x00\x00\x00ab"), rights},
		"nothing":        {[]byte("\x00\x00\x00\x00"), rights},
		"too much":       {[]byte("\xff\xff\xff\xff"), rights},
		"half":           {[]byte("\x02\x00"), rights},
	} {
		c := begin(t, "/", "/bin")
		if _, _, err := c.WriteMsgUnix(send.bytes, send.oob, nil); err != nil {
			t.Fatal(name, err)
		}
		c.ends(0)
	}
	for _, argv := range [][]string{nil, {"a\x00b"}, {strings.Repeat("x", MaxRequest)}} {
		if b, err := EncodeRequest(argv); err == nil {
			t.Errorf("a request of %d bytes was made for %d arguments", len(b), len(argv))
		}
	}
}
