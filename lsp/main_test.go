package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// asProgram makes the test binary the program.
const asProgram = "DEPLOYSTER_LSP_TEST"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// output is what a program has written.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// wait waits for a text.
func (o *output) wait(t *testing.T, text string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !strings.Contains(o.String(), text); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s is not in %s", text, o)
		}
	}
}

// program starts the program.
func program(t *testing.T, args ...string) (*exec.Cmd, io.WriteCloser, *output) {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	out := &output{}
	cmd.Stdout, cmd.Stderr = out, out
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	return cmd, in, out
}

func send(t *testing.T, to io.Writer, messages ...string) {
	t.Helper()
	for _, m := range messages {
		if _, err := fmt.Fprintf(to, "Content-Length: %d\r\n\r\n%s", len(m), m); err != nil {
			t.Fatal(err)
		}
	}
}

// ended waits for the end of the program, and returns its exit code.
func ended(t *testing.T, cmd *exec.Cmd) int {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case err := <-done:
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			return exit.ExitCode()
		} else if err != nil {
			t.Fatal(err)
		}
		return 0
	case <-time.After(time.Minute):
		t.Fatal("it has not ended")
	}
	return 0
}

func initialize(pid int) string {
	return `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"processId":` + strconv.Itoa(pid) + `,"rootUri":null,"capabilities":{}}}`
}

func TestProgram_EndsWithItsClient(t *testing.T) {
	t.Parallel()
	const shutdown, exit = `{"jsonrpc":"2.0","id":2,"method":"shutdown","params":null}`, `{"jsonrpc":"2.0","method":"exit","params":null}`
	for _, c := range []struct {
		name     string
		messages []string
		closed   bool
		code     int
	}{
		{"shutdown and exit", []string{initialize(os.Getpid()), shutdown, exit}, false, 0},
		{"exit alone", []string{initialize(os.Getpid()), exit}, false, 1},
		{"exit before anything", []string{exit}, false, 1},
		{"the connection ends", []string{initialize(os.Getpid())}, true, 0},
		{"no client", nil, true, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			cmd, in, out := program(t, "-stdio")
			if send(t, in, c.messages...); c.closed {
				_ = in.Close()
			}
			if code := ended(t, cmd); code != c.code {
				t.Errorf("exit code %d, want %d: %s", code, c.code, out)
			}
		})
	}
}

// The process of the client is gone, and something else holds the connection open.
func TestProgram_EndsWithTheProcessOfItsClient(t *testing.T) {
	t.Parallel()
	client := exec.Command("sleep", "600")
	if err := client.Start(); err != nil {
		t.Fatal(err)
	}
	cmd, in, out := program(t)
	send(t, in, initialize(client.Process.Pid))
	if err := client.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = client.Wait() // it was killed
	if code := ended(t, cmd); code != 1 || !strings.Contains(out.String(), "of the client has ended") {
		t.Errorf("exit code %d: %s", code, out)
	}
}

func TestProgram_PrintsItsVersion(t *testing.T) {
	t.Parallel()
	cmd, in, out := program(t, "--version", "-for", "1.2.3")
	_ = in.Close()
	if code := ended(t, cmd); code != 0 || out.String() != "1.2.3\n" {
		t.Errorf("exit code %d: %s", code, out)
	}
}

// What is no message of JSON-RPC is answered with an error, and the next one counts.
func TestProgram_LivesOnAfterBadMessages(t *testing.T) {
	t.Parallel()
	cmd, in, out := program(t)
	send(t, in, "{", "[]", `{"jsonrpc":"2.0","id":9,"method":3}`, initialize(os.Getpid()),
		`{"jsonrpc":"2.0","method":"textDocument/didChange","params":{"contentChanges":3}}`,
		`{"jsonrpc":"2.0","id":2,"method":"shutdown"}`)
	for _, want := range []string{`"code":-32700`, `"positionEncoding":"utf-16"`, `"id":2`} {
		out.wait(t, want)
	}
	send(t, in, `{"jsonrpc":"2.0","method":"exit"}`)
	if code := ended(t, cmd); code != 0 {
		t.Errorf("exit code %d: %s", code, out)
	}
}

// Each request has an answer, also those that the client ends before they have one. A client cannot know which of both
// comes first, so it asks in turns of more and more requests until one was ended.
func TestProgram_AnswersCancelledRequests(t *testing.T) {
	t.Parallel()
	cmd, in, out := program(t)
	var src strings.Builder
	for i := range 300 {
		fmt.Fprintf(&src, "resource \"r%d\" {\n  type = \"acme/x\"\n  depends_on = [resource.r0]\n}\n", i)
	}
	document, err := json.Marshal(src.String())
	if err != nil {
		t.Fatal(err)
	}
	uri := `"uri":"file://` + t.TempDir() + `/main.hcl"`
	send(t, in, initialize(os.Getpid()),
		`{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{`+uri+`,"version":1,"text":`+string(document)+`}}}`)
	// The protocol's RequestCancelled. Those that had ended by then have a result.
	const cancelled = `"code":-32800`
	id := 10
	for turn := 1; !strings.Contains(out.String(), cancelled); turn++ {
		if turn > 10 {
			t.Fatal("no request was answered as cancelled")
		}
		var messages bytes.Buffer // in one write, so that they are read at one time
		first := id
		for ; id < first+10*turn; id++ {
			send(t, &messages, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"textDocument/references","params":{"textDocument":{%s},"position":{"line":0,"character":12}}}`,
				id, uri))
			send(t, &messages, fmt.Sprintf(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":%d}}`, id))
		}
		if _, err := messages.WriteTo(in); err != nil {
			t.Fatal(err)
		}
		for ; first < id; first++ {
			out.wait(t, fmt.Sprintf(`"id":%d,`, first))
		}
	}
	send(t, in, `{"jsonrpc":"2.0","id":2,"method":"shutdown"}`)
	out.wait(t, `"id":2,`)
	send(t, in, `{"jsonrpc":"2.0","method":"exit"}`)
	if code := ended(t, cmd); code != 0 {
		t.Errorf("exit code %d", code)
	}
}
