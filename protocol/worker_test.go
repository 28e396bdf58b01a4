package protocol_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"deployster/protocol"
)

// talk is a worker at work.
type talk struct {
	t    *testing.T
	in   *io.PipeWriter
	out  *bufio.Scanner
	done chan int
	log  bytes.Buffer
}

func startWorker(t *testing.T, ctx context.Context, d *disks) *talk {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	w := &talk{t: t, in: inW, out: bufio.NewScanner(outR), done: make(chan int, 1)}
	go func() {
		code := protocol.Run(ctx, d, protocol.About{Worker: true}, protocol.Process{Args: []string{"worker"}, Stdin: inR, Stdout: outW, Stderr: &w.log})
		_ = outW.Close()
		_ = inR.Close()
		w.done <- code
	}()
	return w
}

func (w *talk) say(format string, args ...any) {
	w.t.Helper()
	if _, err := fmt.Fprintf(w.in, format+"\n", args...); err != nil {
		w.t.Fatal(err)
	}
}

func (w *talk) hear() (r protocol.WorkerReply) {
	w.t.Helper()
	if !w.out.Scan() {
		w.t.Fatalf("the worker says nothing more: %s", &w.log)
	}
	if err := json.Unmarshal(w.out.Bytes(), &r); err != nil {
		w.t.Fatal(err)
	}
	return r
}

// A worker answers many at one time, each as a run of its own would, in any
// order, and ends one when it is asked to.
func TestWorker_ServesMany(t *testing.T) {
	t.Parallel()
	d, blocked := newDisks(), make(chan struct{})
	d.read = func(ctx context.Context, c *protocol.Call[diskConfig, diskState]) error {
		if c.Config.Name == "slow" {
			close(blocked)
			<-ctx.Done()
		}
		return nil
	}
	w := startWorker(t, t.Context(), d)
	w.say(`{"id":1,"args":["state"],"stdin":%s}`, input(`{"name":"slow"}`))
	<-blocked
	w.say(`{"id":2,"args":[],"stdin":%s,"grease":{}}`, initInput)
	_, cold, _ := ask(t, newDisks(), protocol.About{Worker: true}, initInput)
	if r := w.hear(); r.ID != 2 || r.Stdout != cold {
		t.Errorf("init: %+v", r)
	}
	if r := w.hear(); r.ID != 2 || r.Exit == nil || *r.Exit != 0 {
		t.Errorf("init ended: %+v", r)
	}
	w.say(`{"id":3,"args":["create"],"stdin":%s}`, input(`{"name":"x"}`))
	if r := w.hear(); r.ID != 3 || r.Stderr != "writing x\n" {
		t.Errorf("create: %+v", r)
	}
	if r := w.hear(); r.ID != 3 || *r.Exit != 0 {
		t.Errorf("create ended: %+v", r)
	}
	w.say(`{"id":4,"cancel":true}`) // one that has never been: nothing comes of it
	w.say(`{"id":1,"cancel":true}`)
	if r := w.hear(); r.ID != 1 || !strings.Contains(r.Stderr, "on request") {
		t.Errorf("the slow one: %+v", r)
	}
	if r := w.hear(); r.ID != 1 || *r.Exit != 143 {
		t.Errorf("the slow one ended: %+v", r)
	}
	// Its number is free again.
	w.say(`{"id":1,"args":["state"],"stdin":%s}`, input(`{"name":"x"}`))
	if r := w.hear(); r.ID != 1 || !strings.HasPrefix(r.Stdout, `{"status":"VALID"`) {
		t.Errorf("once more: %+v", r)
	}
	w.hear()
	_ = w.in.Close()
	if code := <-w.done; code != 0 {
		t.Errorf("exit code %d: %s", code, &w.log)
	}
}

// More than it can carry out at one time waits, and is answered.
func TestWorker_TakesItsTime(t *testing.T) {
	t.Parallel()
	const many = 1000
	d, gate := newDisks(), make(chan struct{})
	d.read = func(context.Context, *protocol.Call[diskConfig, diskState]) error { <-gate; return nil }
	w := startWorker(t, t.Context(), d)
	sent := make(chan int, many)
	go func() {
		for i := range many {
			if _, err := fmt.Fprintf(w.in, `{"id":%d,"args":["state"],"stdin":%s}`+"\n", i, input(`{"name":"x"}`)); err != nil {
				break
			}
			sent <- i
		}
		_ = w.in.Close()
	}()
	for range 250 {
		<-sent
	}
	close(gate)
	exits := map[int64]int{}
	for range 2 * many {
		if r := w.hear(); r.Exit != nil {
			exits[r.ID]++
		}
	}
	if code := <-w.done; code != 0 || len(exits) != many {
		t.Errorf("exit code %d, %d answered", code, len(exits))
	}
}

