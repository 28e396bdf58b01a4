package ssh

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"deployster/internal/base/packed"
	"deployster/internal/runtime/claims"
	"deployster/internal/runtime/remote"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/runnertest"
	"deployster/protocol"
)

// TestMain lets the test binary be the program that is installed on a host.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == packed.Flag {
		if err := packed.Restore(os.Args[2:], os.Stdin); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if len(os.Args) == 2 && os.Args[1] == "far" {
		fmt.Println(remote.Ready)
		_ = remote.Serve(context.Background(), stdio{os.Stdin, os.Stdout}, place{}, remote.DefaultTiming()) // it ends with its client
		return
	}
	os.Exit(run(m))
}

// bundles is where the rigs keep their bundle, which is of the same program for all of them.
var bundles string

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "bundles")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	bundles = dir
	return m.Run()
}

type stdio struct {
	io.Reader
	io.Writer
}

func (stdio) Close() error { return os.Stdin.Close() }

// place is a host in memory that says where it is.
type place struct{ runnertest.Runtime }

func (place) Enter(context.Context, remote.Hello) (remote.Welcome, error) {
	return remote.Welcome{Facts: protocol.HostFacts{Machine: os.Getenv("DEPLOYSTER_DATA_DIR")}}, nil
}
func (place) Claim(context.Context, claims.Request) ([]claims.Record, error) { return nil, nil }
func (place) Acts(context.Context, remote.Hello) error                       { return nil }
func (place) Look(context.Context, []remote.Plug) []remote.Seen {
	return nil
}
func (place) Receive(context.Context, runner.Shipment, runner.Contents) error { return nil }
func (place) Bring(context.Context, remote.Files, io.Reader) error            { return nil }

// env is a host that is this machine, behind a program in the place of ssh.
type env struct {
	host    runner.Host
	options Options
}

// newEnv returns one whose ssh does something before, as a shell script.
func newEnv(t *testing.T, before string) *env {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	machine, err := exec.Command("uname", "-m").Output()
	if err != nil {
		t.Fatal(err)
	}
	return &env{host: runner.Host{Name: "web", Address: "web", DataDir: filepath.Join(t.TempDir(), "data")},
		options: Options{Command: []string{"sh", "-c", before + "\nfor last; do :; done; eval \"$last\"", "ssh"},
			Bundle: func(ctx context.Context) (Bundle, error) {
				return MakeBundle(ctx, Programs{Host: self, packed.Restorer: self}, bundles)
			},
			Arch: strings.TrimSpace(string(machine)), Timing: remote.DefaultTiming()}}
}

// mount makes the data directory a file system of its own, which nobody else sees.
func (r *env) mount(options string) {
	mount := fmt.Sprintf("mkdir -p %[1]s && mount -t tmpfs %[2]s none %[1]s\n", r.host.DataDir, options)
	r.options.Command = append([]string{"unshare", "-m"}, r.options.Command...)
	r.options.Command[4] = mount + r.options.Command[4]
}

func (r *env) dial(ctx context.Context) (*remote.Client, error) {
	return Dial(ctx, r.host, remote.Hello{}, r.options)
}

