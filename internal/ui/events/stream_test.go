package events

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"deployster/apply"
	"deployster/internal/base/diag"
	"deployster/internal/runtime/runner/typeclient"
)

func instant() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 678999000, time.UTC) }

// reader takes what is written when it is let.
type reader struct {
	mu     sync.Mutex
	got    bytes.Buffer
	let    chan struct{} // nil = always
	fail   error
	closed bool
}

func (r *reader) open(<-chan struct{}) (io.WriteCloser, error) { return r, nil }

func (r *reader) Write(p []byte) (int, error) {
	if r.let != nil {
		<-r.let
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fail != nil {
		return 0, r.fail
	}
	return r.got.Write(p)
}

func (r *reader) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	return nil
}

// lines parses what the reader got.
func (r *reader) lines(t *testing.T) []map[string]any {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []map[string]any
	for line := range strings.Lines(r.got.String()) {
		var one map[string]any
		if err := json.Unmarshal([]byte(line), &one); err != nil {
			t.Fatalf("%q: %s", line, err)
		}
		all = append(all, one)
	}
	return all
}

func logLine(i int) Event {
	return OfLine(typeclient.Line{Address: "a", Step: "write", Stream: typeclient.Stderr, Text: fmt.Sprintf("line %d", i)})
}

func TestStream_SendsEveryEventInOrder(t *testing.T) {
	s := NewStream(nil, instant)
	a, b := &reader{}, &reader{}
	s.To("a", a.open, DefaultLimits())
	s.To("b", b.open, DefaultLimits())
	const each, from = 200, 5
	var wait sync.WaitGroup
	for g := range from {
		wait.Go(func() {
			for i := range each {
				s.Send(logLine(g*each + i))
			}
		})
	}
	wait.Wait()
	s.Send(OfEnd(apply.OK, 0, time.Second))
	if problems := s.Close(time.Minute, nil); len(problems) > 0 {
		t.Fatal(problems)
	}
	s.Send(logLine(0)) // too late: nobody minds
	if a.got.String() != b.got.String() {
		t.Error("two readers got different streams")
	}
	lines := a.lines(t)
	if len(lines) != each*from+1 || lines[len(lines)-1]["type"] != "end" || !a.closed {
		t.Errorf("%d lines, the last is %v", len(lines), lines[len(lines)-1])
	}
}

// A slow reader holds up nobody, costs a bounded amount of memory, and gets the
// number of the events that it has missed.
func TestStream_SlowReaderMissesLogLinesOnly(t *testing.T) {
	s := NewStream(nil, instant)
	slow, quick := &reader{let: make(chan struct{})}, &reader{}
	s.To("slow", slow.open, Limits{Waiting: 10_000, Most: 1 << 20})
	s.To("quick", quick.open, Limits{Waiting: 100 << 20, Most: 100 << 20})
	s.Send(newEvent(Info, "begin", Version{Format: Format}))
	const many = 100_000
	for i := range many {
		s.Send(logLine(i))
		if i == many/2 {
			s.Send(newEvent(Info, "Applying", ApplyStarted{Plan: "x"}))
		}
	}
	if k := s.sinks[0]; k.size > 20_000 {
		t.Errorf("%d bytes wait for the slow reader", k.size)
	}
	s.Send(OfEnd(apply.OK, 0, 0))
	close(slow.let)
	if problems := s.Close(time.Minute, nil); len(problems) > 0 {
		t.Fatal(problems)
	}
	types := map[any]int{}
	missed := 0.0
	for _, line := range slow.lines(t) {
		types[line["type"]]++
		if line["type"] == "dropped" {
			missed += line["count"].(float64)
		}
	}
	if types["version"] != 1 || types["apply_started"] != 1 || types["end"] != 1 || types["log"]+int(missed) != many || types["log"] == 0 || missed == 0 {
		t.Errorf("the slow reader got %v and missed %v", types, missed)
	}
	if got := bytes.Count(quick.got.Bytes(), []byte("\n")); got != many+3 {
		t.Errorf("the quick reader got %d lines", got)
	}
}

func TestStream_DeadReaderCostsNoMemory(t *testing.T) {
	s := NewStream(nil, instant)
	dead := &reader{let: make(chan struct{})}
	s.To("dead", dead.open, Limits{Waiting: 1000, Most: 5000})
	for i := range 1000 {
		s.Send(newEvent(Info, "Applying", ApplyStarted{Plan: fmt.Sprint(i)}))
	}
	if k := s.sinks[0]; k.size > 5000 {
		t.Errorf("%d bytes wait", k.size)
	}
	hurry := make(chan struct{})
	close(hurry)
	if problems := s.Close(time.Hour, hurry); !errors.Is(problems["dead"], ErrNoReader) {
		t.Error(problems)
	}
	close(dead.let)
}

func TestStream_ReaderIsGone(t *testing.T) {
	s := NewStream(nil, instant)
	gone := &reader{fail: syscall.EPIPE}
	s.To("gone", gone.open, DefaultLimits())
	for i := range 1000 {
		s.Send(logLine(i))
	}
	if problems := s.Close(time.Minute, nil); !errors.Is(problems["gone"], syscall.EPIPE) {
		t.Error(problems)
	}
	stuck := NewStream(nil, instant)
	never := &reader{let: make(chan struct{})}
	stuck.To("never", never.open, DefaultLimits())
	stuck.Send(logLine(1))
	if problems := stuck.Close(time.Millisecond, nil); !errors.Is(problems["never"], ErrNoReader) {
		t.Error(problems)
	}
	close(never.let)
}

