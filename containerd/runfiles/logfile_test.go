package runfiles

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
)

func space(t *testing.T, path string) int64 {
	t.Helper()
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		t.Fatal(err)
	}
	return st.Blocks * 512
}

func TestLogFile_EndlessTakesBoundedSpace(t *testing.T) {
	t.Parallel()
	onDisk, err := NewLogFile(filepath.Join(t.TempDir(), "o"), os.O_RDWR, nil)
	if err != nil {
		t.Fatal(err)
	}
	inMemory, err := memoryFile("o", nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range map[string]*LogFile{"on disk": onDisk, "in memory": inMemory} {
		t.Run(name, func(t *testing.T) { endless(t, f) })
	}
}

func endless(t *testing.T, f *LogFile) {
	defer f.File.Close()
	chunk := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	const chunks = 100
	for range chunks {
		if _, err := f.File.Write(chunk); err != nil {
			t.Fatal(err)
		}
		f.Trim(1000)
	}
	if used := space(t, f.Path); used > 3*keepOnDisk {
		t.Errorf("it takes %d bytes", used)
	}
	b, err := f.Log(1000)
	want := fmt.Sprintf("%s\n[... %d bytes left out ...]\n%s", chunk[:500], chunks*len(chunk)-1000, chunk[len(chunk)-500:])
	if err != nil || string(b) != want {
		t.Errorf("got %d bytes, %v", len(b), err)
	}
}

// A watcher that stands still keeps no more on disk; when it goes on it gets
// the end, and is told what it did not get.
func TestLogFile_SlowWatcherIsLeftBehind(t *testing.T) {
	t.Parallel()
	var got bytes.Buffer
	began, goOn := make(chan struct{}), make(chan struct{})
	first := true
	f, err := NewLogFile(filepath.Join(t.TempDir(), "o"), os.O_RDWR, writerFunc(func(p []byte) (int, error) {
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
	defer f.File.Close()
	var total int64
	write := func(b []byte) {
		n, err := f.File.Write(b)
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
		f.Trim(1000)
	}
	if used := space(t, f.Path); used > 3*keepOnDisk {
		t.Errorf("it takes %d bytes", used)
	}
	close(goOn)
	f.Finish()
	m := regexp.MustCompile(`(?s)^begin\n\n\[\.\.\. (\d+) bytes left out \.\.\.\]\n(.*)$`).FindSubmatch(got.Bytes())
	if m == nil {
		t.Fatalf("the watcher got %d bytes: %.200q", got.Len(), got.Bytes())
	}
	left, err := strconv.ParseInt(string(m[1]), 10, 64)
	if err != nil || left+int64(len(m[2]))+int64(len("begin\n")) != total || len(m[2]) > MaxBehind {
		t.Errorf("of %d bytes %d are left out, and %d follow (%v)", total, left, len(m[2]), err)
	}
	if !bytes.HasSuffix(bytes.Repeat(chunk, MaxBehind/len(chunk)), m[2]) || len(m[2]) == 0 {
		t.Error("what follows is not the end of what was written")
	}
}

// An output counts as whole when nobody can write to it any more, and not before.
func TestLogFile_IsCompleteOnceNobodyCanWrite(t *testing.T) {
	t.Parallel()
	o, err := NewLogFile(filepath.Join(t.TempDir(), "o"), os.O_RDONLY, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer o.File.Close()
	for range 2 { // to look changes nothing
		if !o.IsComplete() {
			t.Error("somebody writes, where nobody has it open")
		}
	}
	var writers []*os.File
	for range 2 {
		f, err := os.OpenFile(o.Path, os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			t.Fatal(err)
		}
		writers = append(writers, f)
	}
	files := &Files{Stdout: o, Stderr: o}
	for _, f := range writers {
		if o.IsComplete() || files.AwaitComplete(context.Background()) {
			t.Error("it is whole while somebody has it open")
		}
		_ = f.Close()
	}
	if !files.AwaitComplete(context.Background()) {
		t.Error("it is not whole, and nobody has it open")
	}
}

// The longer an output is quiet, the longer are the pauses, up to those that end together.
func TestPause_GrowsToItsLimit(t *testing.T) {
	t.Parallel()
	const least, most = 25 * time.Millisecond, time.Second
	for quiet, want := range map[time.Duration]time.Duration{0: least, 100 * time.Millisecond: least, 8 * time.Second: 500 * time.Millisecond} {
		if got := Pause(quiet, least, most); got != want {
			t.Errorf("after %s: %s, want %s", quiet, got, want)
		}
	}
	if got := Pause(time.Hour, least, most); got <= 0 || got > most {
		t.Errorf("after an hour: %s", got)
	}
}
