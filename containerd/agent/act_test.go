package agent

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// act requests an action, whose files are in a directory.
func (c *client) act(dir string, argv ...string) {
	c.t.Helper()
	b, err := EncodeRequest(argv)
	if err != nil {
		c.t.Fatal(err)
	}
	var files []int
	for _, name := range []string{"in", "out", "err", "record"} {
		f, err := os.OpenFile(filepath.Join(dir, name), os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
		if err != nil {
			c.t.Fatal(err)
		}
		defer f.Close()
		files = append(files, int(f.Fd()))
	}
	if n, _, err := c.WriteMsgUnix(b, syscall.UnixRights(files...), nil); err != nil || n != len(b) {
		c.t.Fatal(n, err)
	}
}

func content(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(b)
}

// holds waits until a file has a content.
func holds(t *testing.T, path, want string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); content(t, path) != want; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s has %q, want %q", path, content(t, path), want)
		}
	}
}

// The begin of an action is on record before its program runs, and its end after all that it has printed.
func TestAgent_RecordsActions(t *testing.T) {
	t.Parallel()
	c := begin(t, "/", "/bin")
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "in"), []byte("given"), 0o600); err != nil {
		t.Fatal(err)
	}
	c.act(dir, "sh", "-c", `cat; cat "$0"; echo one; echo two >/dev/stdout; echo three >/dev/stderr; exit 7`, filepath.Join(dir, "record"))
	c.says(Started, -1)
	c.says(Ended, 7<<8)
	holds(t, filepath.Join(dir, "out"), "given"+Begun+"one\ntwo\n")
	holds(t, filepath.Join(dir, "err"), "three\n")
	holds(t, filepath.Join(dir, "record"), Begun+"exit 7\n")

	dir = t.TempDir()
	c.act(dir, "sh", "-c", "kill -KILL $$")
	c.says(Started, -1)
	c.says(Ended, int64(syscall.SIGKILL))
	holds(t, filepath.Join(dir, "record"), Begun+"exit 137\n")

	dir = t.TempDir()
	c.act(dir, "/missing")
	c.says(Failed, int64(syscall.ENOENT))
	holds(t, filepath.Join(dir, "record"), Begun+NotBegun)
	holds(t, filepath.Join(dir, "out"), "")
	c.ends(1)
}

// An agent outlives its client until its action has ended.
func TestAgent_OutlivesItsClient(t *testing.T) {
	t.Parallel()
	c := begin(t, "/", "/bin")
	dir := t.TempDir()
	c.act(dir, "sh", "-c", `until [ -s "$0" ]; do sleep 0.01; done; echo end`, filepath.Join(dir, "go"))
	if err := c.Close(); err != nil { // before it has answered
		t.Fatal(err)
	}
	holds(t, filepath.Join(dir, "record"), Begun)
	time.Sleep(100 * time.Millisecond)
	if err := os.WriteFile(filepath.Join(dir, "go"), []byte("go"), 0o600); err != nil {
		t.Fatal(err)
	}
	holds(t, filepath.Join(dir, "record"), Begun+"exit 0\n")
	holds(t, filepath.Join(dir, "out"), "end\n")
	c.ends(1)
}

func TestRecord_IncompleteLinesDoNotCount(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                             "false -",
		"begun":                        "false -", // not written whole
		Begun:                          "true -",
		Begun + NotBegun:               "false -",
		Begun + "exit 0":               "true -",
		Begun + "exit 0\n":             "true 0",
		Begun + "exit 137\n":           "true 137",
		Begun + "exit x\n":             "true -",
		Begun + "what is this\nexit\n": "true -",
	} {
		r := ReadRecord([]byte(text))
		exit := "-"
		if r.Exit != nil {
			exit = fmt.Sprint(*r.Exit)
		}
		if got := fmt.Sprint(r.Begun, " ", exit); got != want {
			t.Errorf("%s: %s, want %s", strings.ReplaceAll(text, "\n", "|"), got, want)
		}
	}
}
