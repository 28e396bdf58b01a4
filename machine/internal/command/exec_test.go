package command_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"deployster/machine/internal/access"
	"deployster/machine/internal/command"
	"deployster/machine/internal/kindtest"
)

type config = kindtest.Config

// tested returns a resource, and the path of a file that its commands may make.
func tested(t *testing.T) (*kindtest.Resource, string) {
	t.Helper()
	return kindtest.New(t, command.New(&access.Machine{Root: "/"})), filepath.Join(t.TempDir(), "made")
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func TestExec_RunsOnlyWhereItIsNeeded(t *testing.T) {
	t.Parallel()
	e, made := tested(t)
	c := config{"name": "x", "unless": `test -e "$made"`, "command": `echo making it; echo warning >&2; touch "$made"`, "undo": `rm "$made"`,
		"env": map[string]string{"made": made}}
	if a := e.Apply(c); a.Actions[0].Name != "create" || !exists(made) || !strings.Contains(e.Log.String(), "warning") {
		t.Errorf("%+v %s", a, e.Log.String())
	}
	if a := e.State(c); a.Status != "VALID" {
		t.Errorf("%+v", a)
	}
	e.Destroy(c)
	if exists(made) {
		t.Error("it was not undone")
	}
	e.Destroy(c)
}

// What unless needs may be broken when the resource is removed: that is no reason to leave what the
// command has made.
func TestExec_IsUndoneWhereUnlessCannotBeRun(t *testing.T) {
	t.Parallel()
	for code, undone := range map[string]bool{"0": true, "1": false, "2": true, "127": true} {
		e, made := tested(t)
		c := config{"name": "x", "unless": "test -e " + made + " && (test ! -e " + made + ".broken || exit $(cat " + made + ".broken))",
			"command": "touch " + made, "undo": "rm " + made}
		e.Apply(c)
		if err := os.WriteFile(made+".broken", []byte(code), 0o600); err != nil {
			t.Fatal(err)
		}
		e.Destroy(c)
		if exists(made) == undone {
			t.Errorf("unless ends with %s: undone %v, want %v", code, !undone, undone)
		}
		if err := os.WriteFile(made+".broken", []byte("2"), 0o600); err != nil {
			t.Fatal(err)
		}
		e.Destroy(c) // its state is not recorded any more: nothing is undone twice
	}
}

func TestExec_WithoutUndoNothingIsRun(t *testing.T) {
	t.Parallel()
	e, made := tested(t)
	c := config{"name": "x", "unless": "test -e " + made, "command": "touch " + made}
	e.Apply(c)
	e.Destroy(c)
	if !exists(made) {
		t.Error("something was undone")
	}
}

func TestExec_UnlessMustHoldAfterwards(t *testing.T) {
	t.Parallel()
	e, made := tested(t)
	e.Fails(config{"name": "x", "unless": "false", "command": "true"}, "unless does not end with 0 after it")
	e.DestroyFails(config{"name": "x", "unless": "true", "command": "true", "undo": "true"}, "unless still ends with 0")
	e.Fails(config{"name": "x", "unless": "test -e " + made, "command": "echo no room >&2; exit 3"}, "command failed (exit status 3)", "no room")
	e.Fails(config{"name": "x", "unless": "kill -9 $$", "command": "true"}, "transient", "/unless", "not known")
	e.Apply(config{"name": "x", "unless": "test -e " + made + " || no-such-program", "command": "touch " + made})
	if !strings.Contains(e.Log.String(), "is not on this machine") {
		t.Error(e.Log.String())
	}
}

func TestExec_IsEndedAfterItsTimeout(t *testing.T) {
	t.Parallel()
	e, made := tested(t)
	start := time.Now()
	e.Fails(config{"name": "x", "unless": "false", "command": "(sleep 60; touch " + made + ") & sleep 60", "timeout": "100ms"},
		"command was ended after 100ms")
	if time.Since(start) > 50*time.Second {
		t.Error("it took its time")
	}
	e.Fails(config{"name": "x", "unless": "false", "command": "true", "timeout": "soon"}, "config", "/timeout", "not a duration")
}

// What goes on in the background keeps nobody waiting.
func TestExec_MayLeaveAProcess(t *testing.T) {
	t.Parallel()
	e, made := tested(t)
	start := time.Now()
	e.Apply(config{"name": "x", "unless": "test -e " + made, "command": "sleep 100 & echo $! >" + made})
	if time.Since(start) > time.Minute {
		t.Error("it waited for the process")
	}
	pid, err := os.ReadFile(made)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := strconv.Atoi(strings.TrimSpace(string(pid))); err != nil || syscall.Kill(n, syscall.SIGKILL) != nil {
		t.Errorf("it was ended with the command: %q %v", pid, err)
	}
}

func TestExec_RunsAsItsUserInItsDirectory(t *testing.T) {
	t.Parallel()
	e, _ := tested(t)
	e.Apply(config{"name": "x", "command": "false", "user": "nobody", "directory": "/usr/bin", "env": map[string]string{"A": "b c"},
		"unless": `test "$(id -un) $PWD $A $USER" = "nobody /usr/bin b c nobody"`})
	e.Fails(config{"name": "x", "unless": "true", "command": "true", "env": map[string]string{"A=B": "c"}}, "/env", "not the name")
	e.Fails(config{"name": "x", "unless": "true", "command": "true", "directory": "usr"}, "/directory", "not an absolute path")
}

func TestExec_UnknownsAreExpectedToRun(t *testing.T) {
	t.Parallel()
	e, _ := tested(t)
	c := config{"name": "x", "unless": nil, "command": "true"}
	if a := e.StateUnknown(c, "/unless"); a.Status != "STALE" || a.Actions[0].Name != "create" {
		t.Errorf("%+v", a)
	}
	c = config{"name": "x", "unless": "true", "command": nil}
	if a := e.StateUnknown(c, "/command"); a.Status != "VALID" {
		t.Errorf("%+v", a)
	}
}
