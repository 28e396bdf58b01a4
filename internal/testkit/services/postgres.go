package services

import (
	"crypto/rand"
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
	return newPostgres(t).serve("create database state")
}

// PostgresAccess is what a user of a PostgreSQL with TLS and passwords is given.
type PostgresAccess struct {
	Address  string
	User     string // the owner of the database state, with no other right
	Password string
	Root     []byte // the certificate that has signed the server's
}

// SecurePostgres starts a PostgreSQL on loopback that wants TLS and a password.
func SecurePostgres(t testing.TB) PostgresAccess {
	t.Helper()
	p, a := newPostgres(t), PostgresAccess{User: "shop", Password: rand.Text()}
	var certificate, key []byte
	a.Root, certificate, key = certificates(t)
	for name, content := range map[string][]byte{"server.crt": certificate, "server.key": key,
		"hba.conf": []byte("local all all trust\nhostssl all all all scram-sha-256\n")} {
		path := filepath.Join(p.root, name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		chown(t, p.who, path)
	}
	p.options = []string{"-c", "ssl=on", "-c", "ssl_cert_file=" + filepath.Join(p.root, "server.crt"),
		"-c", "ssl_key_file=" + filepath.Join(p.root, "server.key"), "-c", "hba_file=" + filepath.Join(p.root, "hba.conf")}
	p.serve("create role shop login password '" + a.Password + "'")
	if out, err := p.sql("create database state owner shop"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	a.Address = "127.0.0.1:" + p.port
	return a
}

// postgres is a PostgreSQL with a directory of its own.
type postgres struct {
	t       testing.TB
	who     *syscall.Credential
	root    string
	port    string
	options []string // of the server
}

func newPostgres(t testing.TB) *postgres {
	t.Helper()
	who := unprivileged(t)
	root, err := os.MkdirTemp("", "postgres") // that of the test is for its user alone
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(root) })
	chown(t, who, root)
	return &postgres{t: t, who: who, root: root, port: freePort(t)}
}

// command is a program of PostgreSQL.
func (p *postgres) command(name string, args ...string) *exec.Cmd {
	c := exec.Command(postgresProgram(p.t, name), args...)
	c.Dir, c.SysProcAttr = p.root, &syscall.SysProcAttr{Credential: p.who, Pdeathsig: syscall.SIGKILL}
	c.Env = append(os.Environ(), "HOME="+p.root, "LC_ALL=C")
	return c
}

// sql runs a statement as the superuser, through the socket of the server.
func (p *postgres) sql(statement string) ([]byte, error) {
	return p.command("psql", "-h", p.root, "-p", p.port, "-U", "deploy", "-c", statement, "postgres").CombinedOutput()
}

// serve starts the server, and returns where it listens when it has carried out a statement.
func (p *postgres) serve(statement string) (address string) {
	p.t.Helper()
	data := filepath.Join(p.root, "data")
	if out, err := p.command("initdb", "--no-sync", "-A", "trust", "-U", "deploy", "-D", data).CombinedOutput(); err != nil {
		p.t.Fatalf("initdb: %v\n%s", err, out)
	}
	server := p.command("postgres", append([]string{"-D", data, "-p", p.port, "-k", p.root, "-c", "listen_addresses=127.0.0.1",
		"-c", "max_connections=200", "-c", "shared_buffers=16MB"}, p.options...)...)
	log := start(p.t, server, syscall.SIGQUIT)
	for range 600 {
		out, err := p.sql(statement)
		if err == nil || strings.Contains(string(out), "already exists") {
			return "127.0.0.1:" + p.port
		}
		time.Sleep(50 * time.Millisecond)
	}
	p.t.Fatalf("postgres does not answer:\n%s", log())
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
