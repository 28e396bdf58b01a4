package services

import (
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Postgres starts a PostgreSQL of its own and returns where it listens, on loopback.
// Anybody is its superuser deploy, and there is a database state.
func Postgres(t testing.TB) (address string) {
	t.Helper()
	who := unprivileged(t)
	root, err := os.MkdirTemp("", "postgres") // that of the test is for its user alone
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(root) })
	chown(t, who, root)
	data := filepath.Join(root, "data")
	port := freePort(t)
	run := func(name string, args ...string) *exec.Cmd {
		c := exec.Command(postgresProgram(t, name), args...)
		c.Dir, c.SysProcAttr = root, &syscall.SysProcAttr{Credential: who, Pdeathsig: syscall.SIGKILL}
		c.Env = append(os.Environ(), "HOME="+root, "LC_ALL=C")
		return c
	}
	if out, err := run("initdb", "--no-sync", "-A", "trust", "-U", "deploy", "-D", data).CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	server := run("postgres", "-D", data, "-p", port, "-k", root, "-c", "listen_addresses=127.0.0.1", "-c", "max_connections=200",
		"-c", "shared_buffers=16MB")
	log := start(t, server, syscall.SIGQUIT)
	for range 600 {
		out, err := run("psql", "-h", root, "-p", port, "-U", "deploy", "-c", "create database state", "postgres").CombinedOutput()
		if err == nil || strings.Contains(string(out), "already exists") {
			return "127.0.0.1:" + port
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("postgres does not answer:\n%s", log())
	return ""
}

// postgresProgram finds a program of Debian's package.
func postgresProgram(t testing.TB, name string) string {
	t.Helper()
	if found, err := filepath.Glob("/usr/lib/postgresql/*/bin/" + name); err == nil && len(found) > 0 {
		return found[len(found)-1]
	}
	path, err := exec.LookPath(name)
	if err != nil {
		t.Fatalf("%v: `.ci/setup test` installs it", err)
	}
	return path
}

// unprivileged is a user who owns nothing: PostgreSQL does not run as root.
func unprivileged(t testing.TB) *syscall.Credential {
	t.Helper()
	u, err := user.Lookup("nobody")
	if err != nil {
		t.Fatal(err)
	}
	uid, err1 := strconv.ParseUint(u.Uid, 10, 32)
	gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}

func chown(t testing.TB, who *syscall.Credential, dir string) {
	t.Helper()
	if err := os.Chown(dir, int(who.Uid), int(who.Gid)); err != nil {
		t.Fatal(err)
	}
}
