package scale_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sync/errgroup"

	"deployster/internal/base/durable"
)

// What an apply of a type that forecasts its state does at least, measured of one
// of `make bench`: how many resources are in flight, and how long the lines of
// their facts are in the journal.
const (
	inFlight     = 240
	startedBytes = 590
	endedBytes   = 180
	validBytes   = 550
)

// asker speaks to a worker: many at a time, and with as little as that takes.
type asker struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser
	lines chan []byte
	read  chan error // gives how reading ended

	mu   sync.Mutex
	next int
	open map[int]chan struct{}
}

// newAsker starts the worker of internal/testkit/bench/disk, which writes into /world,
// with dir for its root.
func newAsker(b *testing.B, dir string) *asker {
	b.Helper()
	build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", filepath.Join(dir, "disk"),
		"deployster/internal/testkit/bench/disk")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	a := &asker{cmd: exec.Command("/disk", "worker"), lines: make(chan []byte), read: make(chan error, 1), open: map[int]chan struct{}{}}
	a.cmd.Dir, a.cmd.SysProcAttr = "/", &syscall.SysProcAttr{Chroot: dir}
	var err, err2 error
	a.stdin, err = a.cmd.StdinPipe()
	stdout, err2 := a.cmd.StdoutPipe()
	if err := errors.Join(err, err2, a.cmd.Start()); err != nil {
		b.Fatalf("%v (only root can give the worker a root of its own)", err)
	}
	go a.write()
	go func() { a.read <- a.hear(bufio.NewReaderSize(stdout, 64<<10)) }()
	return a
}

// write writes what there is to be written at one time.
func (a *asker) write() {
	out := bufio.NewWriterSize(a.stdin, 64<<10)
	for line := range a.lines {
		_, _ = out.Write(line) // who waits for an answer has none then
		for more := true; more; {
			select {
			case line := <-a.lines:
				_, _ = out.Write(line)
			default:
				more = false
			}
		}
		_ = out.Flush()
	}
}

// hear wakes up who waits for the last line of an answer.
func (a *asker) hear(in *bufio.Reader) error {
	for {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return err
		}
		exit := bytes.Index(line, []byte(`,"exit":`))
		if exit < 0 {
			continue
		}
		if !bytes.HasSuffix(line, []byte(":0}\n")) {
			return fmt.Errorf("it failed: %s", line)
		}
		id, err := strconv.Atoi(string(line[len(`{"id":`):exit]))
		if err != nil {
			return fmt.Errorf("%w: %s", err, line)
		}
		a.mu.Lock()
		close(a.open[id])
		delete(a.open, id)
		a.mu.Unlock()
	}
}

// ask asks once, and waits for the answer.
func (a *asker) ask(arg string, name int) {
	over := make(chan struct{})
	a.mu.Lock()
	a.next++
	id := a.next
	a.open[id] = over
	a.mu.Unlock()
	a.lines <- fmt.Appendf(nil,
		`{"id":%d,"args":[%q],"stdin":{"name":"r%d","type":"bench/disk:1","version":"1","verbose":false,"workspace":"/w","protocol":{"min":1,"max":2},"config":{"name":"disk-%d","zone":"eu"},"intent":"present"}}`+"\n", id, arg, name, name)
	<-over
}

// end ends the worker and gives the processor's time that it took, in nanoseconds.
func (a *asker) end(b *testing.B) int64 {
	b.Helper()
	close(a.lines)
	if err := a.stdin.Close(); err != nil {
		b.Fatal(err)
	}
	if err := <-a.read; !errors.Is(err, io.EOF) {
		b.Fatal(err)
	}
	if err := a.cmd.Wait(); err != nil {
		b.Fatal(err)
	}
	return int64(a.cmd.ProcessState.UserTime() + a.cmd.ProcessState.SystemTime())
}

// BenchmarkFloorApply is the worker with its three requests for each resource, of
// which one writes its file, and a journal with its three facts, each on the disk
// before anything builds on it. Nothing else is done.
func BenchmarkFloorApply(b *testing.B) {
	at(b, func(b *testing.B, n int) {
		dir := b.TempDir()
		a, before := newAsker(b, dir), processorTime()
		run := 0
		for b.Loop() {
			run++
			world := filepath.Join(dir, "world")
			if err := os.Rename(world, fmt.Sprintf("%s-%d", world, run)); err != nil && !os.IsNotExist(err) {
				b.Fatal(err)
			}
			if err := os.Mkdir(world, 0o755); err != nil {
				b.Fatal(err)
			}
			if err := makeAll(a, filepath.Join(dir, fmt.Sprintf("journal-%d", run)), n); err != nil {
				b.Fatal(err)
			}
			if made, err := os.ReadDir(world); err != nil || len(made) != n {
				b.Fatalf("%d files, %v", len(made), err)
			}
		}
		work := processorTime() - before
		work += a.end(b)
		b.ReportMetric(float64(work)/float64(b.N), "processor-ns/op")
	})
}

// makeAll makes the resources of all chains, those of each one after the other.
func makeAll(a *asker, journal string, n int) error {
	log, err := durable.CreateLog(journal, 0o600)
	if err != nil {
		return err
	}
	fact := func(size int) error {
		end, err := log.Write(append(bytes.Repeat([]byte("x"), size-1), '\n'))
		if err == nil {
			err = log.Sync(end)
		}
		return err
	}
	var chains errgroup.Group
	chains.SetLimit(inFlight)
	for first := 0; first < n; first += perChain {
		chains.Go(func() error {
			for name := first; name < first+perChain; name++ {
				a.ask("state", name)
				if err := fact(startedBytes); err != nil {
					return err
				}
				a.ask("create", name)
				if err := fact(endedBytes); err != nil {
					return err
				}
				a.ask("state", name)
				if err := fact(validBytes); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := chains.Wait(); err != nil {
		return err
	}
	return log.Close()
}

// processorTime is that of this process, in nanoseconds.
func processorTime() int64 {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return 0 // it knows RUSAGE_SELF
	}
	return r.Utime.Nano() + r.Stime.Nano()
}
