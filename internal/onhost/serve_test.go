package onhost

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"deployster/internal/runtime/runner/imagestore"
	"deployster/internal/runtime/runner/runnertest"
)

// TestMain lets the test binary be the program that is installed on a host.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "far" {
		if err := Serve(context.Background(), local{runnertest.Runtime{Fake: runnertest.NewFake()}}, os.Stdin, os.Stdout); err != nil {
			os.Exit(2)
		}
		return
	}
	os.Exit(m.Run())
}

// local is what runs images on the host.
type local struct{ runnertest.Runtime }

// RuncVersion implements Runtime.
func (local) RuncVersion(context.Context) string { return "" }

func (local) Receive(context.Context, imagestore.Shipment, imagestore.Contents) error { return nil }

// The far end says that the directory that it was installed in is in use.
func TestServe_KeepsItsProgram(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "far", "0123", "deployster-host")
	copyFile(t, self, program)
	last := time.Now().AddDate(0, 0, -29)
	if err := os.Chtimes(filepath.Dir(program), last, last); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "far")
	cmd.Env = append(os.Environ(), "DEPLOYSTER_DATA_DIR="+t.TempDir())
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = stdin.Close() // that is goodbye
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	})
	for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		info, err := os.Stat(filepath.Dir(program))
		if err != nil {
			t.Fatal(err)
		}
		if time.Since(info.ModTime()) < time.Hour {
			return
		}
		if time.Now().After(end) {
			t.Fatal("it looks unused")
		}
	}
}

// copyFile copies a program.
func copyFile(t *testing.T, from, to string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		t.Fatal(err)
	}
	in, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o700)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(out, in); err != nil {
		t.Error(err)
	}
	if err := out.Close(); err != nil {
		t.Error(err)
	}
}
