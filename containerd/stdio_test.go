package containerd

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"deployster/internal/runner"
)

func onDisk(t *testing.T, path string) int64 {
	t.Helper()
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		t.Fatal(err)
	}
	return st.Blocks * 512
}

func TestEndlessLogTakesBoundedSpace(t *testing.T) {
	t.Parallel()
	f, err := newOutput(filepath.Join(t.TempDir(), "o"), os.O_RDWR, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.file.Close()
	chunk := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	const chunks = 100
	for range chunks {
		if _, err := f.file.Write(chunk); err != nil {
			t.Fatal(err)
		}
		f.trim(1000)
	}
	if used := onDisk(t, f.path); used > 3*keepOnDisk {
		t.Errorf("it takes %d bytes", used)
	}
	b, err := f.log(1000)
	want := fmt.Sprintf("%s\n[... %d bytes left out ...]\n%s", chunk[:500], chunks*len(chunk)-1000, chunk[len(chunk)-500:])
	if err != nil || string(b) != want {
		t.Errorf("got %d bytes, %v", len(b), err)
	}
}

// A watcher that stands still keeps no more on disk; when it goes on it gets
// the end, and is told what it did not get.
func TestSlowWatcherIsLeftBehind(t *testing.T) {
	t.Parallel()
	var got bytes.Buffer
	began, goOn := make(chan struct{}), make(chan struct{})
	first := true
	f, err := newOutput(filepath.Join(t.TempDir(), "o"), os.O_RDWR, writerFunc(func(p []byte) (int, error) {
		if first {
			first = false
			close(began)
			<-goOn
		}
		return got.Write(p)
	}))
	if err != nil {
		t.Fatal(err)
	}
	defer f.file.Close()
	var total int64
	write := func(b []byte) {
		n, err := f.file.Write(b)
		if err != nil {
			t.Fatal(err)
		}
		total += int64(n)
	}
	write([]byte("begin\n"))
	<-began
	chunk := bytes.Repeat([]byte("0123456789abcde\n"), 1<<16)
	for range 100 {
		write(chunk)
		f.trim(1000)
	}
	if used := onDisk(t, f.path); used > 3*keepOnDisk {
		t.Errorf("it takes %d bytes", used)
	}
	close(goOn)
	f.finish()
	m := regexp.MustCompile(`(?s)^begin\n\n\[\.\.\. (\d+) bytes left out \.\.\.\]\n(.*)$`).FindSubmatch(got.Bytes())
	if m == nil {
		t.Fatalf("the watcher got %d bytes: %.200q", got.Len(), got.Bytes())
	}
	left, err := strconv.ParseInt(string(m[1]), 10, 64)
	if err != nil || left+int64(len(m[2]))+int64(len("begin\n")) != total || len(m[2]) > maxBehind {
		t.Errorf("of %d bytes %d are left out, and %d follow (%v)", total, left, len(m[2]), err)
	}
	if !bytes.HasSuffix(bytes.Repeat(chunk, maxBehind/len(chunk)), m[2]) || len(m[2]) == 0 {
		t.Error("what follows is not the end of what was written")
	}
}

// The server keeps the logs of dead clients' actions small.
func TestLogOfTheDeadIsTrimmed(t *testing.T) {
	t.Parallel()
	o := embedded(t)
	r := open(t, o)
	dgst := packProbe(t, r)
	const size = 40 << 20
	mark := filepath.Join(t.TempDir(), "mark")
	if err := os.WriteFile(mark, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c := startClient(t, o, runner.Spec{Name: "a", Kind: runner.Action, Digest: dgst, Entrypoint: "/bin/sh",
		Mounts: []runner.Mount{{Source: mark, Target: "/mark"}},
		Args:   []string{"-c", fmt.Sprintf("echo started; while ! [ -s /mark ]; do sleep 0.1; done; yes | head -c %d >&2; exec sleep 1000", size)}})
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait() // it was killed
	if err := os.WriteFile(mark, []byte("go"), 0o600); err != nil {
		t.Fatal(err)
	}
	logs, err := filepath.Glob(filepath.Join(o.RuntimeDir, "io", "*", "*", "stderr"))
	if err != nil || len(logs) != 1 {
		t.Fatalf("there are logs %q, %v", logs, err)
	}
	eventually(t, 20*time.Second, "the log is written, and trimmed", func() bool {
		i, err := os.Stat(logs[0])
		return err == nil && i.Size() == size && onDisk(t, logs[0]) <= 2*maxBehind
	})
	ctx := r.ctx(context.Background())
	if err := removeTask(ctx, r.client, filepath.Base(filepath.Dir(logs[0]))); err != nil {
		t.Fatal(err)
	}
	eventually(t, 10*time.Second, "its files are removed", func() bool { return len(clients(o.RuntimeDir)) == 1 })
	nothingLeft(t, r)
}