// What waits for its turn says so to who understands it. When it is ended meanwhile it was
// never begun, and nothing else is said of it.
func TestWorker_ReportsWhatWaits(t *testing.T) {
	t.Parallel()
	d, gate, begun := newDisks(), make(chan struct{}), make(chan struct{}, 100)
	d.read = func(context.Context, *protocol.Call[diskConfig, diskState]) error {
		begun <- struct{}{}
		<-gate
		return nil
	}
	w := startWorker(t, t.Context(), d)
	for i := range 16 {
		w.say(`{"id":%d,"args":["state"],"stdin":%s,"waits":true}`, i+1, input(`{"name":"x"}`))
		<-begun
	}
	w.say(`{"id":20,"args":["state"],"stdin":%s}`, input(`{"name":"x"}`))
	w.say(`{"id":21,"args":["create"],"stdin":%s,"waits":true}`, input(`{"name":"x"}`))
	if r := w.hear(); r.ID != 21 || r.Waits == nil || !*r.Waits {
		t.Errorf("waits: %+v", r)
	}
	w.say(`{"id":21,"cancel":true}`)
	if r := w.hear(); r.ID != 21 || r.Exit == nil || *r.Exit != 143 || r.Waits != nil || r.Stderr != "" {
		t.Errorf("was never begun: %+v", r)
	}
	w.say(`{"id":22,"args":["create"],"stdin":%s,"waits":true}`, input(`{"name":"x"}`))
	if r := w.hear(); r.ID != 22 || r.Waits == nil || !*r.Waits {
		t.Errorf("waits: %+v", r)
	}
	_ = w.in.Close()
	close(gate)
	var of22 []protocol.WorkerReply
	for exits := 0; exits < 18; {
		r := w.hear()
		if r.Exit != nil {
			exits++
		}
		if r.ID == 22 {
			of22 = append(of22, r)
		} else if r.Waits != nil {
			t.Errorf("nobody has asked for it, or it had a place: %+v", r)
		}
	}
	if len(of22) < 2 || of22[0].Waits == nil || *of22[0].Waits || of22[len(of22)-1].Exit == nil {
		t.Errorf("begins, and ends: %+v", of22)
	}
	if code := <-w.done; code != 0 {
		t.Errorf("exit code %d: %s", code, &w.log)
	}
}

func TestWorker_Ends(t *testing.T) {
	t.Parallel()
	for said, reason := range map[string]string{
		"nonsense":          "not a request",
		`{"id":1} {"id":2}`: "not a request",
		`{"id":"seven"}`:    "not a request",
		`{"id":7,"args":["state"]}` + "\n" + `{"id":7,"args":["state"]}`: "in use",
	} {
		d := newDisks()
		d.read = func(ctx context.Context, _ *protocol.Call[diskConfig, diskState]) error { <-ctx.Done(); return nil }
		if strings.Contains(reason, "in use") {
			said = strings.ReplaceAll(said, `["state"]`, `["state"],"stdin":`+input(`{"name":"x"}`))
		}
		w := startWorker(t, t.Context(), d)
		go func() {
			for w.out.Scan() {
			}
		}()
		w.say("%s", said)
		if code := <-w.done; code != 2 || !strings.Contains(w.log.String(), reason) {
			t.Errorf("%s: exit code %d, %s", said, code, &w.log)
		}
	}
	// Whoever asks has died over a line: what is open goes on.
	d, gate := newDisks(), make(chan struct{})
	d.read = func(context.Context, *protocol.Call[diskConfig, diskState]) error { <-gate; return nil }
	w := startWorker(t, t.Context(), d)
	w.say(`{"id":1,"args":["state"],"stdin":%s}`, input(`{"name":"x"}`))
	_, _ = io.WriteString(w.in, `{"id":2,"args":["sta`) // it reads everything
	_ = w.in.Close()
	time.AfterFunc(50*time.Millisecond, func() { close(gate) }) // it has seen the end by then, mostly
	if r := w.hear(); r.ID != 1 || r.Stdout == "" {
		t.Errorf("what was open: %+v", r)
	}
	w.hear()
	if code := <-w.done; code != 0 {
		t.Errorf("cut off: exit code %d, %s", code, &w.log)
	}
	ctx, cancel := context.WithCancel(t.Context())
	w = startWorker(t, ctx, newDisks())
	cancel()
	if code := <-w.done; code != 0 {
		t.Errorf("asked to end: exit code %d, %s", code, &w.log)
	}
}

func FuzzServe(f *testing.F) {
	f.Add(initInput, "")
	f.Add(input(`{"name":"x","size":1e3,"tags":["fast"]}`, `,"last_state":{"id":"1"}`), "state")
	f.Add(input(`{"name":"x"}`, `,"staleState":{"size":1}`), "update")
	f.Add(`{"id":1,"args":["state"],"stdin":{}}`, "worker")
	f.Fuzz(func(t *testing.T, stdin, arg string) {
		d := newDisks()
		d.there["x"] = diskState{ID: "1", Size: 7, Ratio: 1.5}
		args := []string{arg}
		if arg == "" {
			args = nil
		}
		code, stdout, stderr := ask(t, d, protocol.About{Worker: true}, stdin, args...)
		if code != 0 && stderr == "" {
			t.Errorf("exit code %d without a word", code)
		}
		if strings.Contains(stderr, "panic:") {
			t.Error(stderr)
		}
		if arg != "worker" && stdout != "" && !json.Valid([]byte(stdout)) {
			t.Errorf("no answer: %q", stdout)
		}
	})
}