func TestStream_LogsAreBounded(t *testing.T) {
	s := NewStream(nil, instant)
	record := &reader{}
	s.To("records", record.open, Limits{Waiting: 1 << 30, Most: 1 << 30, Logs: 5000})
	for i := range 1000 {
		s.Send(logLine(i))
	}
	s.Send(OfEnd(apply.OK, 0, 0))
	s.Close(time.Minute, nil)
	lines := record.lines(t)
	if n := len(lines); record.got.Len() > 6000 || lines[n-2]["type"] != "dropped" || lines[n-1]["type"] != "end" {
		t.Errorf("%d bytes, %d lines", record.got.Len(), n)
	}
}

func TestOpenFile_AcceptsFilesAndPipes(t *testing.T) {
	dir := t.TempDir()
	file, fifo := filepath.Join(dir, "file"), filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("what was there before, and is longer than what comes"), 0o644); err != nil {
		t.Fatal(err)
	}
	inherited, err := os.Create(filepath.Join(dir, "inherited"))
	if err != nil {
		t.Fatal(err)
	}
	_, _ = inherited.WriteString("kept\n")
	fd, err := syscall.Dup(int(inherited.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	s := NewStream(nil, instant)
	for _, path := range []string{file, fifo, fmt.Sprintf("/dev/fd/%d", fd)} {
		open, err := OpenFile(path)
		if err != nil {
			t.Fatal(err)
		}
		s.To(path, open, DefaultLimits())
	}
	s.Send(logLine(1)) // nobody reads the FIFO yet
	read := make(chan string)
	go func() {
		content, _ := os.ReadFile(fifo)
		read <- string(content)
	}()
	if problems := s.Close(time.Minute, nil); len(problems) > 0 {
		t.Fatal(problems)
	}
	want := `{"type":"log","time":"2026-01-02T03:04:05.678Z","level":"info","message":"a write | line 1","resource":"a","step":"write","stream":"stderr","line":"line 1"}` + "\n"
	if got := <-read; got != want {
		t.Errorf("the FIFO had %q", got)
	}
	for path, want := range map[string]string{file: want, inherited.Name(): "kept\n" + want} {
		if got, err := os.ReadFile(path); err != nil || string(got) != want {
			t.Errorf("%s has %q, %v", path, got, err)
		}
	}
	for _, path := range []string{dir, filepath.Join(dir, "no", "where"), "/dev/fd/1", "/dev/fd/987654"} {
		if _, err := OpenFile(path); err == nil {
			t.Errorf("%s can be written", path)
		}
	}
	lonely := NewStream(nil, instant)
	open, err := OpenFile(fifo)
	if err != nil {
		t.Fatal(err)
	}
	lonely.To("fifo", open, DefaultLimits())
	lonely.Send(logLine(1))
	if problems := lonely.Close(10*time.Millisecond, nil); !errors.Is(problems["fifo"], ErrNoReader) {
		t.Error(problems)
	}
	<-lonely.sinks[0].done
}

// A secret that is spelled like a key or a word of an event is hidden only where a
// value may stand; and no event holds control characters.
func TestEvent_HidesSecretsAndControlCharacters(t *testing.T) {
	hide := strings.NewReplacer("type", "(sensitive value)", "error", "(sensitive value)", "a:b", "(sensitive value)", "12345", "(sensitive value)").Replace
	d := diag.Errorf("no type", "error a:b \x1b[31m\u202e\U000e0041")
	for _, c := range []struct {
		e    Event
		want string
	}{
		{OfDiagnostic(d), `{"type":"diagnostic","time":"2026-01-02T03:04:05.678Z","level":"error","message":"no (sensitive value): (sensitive value) (sensitive value) \u001b[31m\u202e\udb40\udc41","diagnostic":{"severity":"error","summary":"no (sensitive value)","detail":"(sensitive value) (sensitive value) \u001b[31m\u202e\udb40\udc41"}}`},
		{newEvent(Info, "", Outputs{map[string]OutputValue{"type": {Value: json.RawMessage(`{"type":["error",12345]}`)}}}),
			`{"type":"outputs","time":"2026-01-02T03:04:05.678Z","level":"info","message":"","outputs":{"type":{"sensitive":false,"value":{"(sensitive value)":["(sensitive value)","(sensitive value)"]}}}}`},
		{OfReport(&apply.Report{Format: 1, Status: apply.Error, Resources: map[string]*apply.ResourceReport{"type": {Status: apply.Error, Reason: "error"}}}),
			`{"type":"report","time":"2026-01-02T03:04:05.678Z","level":"error","message":"The apply ended: (sensitive value)","report":{"format":1,"status":"error","resources":{"type":{"status":"error","reason":"(sensitive value)"}}}}`},
	} {
		got, err := c.e.encode(new(bytes.Buffer), instant(), hide)
		if err != nil || string(got) != c.want+"\n" || !json.Valid(got) {
			t.Errorf("got  %s%v\nwant %s", got, err, c.want)
		}
	}
	if got, err := Notef("x").encode(new(bytes.Buffer), instant(), nil); err != nil || string(got) != `{"type":"note","time":"2026-01-02T03:04:05.678Z","level":"info","message":"x"}`+"\n" {
		t.Errorf("%s, %v", got, err)
	}
}

// What a log line costs that two readers get: see docs/internals/performance.md.
func BenchmarkLogLine(b *testing.B) {
	hide := strings.NewReplacer("a secret", "(sensitive value)", "another one", "(sensitive value)")
	s := NewStream(func() func(string) string { return hide.Replace }, instant)
	for _, name := range []string{"a", "b"} {
		s.To(name, WithoutClose(io.Discard), DefaultLimits())
	}
	e := logLine(1)
	for b.Loop() {
		s.Send(e)
	}
	s.Close(time.Minute, nil)
}
