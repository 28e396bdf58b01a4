//go:build machines

package postgres

import (
	"context"
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"deployster/machine/internal/access"
	"deployster/machine/internal/kindtest"
	"deployster/protocol"
)

type config = kindtest.Config

// cluster is a real server, to which the user postgres is known by its socket and others by passwords.
type cluster struct {
	t      *testing.T
	socket string
	port   int
	log    string
}

var here = &access.Machine{Root: "/"}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	who, err := user.Lookup(superuser)
	if err != nil {
		t.Fatalf("%v: `.ci/setup test` installs PostgreSQL", err)
	}
	uid, _ := strconv.ParseUint(who.Uid, 10, 32)
	gid, _ := strconv.ParseUint(who.Gid, 10, 32)
	root, err := os.MkdirTemp("", "postgres") // that of the test is for its user alone
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(root) })
	must(t, os.Chown(root, int(uid), int(gid)))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	c := &cluster{t, root, listener.Addr().(*net.TCPAddr).Port, filepath.Join(root, "log")}
	must(t, listener.Close())
	programs, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil || len(programs) == 0 {
		t.Fatalf("there is no initdb (%v): `.ci/setup test` installs it", err)
	}
	run := func(name string, args ...string) *exec.Cmd {
		command := exec.Command(filepath.Join(filepath.Dir(programs[len(programs)-1]), name), args...)
		command.Dir, command.SysProcAttr = root, &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
		command.Env = []string{"HOME=" + root, "LC_ALL=C.UTF-8", "PATH=" + os.Getenv("PATH")}
		return command
	}
	if out, err := run("initdb", "--no-sync", "--auth-local=peer", "--auth-host=scram-sha-256", "-D", root+"/data").CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	server := run("postgres", "-D", root+"/data", "-p", strconv.Itoa(c.port), "-k", root, "-c", "listen_addresses=127.0.0.1", "-c", "fsync=off",
		"-c", "shared_buffers=16MB", "-c", "log_statement=all", "-c", "logging_collector=off")
	log, err := os.Create(c.log)
	must(t, err)
	server.Stdout, server.Stderr = log, log
	must(t, server.Start())
	t.Cleanup(func() {
		_ = server.Process.Signal(syscall.SIGQUIT)
		_ = server.Wait()
		_ = log.Close()
	})
	for limit := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if _, err := c.server().run(t.Context(), superuser, "SELECT 1;"); err == nil {
			return c
		} else if time.Now().After(limit) {
			t.Fatalf("postgres does not answer: %v", err)
		}
	}
}

func (c *cluster) server() server { return server{here, c.socket, c.port} }

// sql runs a script of the test in a database, and returns what it prints.
func (c *cluster) sql(database, script string) string {
	c.t.Helper()
	out, err := c.server().run(c.t.Context(), database, script)
	if err != nil {
		c.t.Fatalf("%s: %v", script, err)
	}
	return string(out)
}

func (c *cluster) config(with config) config {
	all := config{"port": c.port, "socket": c.socket}
	for key, value := range with {
		all[key] = value
	}
	return all
}

