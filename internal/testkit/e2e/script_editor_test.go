package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// asEditor sends the messages of a file, one on a line, to `deployster lsp`, and writes what comes back into the file
// "answers", one on a line. After a request it waits for the answer. A line `wait TEXT` waits for a message with the
// text. ${WORK} is the directory of the script. At the end the server must have ended by itself, with success.
func asEditor(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: editor FILE")
	}
	libexec := ts.MkAbs(".libexec")
	build := exec.Command("go", "build", "-buildvcs=false", "-o", filepath.Join(libexec, "deployster-lsp"), ".")
	build.Dir, build.Stderr = filepath.Join(ts.Getenv("ROOT"), "lsp"), os.Stderr
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	ts.Check(build.Run())
	path, err := lookPath(ts.Getenv("PATH"), "deployster")
	ts.Check(err)
	cmd := exec.Command(path, "lsp")
	cmd.Dir, cmd.Stderr = ts.MkAbs("."), os.Stderr
	cmd.Env = []string{"HOME=" + ts.Getenv("HOME"), "PATH=" + ts.Getenv("PATH"), "DEPLOYSTER_LIBEXEC=" + libexec,
		"DEPLOYSTER_DATA_DIR=" + ts.Getenv("DEPLOYSTER_DATA_DIR")}
	stdin, err := cmd.StdinPipe()
	ts.Check(err)
	stdout, err := cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	giveUp := time.AfterFunc(2*time.Minute, func() { _ = cmd.Process.Kill() })
	defer giveUp.Stop()
	talk := &conversation{ts: ts, in: stdin, out: bufio.NewReader(stdout)}
	for line := range strings.Lines(strings.ReplaceAll(ts.ReadFile(args[0]), "${WORK}", ts.Getenv("WORK"))) {
		talk.line(strings.TrimSpace(line))
	}
	ts.Check(stdin.Close())
	for talk.next() != nil {
	}
	ts.Check(os.WriteFile(ts.MkAbs("answers"), []byte(strings.Join(talk.got, "\n")+"\n"), 0o600))
	ts.Check(cmd.Wait())
}

// conversation is what is said to a server, and what it says.
type conversation struct {
	ts  *testscript.TestScript
	in  io.Writer
	out *bufio.Reader
	got []string
}

func (c *conversation) line(line string) {
	if line == "" || strings.HasPrefix(line, "#") {
		return
	}
	if text, ok := strings.CutPrefix(line, "wait "); ok {
		c.until(text, func(message []byte) bool { return strings.Contains(string(message), text) })
		return
	}
	var message struct {
		ID     *int   `json:"id"`
		Method string `json:"method"`
	}
	if err := json.Unmarshal([]byte(line), &message); err != nil {
		c.ts.Fatalf("%s: %v", line, err)
	}
	_, err := fmt.Fprintf(c.in, "Content-Length: %d\r\n\r\n%s", len(line), line)
	c.ts.Check(err)
	if message.ID == nil || message.Method == "" {
		return
	}
	c.until(fmt.Sprint("the answer ", *message.ID), func(answer []byte) bool {
		var a struct {
			ID     *int   `json:"id"`
			Method string `json:"method"`
		}
		return json.Unmarshal(answer, &a) == nil && a.Method == "" && a.ID != nil && *a.ID == *message.ID
	})
}

func (c *conversation) until(what string, good func([]byte) bool) {
	for {
		message := c.next()
		if message == nil {
			c.ts.Fatalf("the server has ended before %s came. It has sent:\n%s", what, strings.Join(c.got, "\n"))
		}
		if good(message) {
			return
		}
	}
}

// next returns the next message; nil = the server has ended.
func (c *conversation) next() []byte {
	length := 0
	for {
		header, err := c.out.ReadString('\n')
		if err != nil {
			return nil
		}
		if header = strings.TrimSpace(header); header == "" {
			break
		}
		if n, ok := strings.CutPrefix(header, "Content-Length:"); ok {
			length, err = strconv.Atoi(strings.TrimSpace(n))
			c.ts.Check(err)
		}
	}
	message := make([]byte, length)
	if _, err := io.ReadFull(c.out, message); err != nil {
		return nil
	}
	c.got = append(c.got, string(message))
	return message
}
