package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"deployster/protocol"
)

// worker is the bridge as a worker, with a provider of ours.
type worker struct {
	b     *testing.B
	cmd   *exec.Cmd
	in    io.Writer
	out   *bufio.Scanner
	asked int
}

// input is that of a thing, with more keys.
func input(i int, more map[string]any) map[string]any {
	in := map[string]any{"name": fmt.Sprint("r", i), "type": "tf/test:1#test_text_optional", "version": "0.1.0", "workspace": "/",
		"intent": "present", "config": map[string]any{"label": fmt.Sprint("l", i), "provider": map[string]any{}}}
	for key, v := range more {
		in[key] = v
	}
	return in
}

// ask sends a request and returns what it printed.
func (w *worker) ask(args []string, in map[string]any) []byte {
	w.asked++
	line, err := json.Marshal(map[string]any{"id": w.asked, "args": args, "stdin": in})
	if err != nil {
		w.b.Fatal(err)
	}
	if _, err := w.in.Write(append(line, '\n')); err != nil {
		w.b.Fatal(err)
	}
	var printed []byte
	for w.out.Scan() {
		var r struct {
			Stdout string
			Exit   *int
		}
		if err := json.Unmarshal(w.out.Bytes(), &r); err != nil {
			w.b.Fatal(err)
		}
		if printed = append(printed, r.Stdout...); r.Exit != nil {
			return printed
		}
	}
	w.b.Fatalf("it ends: %v", w.out.Err())
	return nil
}

// millis is the processor's time of the bridge alone.
func (w *worker) millis() float64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", w.cmd.Process.Pid))
	if err != nil {
		w.b.Fatal(err)
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	user, _ := strconv.ParseFloat(fields[11], 64)
	system, _ := strconv.ParseFloat(fields[12], 64)
	return (user + system) * 10
}

// BenchmarkBridge measures what the bridge itself takes: a cold init, a worker's first
// answer, and for each of 500 things its question, its creation and the questions after it.
func BenchmarkBridge(b *testing.B) {
	dir := b.TempDir()
	for name, pkg := range map[string]string{"bridge": ".", "provider": "./internal/testprovider/terraform-provider-test"} {
		if out, err := exec.Command("go", "build", "-o", filepath.Join(dir, name), pkg).CombinedOutput(); err != nil {
			b.Fatalf("%v: %s", err, out)
		}
	}
	b.Setenv("DEPLOYSTER_TF_PROVIDER", filepath.Join(dir, "provider"))
	for b.Loop() {
		start := exec.Command(filepath.Join(dir, "bridge"))
		first, err := json.Marshal(input(0, nil))
		if err != nil {
			b.Fatal(err)
		}
		start.Stdin = bytes.NewReader(first)
		begun := time.Now()
		if out, err := start.CombinedOutput(); err != nil {
			b.Fatalf("%v: %s", err, out)
		}
		b.ReportMetric(float64(time.Since(begun).Milliseconds()), "init-ms")
		measure(b, exec.Command(filepath.Join(dir, "bridge"), "worker"))
	}
}

func measure(b *testing.B, cmd *exec.Cmd) {
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	begun := time.Now()
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	w := &worker{b: b, cmd: cmd, in: in, out: bufio.NewScanner(out)}
	w.ask([]string{"state"}, input(0, nil))
	b.ReportMetric(float64(time.Since(begun).Milliseconds()), "first-ms")
	things := 500
	if testing.Short() { // only checks that it runs
		things = 5
	}
	memory := make([]json.RawMessage, things)
	for _, step := range []struct {
		name string
		do   func(i int)
	}{
		{"create", func(i int) {
			var a protocol.StateAnswer
			if err := json.Unmarshal(w.ask([]string{"state"}, input(i, nil)), &a); err != nil || len(a.Actions) != 1 {
				b.Fatalf("%+v, %v", a, err)
			}
			var said struct{ Memory json.RawMessage }
			made := w.ask(a.Actions[0].Args, input(i, map[string]any{"action": "create", "idempotency_key": fmt.Sprint("k", i)}))
			if err := json.Unmarshal(made, &said); err != nil {
				b.Fatalf("%s: %v", made, err)
			}
			memory[i] = said.Memory
		}},
		{"after", func(i int) {
			w.ask([]string{"state"}, input(i, map[string]any{"memory": memory[i], "after": []string{"create"}}))
		}},
		{"state", func(i int) { w.ask([]string{"state"}, input(i, map[string]any{"memory": memory[i]})) }},
	} {
		before := w.millis()
		for i := range things {
			step.do(i)
		}
		b.ReportMetric((w.millis()-before)/float64(things), step.name+"-ms")
	}
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid)) // it is there until its stdin ends
	if _, peak, found := strings.Cut(string(status), "VmHWM:"); found {
		kib, _ := strconv.ParseFloat(strings.Fields(peak)[0], 64)
		b.ReportMetric(kib/1024, "MiB")
	}
	if err := in.Close(); err != nil {
		b.Fatal(err)
	}
	_ = cmd.Wait() // however it ends
}