// login connects as a role with a password, over TCP.
func (c *cluster) login(role, password, database string) error {
	address := url.URL{Scheme: "postgres", User: url.UserPassword(role, password), Host: fmt.Sprintf("127.0.0.1:%d", c.port), Path: database}
	ctx, stop := context.WithTimeout(c.t.Context(), 20*time.Second)
	defer stop()
	one, err := pgx.Connect(ctx, address.String())
	if err != nil {
		return err
	}
	return one.Close(ctx)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func database(t *testing.T) *kindtest.Resource { return kindtest.New(t, NewDatabase(here)) }
func roleOf(t *testing.T) *kindtest.Resource   { return kindtest.New(t, NewRole(here)) }

// One server serves all tests of both kinds: it is made in two seconds.
func TestPostgres_Kinds(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	for name, test := range map[string]func(*testing.T, *cluster){
		"DropIsDestructiveAndNeverEndsConnections": dropIsDestructive,
		"WhatCannotChangeIsRefused":                fixedIsRefused,
		"PrivilegesOfOthersStay":                   privilegesOfOthersStay,
		"PasswordIsComparedByTheStoredSalt":        passwordIsCompared,
		"PasswordIsNowhereButInTheServer":          passwordIsNowhere,
		"MembershipIsNeverLostByDefault":           membershipIsKept,
		"OddNamesAreNames":                         oddNames,
		"RoleThatOwnsSomethingStays":               ownerStays,
		"ServersOwnIsKept":                         ownIsKept,
		"RolesRandomEdits":                         rolesRandomEdits,
		"DatabasesRandomEdits":                     databasesRandomEdits,
	} {
		t.Run(name, func(t *testing.T) {
			one := *c
			one.t = t
			test(t, &one)
		})
	}
}

func dropIsDestructive(t *testing.T, c *cluster) {
	r := database(t)
	d := c.config(config{"name": "shop", "encoding": "utf-8", "collate": "C.UTF-8"})
	r.Apply(d)
	if a := r.Apply(d); a.Status != protocol.Valid {
		t.Errorf("%+v", a)
	}
	if got := c.sql("postgres", "SELECT pg_encoding_to_char(encoding), datcollate, datctype FROM pg_database WHERE datname = 'shop';"); got !=
		"UTF8|C.UTF-8|C.UTF-8" {
		t.Errorf("%s", got)
	}
	if found := r.Discover(c.config(config{"name": "x"})); !slices.ContainsFunc(found, func(f config) bool { return f["name"] == "shop" }) {
		t.Errorf("%v", found)
	}
	hold := exec.Command("psql", "-X", "-h", c.socket, "-p", strconv.Itoa(c.port), "-d", "shop", "-c", "SELECT pg_sleep(600)")
	hold.Env = append(os.Environ(), "PGAPPNAME=checkout")
	who, _ := user.Lookup(superuser)
	uid, _ := strconv.ParseUint(who.Uid, 10, 32)
	hold.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}, Pdeathsig: syscall.SIGKILL}
	hold.Dir = "/"
	must(t, hold.Start())
	var once sync.Once
	end := func() {
		once.Do(func() {
			_ = hold.Process.Kill()
			_ = hold.Wait()
			c.sql("postgres", "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = 'shop';")
		})
	}
	defer end()
	for limit := time.Now().Add(10 * time.Second); c.sql("postgres", "SELECT count(*) FROM pg_stat_activity WHERE datname = 'shop';") == "0"; {
		if time.Now().After(limit) {
			t.Fatal("nobody is connected")
		}
		time.Sleep(20 * time.Millisecond)
	}
	if a := r.StateAbsent(d); !a.Actions[0].Destructive || !strings.Contains(a.Actions[0].Description, "it is used by postgres (checkout)") {
		t.Errorf("%+v", a.Actions)
	}
	r.DestroyFails(d, "the database shop is used by postgres (checkout), and is not removed")
	end()
	r.Destroy(d)
	r.Destroy(d)
}

func fixedIsRefused(t *testing.T, c *cluster) {
	r := database(t)
	d := c.config(config{"name": "fixed"})
	r.Apply(d)
	for key, value := range map[string]string{"encoding": "LATIN1", "collate": "de_CH.UTF-8", "ctype": "POSIX"} {
		r.Fails(c.config(config{"name": "fixed", key: value}), "config", "/"+key, "which cannot become "+value, "dump it")
	}
	r.Apply(c.config(config{"name": "fixed", "encoding": "UTF-8", "connection_limit": 7}))
	r.Fails(c.config(config{"name": "no", "owner": "nobody here"}), `role "nobody here" does not exist`)
	r.Fails(c.config(config{"name": "fixed", "privileges": map[string]any{"public": []string{"SELECT"}}}), "/privileges", `"SELECT" of public is not`)
	r.Destroy(d)
}

func privilegesOfOthersStay(t *testing.T, c *cluster) {
	c.sql("postgres", `CREATE ROLE app; CREATE ROLE theirs;`)
	r := database(t)
	d := c.config(config{"name": "rights", "owner": "app", "privileges": map[string]any{"public": []string{}, "app": []string{"CONNECT", "CREATE"}}})
	r.Apply(d)
	c.sql("postgres", `GRANT CREATE ON DATABASE rights TO theirs; GRANT CONNECT ON DATABASE rights TO PUBLIC;`)
	if a := r.Apply(d); len(a.Reasons) != 1 || a.Reasons[0].Path != "/privileges/public" || string(a.Reasons[0].Have) != `["CONNECT"]` {
		t.Errorf("%+v", a.Reasons)
	}
	if got := c.sql("postgres", `SELECT has_database_privilege('theirs', 'rights', 'CREATE'), has_database_privilege('theirs', 'rights', 'CONNECT'),
		has_database_privilege('app', 'rights', 'CONNECT');`); got != "t|f|t" {
		t.Errorf("%s", got)
	}
	d["owner"] = "theirs"
	r.Apply(d)
	delete(d, "privileges")
	r.Destroy(d)
}

