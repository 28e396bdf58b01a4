package access_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"deployster/machine/internal/access"
)

// childVariable makes the test binary the program that enters a machine.
const childVariable = "DEPLOYSTER_TEST_ENTERS"

func TestMain(m *testing.M) {
	if os.Getenv(childVariable) != "" {
		if err := child(); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// child enters the machine, and prints what it sees and does there.
func child() error {
	m, err := access.Enter()
	if err != nil {
		return err
	}
	plug, err := os.ReadFile(m.FromContainer("/plug"))
	if err != nil {
		return err
	}
	here, err := os.ReadFile("/mnt/here")
	if err != nil {
		return err
	}
	if err := unix.Mount("none", "/srv", "tmpfs", 0, ""); err != nil {
		return err
	}
	mounts, err := os.ReadFile("/proc/1/mounts") // as process 1 sees them
	if err != nil {
		return err
	}
	var out bytes.Buffer
	command := access.Command{Args: []string{"sh", "-c", `cat /mnt/here; ls /proc/self/fd/*/plug 2>/dev/null; echo "$MACHINE_CONTAINER_ROOT"`}, Stdout: &out}
	if err := m.Run(context.Background(), command); err != nil {
		return err
	}
	_, err = os.Stat("/machine")
	fmt.Printf("%s %s %v %v %q", plug, here, strings.Contains(string(mounts), " /srv tmpfs"), os.IsNotExist(err), out.String())
	return nil
}

// enter runs the test binary in a container on a machine of their own: a pid and a mount
// namespace whose process 1 is a shell, and a mount namespace in it with another root.
func enter(t *testing.T, prepare string) string {
	t.Helper()
	root := t.TempDir()
	script := `set -e
mount -t tmpfs none /mnt; mkdir -p /srv; mount -t proc none /proc
printf 'the machine' >/mnt/here
unshare --mount sh -ec '
	mount -t tmpfs none "$ROOT"; mkdir "$ROOT/machine" "$ROOT/proc"; printf "a plug" >"$ROOT/plugged"
	touch "$ROOT/plug"; mount --bind "$ROOT/plugged" "$ROOT/plug"
	cp "$PROGRAM" "$ROOT/program"
	mount --rbind /proc "$ROOT/proc"
	` + prepare + `
	exec chroot "$ROOT" /program state' || exit 0`
	command := exec.CommandContext(t.Context(), "/bin/sh", "-c", script)
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	command.Env = append(os.Environ(), "ROOT="+root, "PROGRAM="+program, childVariable+"=1")
	command.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNS, Unshareflags: syscall.CLONE_NEWNS}
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}

func TestEnter_RunsInTheMountNamespaceOfTheMachine(t *testing.T) {
	t.Parallel()
	got := enter(t, `mount --rbind / "$ROOT/machine"`)
	if want := `a plug the machine true true "the machine\n"`; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

func TestEnter_NeedsTheWholeMachine(t *testing.T) {
	t.Parallel()
	for prepare, want := range map[string]string{
		`:`:                               "process 1 has another root",
		`rmdir "$ROOT/machine"`:           "no such file or directory",
		`mount --bind /usr $ROOT/machine`: "process 1 has another root",
	} {
		if got := enter(t, prepare); !strings.Contains(got, "this type needs whole_machine = true") || !strings.Contains(got, want) {
			t.Errorf("%s: %s", prepare, got)
		}
	}
}

func TestMachine_CommandsGetTheEnvironmentOfAShell(t *testing.T) {
	t.Setenv("SECRET_OF_THE_CONTAINER", "x")
	m := &access.Machine{Root: "/"}
	var out bytes.Buffer
	if err := m.Run(t.Context(), access.Command{Args: []string{"env"}, Env: []string{"A=b"}, Stdout: &out}); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); strings.Contains(got, "SECRET") || !strings.Contains(got, "A=b\n") || !strings.Contains(got, "LANG=C.UTF-8\n") ||
		!strings.Contains(got, "PATH=/usr/local/sbin:") {
		t.Error(got)
	}
	err := m.Run(t.Context(), access.Command{Args: []string{"sh", "-c", "seq 30; exit 7"}})
	if err == nil || !strings.HasPrefix(err.Error(), "sh failed (exit status 7):\n11\n") {
		t.Error(err)
	}
}

func TestMachine_FindsUsersByNameAndNumber(t *testing.T) {
	t.Parallel()
	m := &access.Machine{Root: t.TempDir()}
	if err := os.MkdirAll(m.Path("/etc"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"passwd": "toor:x:0:0::/:\nroot:x:0:0::/root:/bin/sh\nwww:x:33:34::/:\n", "group": "adm:x:4:\n"} {
		if err := os.WriteFile(filepath.Join(m.Path("/etc"), name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ctx := t.Context()
	for _, c := range []struct{ wish, want string }{{"root", "root"}, {"toor", "toor"}, {"", "toor"}, {"0", "0"}, {"www", "toor"}, {"nobody", "toor"}} {
		if got := m.UserText(ctx, 0, c.wish); got != c.want {
			t.Errorf("%q: %q, and not %q", c.wish, got, c.want)
		}
	}
	if got := m.UserText(ctx, 99, ""); got != "99" {
		t.Error(got)
	}
	if got := m.GroupText(ctx, 4, ""); got != "adm" {
		t.Error(got)
	}
	if _, ok := m.UserID(ctx, "nobody"); ok {
		t.Error("there is no such user")
	}
	if id, ok := m.UserID(ctx, "www"); !ok || id != 33 {
		t.Error(id, ok)
	}
}
