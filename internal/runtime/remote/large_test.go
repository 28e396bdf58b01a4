package remote

import (
	"bytes"
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"deployster/internal/runtime/remote/frame"
	"deployster/internal/runtime/runner"
)

// printing is a place where programs print so much.
type printing struct {
	*place
	stdout, stderr int
}

func (p printing) Run(context.Context, runner.Spec) (runner.Result, error) {
	return runner.Result{Stdout: bytes.Repeat([]byte{'o'}, p.stdout), Stderr: bytes.Repeat([]byte{'e'}, p.stderr)}, nil
}

func TestClient_TakesTheLargestAnswer(t *testing.T) {
	c, _, _ := connect(t, printing{newPlace(), runner.LargestAnswer, runner.LargestLog}, Hello{Build: "b1"}, DefaultTiming())
	res, err := c.Run(t.Context(), runner.Spec{Kind: runner.Query})
	if err != nil || len(res.Stdout) != runner.LargestAnswer || len(res.Stderr) != runner.LargestLog {
		t.Errorf("%d and %d bytes, %v", len(res.Stdout), len(res.Stderr), err)
	}
}

// What does not fit into a message is an error of its own call: the connection stays, and
// nothing is asked again.
func TestClient_ReportsWhatIsTooLarge(t *testing.T) {
	at := printing{place: newPlace(), stdout: frame.MaxMessage}
	c, _, _ := connect(t, at, Hello{Build: "b1"}, DefaultTiming())
	for name, s := range map[string]runner.Spec{
		"a request": {Kind: runner.Query, Stdin: make([]byte, frame.MaxMessage)},
		"an answer": {Kind: runner.Query},
	} {
		_, err := c.Run(t.Context(), s)
		var lost *LostError
		if err == nil || errors.As(err, &lost) || !strings.Contains(err.Error(), "too large") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if seen, err := c.Look(t.Context(), []Plug{{Path: "/etc"}}); err != nil || seen[0].Path != "/real/etc" {
		t.Errorf("afterwards: %v, %v", seen, err)
	}
}

// slow is a stream that takes its time for each read.
type slow struct{ net.Conn }

func (s slow) Read(p []byte) (int, error) {
	time.Sleep(20 * time.Millisecond)
	return s.Conn.Read(p[:min(len(p), 16<<10)])
}

// A message that takes longer than the silence that is the end of a connection ends none.
func TestConnection_IsHeardWhileAMessageComes(t *testing.T) {
	local, there := net.Pipe()
	go func() { _ = Serve(context.Background(), there, printing{newPlace(), 4 << 20, 0}, quick()) }() // it ends with its client
	c, err := NewClient(t.Context(), slow{local}, Hello{Build: "b1"}, quick())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }() // it says goodbye
	begun := time.Now()
	if res, err := c.Run(t.Context(), runner.Spec{Kind: runner.Query}); err != nil || len(res.Stdout) != 4<<20 {
		t.Errorf("%d bytes, %v", len(res.Stdout), err)
	}
	if took := time.Since(begun); took < 2*quick().Silence {
		t.Errorf("it took only %s", took)
	}
}