func passwordIsCompared(t *testing.T, c *cluster) {
	r := roleOf(t)
	for _, password := range []string{"simple", `it's "a" \ $x; -- :'v'`, "pässwörd", "I\u00adX\u00aa", "\u0001x"} {
		p := c.config(config{"name": "ann", "login": true, "password": password})
		r.Apply(p)
		r.Valid(p)
		if err := c.login("ann", password, "postgres"); err != nil && password[0] > 1 {
			t.Errorf("%q: %v", password, err)
		}
		if err := c.login("ann", password+"x", "postgres"); err == nil {
			t.Errorf("%q: another password is accepted", password)
		}
	}
	p := c.config(config{"name": "ann", "password": "server's own"})
	c.sql("postgres", "ALTER ROLE ann PASSWORD 'server''s own';") // with the salt of the server
	r.Valid(p)
	c.sql("postgres", "ALTER ROLE ann PASSWORD 'by hand';")
	if a := r.Apply(p); len(a.Reasons) != 1 || a.Reasons[0].Path != "/password" || a.Reasons[0].Message != "the server has another password" {
		t.Errorf("%+v", a.Reasons)
	}
	hash := md5.Sum([]byte("server's ownann"))
	c.sql("postgres", "ALTER ROLE ann PASSWORD 'md5"+hex.EncodeToString(hash[:])+"';")
	if a := r.Apply(p); !strings.Contains(a.Reasons[0].Message, "as md5") {
		t.Errorf("%+v", a.Reasons)
	}
	c.sql("postgres", "ALTER ROLE ann PASSWORD NULL;")
	if a := r.Apply(p); a.Reasons[0].Message != "the server has no password" {
		t.Errorf("%+v", a.Reasons)
	}
	r.Destroy(p)
}

func passwordIsNowhere(t *testing.T, c *cluster) {
	r := roleOf(t)
	p := c.config(config{"name": "bob", "login": true, "password": "hunter2-secret"})
	first := r.Apply(p)
	stored := c.sql("postgres", "SELECT rolpassword FROM pg_authid WHERE rolname = 'bob';")
	again, bad := r.State(p), c.config(config{"name": "bob", "password": "hunter2-secret", "member_of": []string{"no such"}})
	r.Fails(bad, `role "no such" does not exist`)
	text, err := json.Marshal([]any{first, again, r.State(c.config(config{"name": "bob", "password": "hunter3-secret"})), string(r.Last), r.Log.String()})
	must(t, err)
	log, err := os.ReadFile(c.log)
	must(t, err)
	for _, secret := range []string{"hunter2", "hunter3", stored[20:44], strings.Split(stored, ":")[2]} {
		if strings.Contains(string(text), secret) || strings.Contains(string(log), secret) {
			t.Errorf("%q is in an answer, or in the log of the server", secret)
		}
	}
	if strings.Contains(string(log), "SCRAM-SHA-256$") {
		t.Error("a verifier is in the log of the server")
	}
	r.Destroy(p)
}

func membershipIsKept(t *testing.T, c *cluster) {
	c.sql("postgres", `CREATE ROLE readers; CREATE ROLE writers;`)
	r := roleOf(t)
	p := c.config(config{"name": "eve", "member_of": []string{"readers"}})
	r.Apply(p)
	c.sql("postgres", `GRANT writers TO eve;`)
	r.Valid(p)
	p["membership"] = "inclusive"
	if a := r.Apply(p); len(a.Reasons) != 1 || a.Reasons[0].Path != "/member_of" {
		t.Errorf("%+v", a.Reasons)
	}
	if got := c.sql("postgres", "SELECT pg_has_role('eve', 'readers', 'MEMBER'), pg_has_role('eve', 'writers', 'MEMBER');"); got != "t|f" {
		t.Errorf("%s", got)
	}
	r.Destroy(p)
}

