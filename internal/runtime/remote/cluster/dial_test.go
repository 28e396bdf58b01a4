package cluster

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deployster/internal/runtime/claims"
	"deployster/internal/runtime/remote"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/runnertest"
	"deployster/protocol"
)

// TestMain lets the test binary be the program that talks to a cluster.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == Program {
		serve()
		return
	}
	os.Exit(m.Run())
}

// serve answers as the namespace in the block requests.
func serve() {
	in := bufio.NewReader(os.Stdin)
	line, err := in.ReadBytes('\n')
	var at runner.Cluster
	if err == nil {
		err = json.Unmarshal(line, &at)
	}
	if err != nil {
		panic(err)
	}
	switch at.Namespace {
	case "noise":
		fmt.Println("Welcome")
	case "broken":
		fmt.Fprintln(os.Stderr, "Error: The kubeconfig cannot be read\n\n  no such file.")
		os.Exit(1)
	case "gone":
		fmt.Println(remote.Ready)
		fmt.Fprintf(os.Stderr, "it has ended\n%sthe cluster adds to Pods\n", remote.NoteOf)
	case "silent":
		time.Sleep(time.Hour)
	default:
		fmt.Println(remote.Ready)
		fmt.Fprintf(os.Stderr, "noise\n%sthe cluster adds", remote.NoteOf)
		fmt.Fprintf(os.Stderr, " to Pods: \x1b[31m%s\nnoise", at.Namespace)
		_ = remote.Serve(context.Background(), stdio{in}, place{at: at}, remote.DefaultTiming()) // it ends with its client
		if at.Namespace == "tidies" {
			time.Sleep(300 * time.Millisecond)
			_ = os.WriteFile(at.Kubeconfig, nil, 0o600) // the test finds out
		}
	}
}

type stdio struct{ io.Reader }

func (stdio) Write(p []byte) (int, error) { return os.Stdout.Write(p) }
func (stdio) Close() error                { return os.Stdin.Close() }

// place reports what it was started with.
type place struct {
	runnertest.Runtime
	at runner.Cluster
}

func (p place) Enter(context.Context, remote.Hello) (remote.Welcome, error) {
	if p.at.Namespace == "refuses" {
		return remote.Welcome{}, errors.New("deployster apply has taken over here")
	}
	_, noTerminal := os.Open("/dev/tty")
	kernel := fmt.Sprintf("%t %s%s%s", noTerminal != nil, os.Getenv("DEPLOYSTER_PASSPHRASE"), os.Getenv("DEPLOYSTER_VAR_x"), os.Getenv("KUBECONFIG"))
	return remote.Welcome{Facts: protocol.HostFacts{Hostname: p.at.Namespace, Kernel: kernel}}, nil
}
func (place) Claim(context.Context, claims.Request) ([]claims.Record, error) { return nil, nil }

func (place) Acts(context.Context, remote.Hello) error                        { return nil }
func (place) Look(context.Context, []remote.Plug) []remote.Seen               { return nil }
func (place) Receive(context.Context, runner.Shipment, runner.Contents) error { return nil }
func (place) Bring(context.Context, remote.Files, io.Reader) error            { return nil }

// installed finds this test as the program.
func installed(t *testing.T) Options {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), Program)
	if err := os.Symlink(self, path); err != nil {
		t.Fatal(err)
	}
	return Options{Find: func(string) string { return path }, Timing: remote.DefaultTiming()}
}

// The program gets the block, the environment without secrets, and no terminal.
func TestDial_StartsTheProgram(t *testing.T) {
	for _, name := range []string{"DEPLOYSTER_PASSPHRASE", "DEPLOYSTER_VAR_x"} {
		t.Setenv(name, "secret")
	}
	t.Setenv("KUBECONFIG", "/k")
	o, notes := installed(t), make(chan string, 10)
	o.Note = func(text string) { notes <- text }
	c, err := Dial(t.Context(), runner.Cluster{Namespace: "jobs"}, remote.Hello{}, o)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if got := <-notes; got != "the cluster adds to Pods: jobs" || len(notes) > 0 {
		t.Errorf("it notes %q, and %d more", got, len(notes))
	}
	if f := c.Welcome().Facts; f.Hostname != "jobs" || f.Kernel != "true /k" {
		t.Errorf("%+v", f)
	}
}

// Close waits for what the program does at its end: in a container it would be killed with this command.
func TestClose_WaitsForTheProgram(t *testing.T) {
	t.Parallel()
	done := filepath.Join(t.TempDir(), "done")
	c, err := Dial(t.Context(), runner.Cluster{Namespace: "tidies", Kubeconfig: done}, remote.Hello{}, installed(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(done); err != nil {
		t.Errorf("the command ends before the program: %v", err)
	}
}

func TestDial_ReportsWhyNot(t *testing.T) {
	t.Parallel()
	o := installed(t)
	for namespace, want := range map[string]string{"noise": "another program", "broken": "The kubeconfig cannot be read: ",
		"gone": "it has ended", "refuses": "taken over", "absent": "not installed"} {
		o := o
		if namespace == "absent" {
			o.Find = func(string) string { return "" }
		}
		_, err := Dial(t.Context(), runner.Cluster{Namespace: namespace}, remote.Hello{}, o)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", namespace, err, want)
		}
		var refused *remote.RefusedError
		if errors.As(err, &refused) != (namespace == "refuses") {
			t.Errorf("%s: %T", namespace, err)
		}
	}
}

func TestDial_IsCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("the user interrupted it")
	time.AfterFunc(50*time.Millisecond, func() { cancel(why) })
	if _, err := Dial(ctx, runner.Cluster{Namespace: "silent"}, remote.Hello{}, installed(t)); !errors.Is(err, why) {
		t.Errorf("got %v", err)
	}
}