func TestDial_InstallsOnce(t *testing.T) {
	t.Parallel()
	r := newEnv(t, "echo Welcome to web; echo last login: today")
	for i := range 2 {
		c, err := r.dial(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Welcome().Facts.Machine; got != r.host.DataDir {
			t.Errorf("the data directory there is %q", got)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		installed, err := filepath.Glob(r.host.DataDir + "/far/*")
		if err != nil || len(installed) != 1 {
			t.Fatalf("installed: %q, %v", installed, err)
		}
		program := filepath.Join(installed[0], "deployster-host")
		if i == 0 { // had it been sent again, it would be another file
			if err := os.Chtimes(program, time.Unix(1, 0), time.Unix(1, 0)); err != nil {
				t.Fatal(err)
			}
		} else if info, err := os.Stat(program); err != nil || info.ModTime() != time.Unix(1, 0) {
			t.Errorf("it was installed twice: %v", err)
		}
	}
}

// The programs of busybox may read more than they use.
func TestDial_InstallsByBusybox(t *testing.T) {
	t.Parallel()
	busybox, err := exec.LookPath("busybox")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, name := range strings.Fields("sh head tail tar sha256sum mkdir chmod rm mv touch find uname sed") {
		if err := os.Symlink(busybox, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	c, err := newEnv(t, "PATH="+dir+"; export PATH").dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

// What ssh is given can be seen by others for as long as it runs.
func TestDial_ShowsNoSecrets(t *testing.T) {
	t.Setenv("DEPLOYSTER_VAR_token", "violet-canary")
	r := newEnv(t, `[ -z "$DEPLOYSTER_VAR_token" ] || { echo "the token is $DEPLOYSTER_VAR_token" >&2; exit 1; }`)
	c, err := r.dial(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

// What nobody has used for a month goes, and what was used since stays.
func TestDial_RemovesOldPrograms(t *testing.T) {
	t.Parallel()
	r := newEnv(t, "")
	for name, days := range map[string]int{"old": 40, "used": 3} {
		dir := filepath.Join(r.host.DataDir, "far", name)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		last := time.Now().AddDate(0, 0, -days)
		if err := os.Chtimes(dir, last, last); err != nil {
			t.Fatal(err)
		}
	}
	c, err := r.dial(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	_ = c.Close() // it says goodbye
	_, old := os.Stat(filepath.Join(r.host.DataDir, "far", "old"))
	_, used := os.Stat(filepath.Join(r.host.DataDir, "far", "used"))
	if !errors.Is(old, os.ErrNotExist) || used != nil {
		t.Errorf("old: %v, used: %v", old, used)
	}
}

// A program says that it is in use as long as it is, and nothing of what the script has not
// installed.
func TestInUse_KeepsTheDirectory(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "far", "0123")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		InUse(ctx, filepath.Join(dir, "deployster-host"), time.Millisecond)
	}()
	for range 2 {
		age(t, dir, 29)
		for end := time.Now().Add(time.Minute); isOld(t, dir); time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal("it looks unused")
			}
		}
	}
	cancel()
	<-ended
	age(t, dir, 29)
	age(t, filepath.Dir(dir), 29)
	InUse(t.Context(), filepath.Join(filepath.Dir(dir), "deployster-host"), time.Hour)
	if !isOld(t, dir) || !isOld(t, filepath.Dir(dir)) {
		t.Error("it says so of another directory, or after its end")
	}
}

func isOld(t *testing.T, path string) bool {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return time.Since(info.ModTime()) > 24*time.Hour
}

func TestDial_ReportsWhyNot(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, before string
		change       func(*env)
		want         string
	}{
		{"ssh fails", "echo 'ssh: connect to host web port 22: Connection refused' >&2; exit 255", nil, "Connection refused"},
		{"a login that says nothing of ours", "exit 0", nil, "before deployster answered"},
		{"an account that is closed", "echo This account is currently not available.; exit 1", nil, "; it printed: This account is currently not available."},
		{"a login that prints to both", "printf 'hello '; echo no shell >&2; exit 1", nil, "no shell; it printed: hello"},
		{"endless noise", "yes; exit 0", nil, "prints more than"},
		{"endless noise in one line", "head -c 100000 /dev/zero; sleep 1000", nil, "prints more than"},
		{"another architecture", "", func(r *env) { r.setMachine(t, "riscv64") },
			"it is Linux/riscv64, and this deployster is for Linux/"},
		{"one that there could be a bundle for", "", func(r *env) { r.setMachine(t, "aarch64") },
			"deployster-linux-arm64.bundle is not installed with it"},
		{"a bundle that was changed on the way", "", func(r *env) {
			make := r.options.Bundle
			r.options.Bundle = func(ctx context.Context) (Bundle, error) {
				b, err := make(ctx)
				b.SHA256 = strings.Repeat("0", 64)
				return b, err
			}
		}, "their checksum is another one"},
		{"the first program was changed on the way", "", func(r *env) {
			make := r.options.Bundle
			r.options.Bundle = func(ctx context.Context) (Bundle, error) {
				b, err := make(ctx)
				b.Restorer = strings.Repeat("0", 64)
				return b, err
			}
		}, "computed checksum did NOT match"},
		{"no room for it", "", func(r *env) { r.host.DataDir = "/proc/none" }, "cannot be installed there"},
		{"sudo asks for a password", "", func(r *env) {
			fake := filepath.Join(t.TempDir(), "sudo")
			text := "#!/bin/sh\necho 'sudo: a password is required' >&2\nexit 1\n"
			if err := os.WriteFile(fake, []byte(text), 0o755); err != nil {
				t.Fatal(err)
			}
			r.host.Sudo, r.options.Command[2] = true, "PATH="+filepath.Dir(fake)+":$PATH\n"+r.options.Command[2]
		}, "sudo: a password is required"},
		{"nothing may be run there", "", func(r *env) { r.mount("-o noexec") }, "Permission denied"},
		{"a full disk", "", func(r *env) { r.mount("-o size=1m") }, "No space left on device"},
		{"a disk that is full when the program is unpacked", "", func(r *env) { r.mount("-o size=" + half(t, r)) }, "No space left on device"},
		{"a disk that is not written to", "", func(r *env) { r.mount("-o ro") }, "Read-only file system"},
		{"no ssh", "", func(r *env) { r.options.Command = []string{"/nowhere/ssh"} }, "cannot be started"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newEnv(t, c.before)
			if c.change != nil {
				c.change(r)
			}
			_, err := r.dial(context.Background())
			var unreachable *remote.UnreachableError
			if !errors.As(err, &unreachable) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
			if left, _ := filepath.Glob(r.host.DataDir + "/far/*"); len(left) > 0 {
				t.Errorf("left behind: %q", left)
			}
		})
	}
}

// half returns the size of a file system that has room for the bundle, and not for its content.
func half(t *testing.T, r *env) string {
	t.Helper()
	b, err := r.options.Bundle(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(b.Size + 3<<20/2)
}

// What a login profile prints does not hide the lines that are waited for, also without a newline
// and when the shell prints what it runs. It is shown to who checks the host.
func TestDial_ReadsPastALoginProfile(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ before, printed string }{
		"nothing":                 {"", ""},
		"no newline":              {"printf 'hello '", "hello"},
		"a cleared screen":        {`printf '\033[H\033[2J'`, `\x1b[H\x1b[2J`},
		"lines and a part of one": {`printf 'Welcome to \033[1mweb\033[0m\nload 50%%\rload 100%%'`, "Welcome to web | load 100%"},
		"almost too much":         {"head -c 65000 /dev/zero | tr '\\0' a", strings.Repeat("a", 500) + "..."},
		"the command itself":      {`for last; do :; done; printf '%s\n' "$last"; printf '%s' "$last"`, "..."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newEnv(t, c.before)
			for range 2 { // the second finds the program installed
				client, err := r.dial(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if got := client.Welcome().Printed; got != c.printed && (c.printed != "..." || !strings.HasSuffix(got, c.printed)) {
					t.Errorf("it printed %q, want %q", got, c.printed)
				}
				_ = client.Close()
			}
		})
	}
	if strings.Contains(script, "DEPLOYSTER-") {
		t.Error("a shell that prints the script prints a line that is waited for")
	}
}

// Of the messages of the programs there, the one with the cause is shown.
func TestCause_IsNotTheLastLine(t *testing.T) {
	t.Parallel()
	for want, lines := range map[string][]string{
		"head: write error: No space left on device": {"tar: deployster: Wrote only 2048 of 10240 bytes",
			"tar: Exiting with failure status due to previous errors", "head: write error: No space left on device"},
		"tar: runc: Cannot open: Permission denied": {"", "gzip: stdout: Broken pipe", "tar: runc: Cannot open: Permission denied",
			"tar: Exiting with failure status due to previous errors"},
		"gzip: stdout: Broken pipe": {"gzip: stdout: Broken pipe"},
	} {
		if got := cause(lines); got != want {
			t.Errorf("%q: %q", lines, got)
		}
	}
}

// A host that has ended before the program was sent is asked why all the same: by then
// nothing can be written to it.
func TestDial_EndedBeforeItTookTheProgram(t *testing.T) {
	t.Parallel()
	r := newEnv(t, "")
	ended := filepath.Join(t.TempDir(), "ended")
	r.options.Command[2] = "echo '" + sayNeed + "Linux/" + r.options.Arch + "'; echo '" + sayWrong + "there is no room'; touch " + ended
	bundle := filepath.Join(t.TempDir(), "bundle")
	if err := syscall.Mkfifo(bundle, 0o600); err != nil {
		t.Fatal(err)
	}
	r.options.Bundle = func(context.Context) (Bundle, error) { return Bundle{Path: bundle, SHA256: "0", Size: 1}, nil }
	go func() {
		for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
			if _, err := os.Stat(ended); err == nil {
				break
			}
		}
		time.Sleep(300 * time.Millisecond) // the host has ended, and that was noticed
		if f, err := os.OpenFile(bundle, os.O_WRONLY, 0); err == nil {
			_ = f.Close() // who sends it waits for this end
		}
	}()
	if _, err := r.dial(context.Background()); err == nil || !strings.Contains(err.Error(), "there is no room") {
		t.Errorf("got %v", err)
	}
}

func TestDial_IsCancelled(t *testing.T) {
	t.Parallel()
	r := newEnv(t, "sleep 1000")
	ctx, cancel := context.WithCancelCause(context.Background())
	why := errors.New("the user said so")
	time.AfterFunc(50*time.Millisecond, func() { cancel(why) })
	if _, err := r.dial(ctx); !errors.Is(err, why) {
		t.Errorf("got %v", err)
	}
}

// The client sees that ssh is gone.
func TestSession_IsLost(t *testing.T) {
	t.Parallel()
	r := newEnv(t, "echo $$ >"+filepath.Join(t.TempDir(), "pid"))
	c, err := r.dial(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	pid, err := os.ReadFile(strings.TrimPrefix(strings.Split(r.options.Command[2], "\n")[0], "echo $$ >"))
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("kill", "-9", strings.TrimSpace(string(pid))).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	select {
	case <-c.Lost():
	case <-time.After(time.Minute):
		t.Error("nobody noticed")
	}
}

func TestCommand_IsOfSSHAlone(t *testing.T) {
	t.Parallel()
	h := runner.Host{Address: "10.0.0.5", User: "deploy", Port: 2222, IdentityFile: "/k", Jump: "bastion", SSHOptions: []string{"-F", "cfg"}, Sudo: true}
	got := strings.Join(commandOf(h, "SCRIPT", "", false), " ")
	for _, want := range []string{"-T -o BatchMode=yes -o StrictHostKeyChecking=yes -F cfg", "-l deploy -i /k -J bastion -p 2222 -- 10.0.0.5",
		"exec sudo -n sh -c 'SCRIPT'"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in %q", want, got)
		}
	}
	if strings.Contains(got, "Control") {
		t.Errorf("%q decides about shared connections", got)
	}
	// Of options that are given twice ssh takes the first, of -S the last: whatever a user has, it is a new connection.
	h.SSHOptions = []string{"-o", "ControlPath=/s", "-M", "-S", "/s"}
	args := commandOf(h, "SCRIPT", "", true)
	got = strings.Join(args, " ")
	for _, want := range []string{"-o ControlMaster=no -o ControlPath=none -o ControlPath=/s -M -S /s -S none -o ConnectTimeout"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in %q", want, got)
		}
	}
	if settings, err := exec.Command("ssh", append([]string{"-G"}, args...)...).Output(); err == nil && !strings.Contains(string(settings),
		"controlmaster") {
		t.Logf("ssh -G does not print what it would do: %s", settings)
	} else if err == nil && strings.Contains(string(settings), "controlpath /s") {
		t.Errorf("ssh would use a shared connection: %s", settings)
	}
	h.HostKey = "# web\nssh-ed25519 AAAA\n\n"
	if got := knownHosts(h); got != keyAlias+" ssh-ed25519 AAAA\n" {
		t.Errorf("known hosts: %q", got)
	}
	if strings.Contains(script, "'") {
		t.Error("the script has single quotes")
	}
}

// Hosts that are reached at one time share one bundle, which is made once.
func TestMakeBundle_Once(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	program := filepath.Join(dir, "deployster-host")
	if err := os.WriteFile(program, make([]byte, 8<<20), 0o755); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	files := make([]os.FileInfo, 16)
	for i := range files {
		all.Go(func() {
			b, err := MakeBundle(t.Context(), Programs{Host: program, packed.Restorer: program}, dir)
			if err == nil {
				files[i], err = os.Stat(b.Path)
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for _, file := range files {
		if !os.SameFile(files[0], file) {
			t.Fatal("it was made more than once")
		}
	}
}