func oddNames(t *testing.T, c *cluster) {
	for _, name := range []string{`a"b`, `x'; DROP ROLE postgres; --`, "Grüße", `\! touch /tmp/odd`, ":x :'x'", "select"} {
		role, base := roleOf(t), database(t)
		p, d := c.config(config{"name": name}), c.config(config{"name": name, "owner": name, "privileges": map[string]any{name: []string{"CONNECT"}}})
		role.Apply(p)
		base.Apply(d)
		base.Valid(d)
		base.Destroy(d)
		role.Destroy(p)
	}
	if _, err := os.Stat("/tmp/odd"); err == nil {
		t.Error("a name was run")
	}
}

func ownerStays(t *testing.T, c *cluster) {
	r := roleOf(t)
	p := c.config(config{"name": "keeper"})
	r.Apply(p)
	c.sql("postgres", "CREATE DATABASE kept OWNER keeper;")
	if a := r.StateAbsent(p); !a.Actions[0].Destructive || !strings.Contains(a.Actions[0].Description, "it owns the database kept") {
		t.Errorf("%+v", a.Actions)
	}
	r.DestroyFails(p, "owner of database kept")
	c.sql("postgres", "DROP DATABASE kept;")
	r.Destroy(p)
}

func ownIsKept(t *testing.T, c *cluster) {
	database(t).DestroyFails(c.config(config{"name": "template1"}), "/name", "the server needs the database template1")
	roleOf(t).DestroyFails(c.config(config{"name": "postgres"}), "/name", "the server needs the role postgres")
	roleOf(t).Fails(c.config(config{"name": "pg_x"}), "the server's own")
	away := server{here, c.socket, 1}
	if _, err := away.run(t.Context(), superuser, ""); err == nil || !strings.Contains(err.Error(), "Is the server running locally") {
		t.Errorf("%v", err)
	}
	none := kindtest.New(t, NewRole(&access.Machine{Root: t.TempDir()}))
	if a := none.State(config{"name": "x"}); len(a.Reasons) != 1 || a.Reasons[0].Message != errNone.Error() {
		t.Errorf("%+v", a)
	}
	none.Fails(config{"name": "x"}, errNone.Error())
}

// edits is how many there are of each kind: EDITS of make test-machines.
func edits() int {
	if n, err := strconv.Atoi(os.Getenv("DEPLOYSTER_MACHINE_EDITS")); err == nil {
		return n
	}
	return 10
}

// rolesRandomEdits changes a role by SQL and by configs, and wants what a model has.
func rolesRandomEdits(t *testing.T, c *cluster) {
	random := rand.New(rand.NewPCG(1, 2))
	r := roleOf(t)
	words := map[string]string{"login": "LOGIN", "create_databases": "CREATEDB", "create_roles": "CREATEROLE", "inherit": "INHERIT"}
	p := c.config(config{"name": "edited", "login": true, "create_databases": false, "create_roles": false, "inherit": true})
	r.Apply(p)
	for range edits() {
		key := []string{"login", "create_databases", "create_roles", "inherit"}[random.IntN(4)]
		want := p[key].(bool)
		if random.IntN(2) == 0 {
			c.sql("postgres", "ALTER ROLE edited "+map[bool]string{true: "NO", false: ""}[want]+words[key]+";")
		} else {
			p[key] = !want
		}
		if a := r.Apply(p); len(a.Reasons) != 1 || a.Reasons[0].Path != "/"+key {
			t.Fatalf("%s: %+v", key, a.Reasons)
		}
		r.Valid(p)
	}
	r.Destroy(p)
}

func databasesRandomEdits(t *testing.T, c *cluster) {
	c.sql("postgres", `CREATE ROLE one; CREATE ROLE two;`)
	random := rand.New(rand.NewPCG(3, 4))
	r := database(t)
	d := c.config(config{"name": "edited", "owner": "one", "connection_limit": 5, "privileges": map[string]any{"two": []string{"CONNECT"}}})
	r.Apply(d)
	for range edits() {
		path, by := "/privileges/two", "GRANT CREATE ON DATABASE edited TO two;"
		switch random.IntN(4) {
		case 0:
			path, by = "/owner", "ALTER DATABASE edited OWNER TO postgres;"
		case 1:
			path, by = "/connection_limit", "ALTER DATABASE edited CONNECTION LIMIT 9;"
		case 2:
			by = "REVOKE CONNECT ON DATABASE edited FROM two;"
		}
		c.sql("postgres", by)
		if a := r.Apply(d); len(a.Reasons) != 1 || a.Reasons[0].Path != path {
			t.Fatalf("%s: %+v", by, a.Reasons)
		}
		r.Valid(d)
	}
	r.Destroy(d)
}
