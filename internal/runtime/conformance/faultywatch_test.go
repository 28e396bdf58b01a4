package conformance_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"strings"
	"sync"
	"time"

	"deployster/protocol"
)

// watch tells of changes until its stdin ends.
func (f *faulty) watch(ctx context.Context, stdin io.Reader, stdout io.Writer) int {
	if _, err := bufio.NewReader(stdin).ReadString('\n'); err != nil {
		return 93
	}
	ended := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, stdin)
		if f.fault != "watch does not end" {
			close(ended)
		}
	}()
	f.tell(ctx, ended, func(line string) { _, _ = io.WriteString(stdout, line) })
	return 0
}

// tell says lines until what it gets ends.
func (f *faulty) tell(ctx context.Context, ended <-chan struct{}, say func(string)) {
	there, asked := f.now()
	switch f.fault {
	case "watch is never ready":
	case "watch is no JSON":
		say("watching\n")
	default:
		say("{}\n")
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-ended:
			return
		case <-time.After(20 * time.Millisecond):
		}
		is, n := f.now()
		if f.fault == "watch tells nothing" {
			continue
		}
		if !maps.Equal(is, there) || f.fault == "watch tells of looks" && n != asked {
			say(`{"detail":"it has changed"}` + "\n")
		}
		there, asked = is, n
	}
}

// now returns what is there, and how often it was asked for.
func (f *faulty) now() (texts map[string]string, asked int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return maps.Clone(f.texts), f.asked
}

// watchMany is what a worker does that is asked to watch: it begins with a first line.
func (f *faulty) watchMany(first []byte, lines *bufio.Scanner, stdout io.Writer) int {
	var mu sync.Mutex
	var open sync.WaitGroup
	ctx, end := context.WithCancel(context.Background())
	defer open.Wait()
	defer end()
	reply := func(r protocol.WorkerReply) {
		mu.Lock()
		defer mu.Unlock()
		_ = json.NewEncoder(stdout).Encode(r)
	}
	cancels := map[int64]context.CancelFunc{}
	for line := first; ; line = lines.Bytes() {
		var r protocol.WorkerRequest
		if err := json.Unmarshal(line, &r); err != nil {
			return 92
		}
		switch {
		case r.Cancel && f.fault != "watch worker never cancels" && cancels[r.ID] != nil:
			cancels[r.ID]()
		case !r.Cancel && (f.fault != "watch worker takes few" || r.ID <= 16):
			mine, cancel := context.WithCancel(ctx)
			cancels[r.ID] = cancel
			open.Go(func() {
				f.tell(mine, nil, func(line string) { reply(protocol.WorkerReply{ID: r.ID, Stdout: line}) })
				exit := 143
				reply(protocol.WorkerReply{ID: r.ID, Exit: &exit})
			})
		}
		if !lines.Scan() {
			return 0
		}
	}
}

// asksToWatch reports whether a request of a worker does.
func asksToWatch(line []byte) bool {
	return bytes.Contains(line, []byte(`"args":["watch"]`)) && !strings.Contains(string(line), `"cancel"`)
}
