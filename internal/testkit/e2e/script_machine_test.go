package e2e

import (
	"os"
	"sync"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"deployster/internal/testkit/services"
)

// onMachine goes on with a script on the machine with a name: one that has its own
// data directory, and so its own containers, images and claims on shared states.
func onMachine(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: machine NAME")
	}
	variable := "MACHINE_" + args[0]
	data := ts.Getenv(variable)
	if data == "" {
		var err error
		data, err = os.MkdirTemp("", "dm")
		ts.Check(err)
		ts.Setenv(variable, data)
		e := endingOf(ts)
		e.data = append(e.data, data)
		atEnd(ts, func() error { return removeData(data) })
	}
	ts.Setenv("DEPLOYSTER_DATA_DIR", data)
}

// mountSmallDisk mounts a disk of 4 MiB on a directory of the script: small-disk DIR.
func mountSmallDisk(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: small-disk DIR")
	}
	dir := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(dir, 0o755))
	ts.Check(syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=4m"))
	atEnd(ts, func() error { return syscall.Unmount(dir, syscall.MNT_DETACH) })
}

// scripted is a script in the place of a test, for what starts servers.
type scripted struct {
	testing.TB
	ts *testscript.TestScript
}

func (s scripted) Helper()                           {}
func (s scripted) Fatal(args ...any)                 { s.ts.Fatalf("%v", args) }
func (s scripted) Fatalf(format string, args ...any) { s.ts.Fatalf(format, args...) }
func (s scripted) Cleanup(f func())                  { s.ts.Defer(f) }

func (s scripted) TempDir() string {
	dir, err := os.MkdirTemp("", "server")
	s.ts.Check(err)
	atEnd(s.ts, func() error { return os.RemoveAll(dir) })
	return dir
}

// keptDirs is a script that lists the directories it gives to a server.
type keptDirs struct {
	scripted
	dirs *[]string
}

func (k keptDirs) TempDir() string {
	dir := k.scripted.TempDir()
	*k.dirs = append(*k.dirs, dir)
	return dir
}

// startServer starts a server that keeps states, behind a network of its own: server
// postgres or s3. STORE is its URL; STORE_DATABASE is that of the database for PostgreSQL's
// programs, STORE_DIR the directory with the files of S3.
func startServer(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: server postgres|s3")
	}
	t := scripted{ts: ts}
	switch args[0] {
	case "postgres":
		p := services.NewProxy(t, services.Postgres(t))
		ts.Setenv("STORE_DATABASE", "postgres://deploy@"+p.Address+"/state?sslmode=disable")
		ts.Setenv("STORE", "postgres://deploy@"+p.Address+"/state?sslmode=disable&name=shop")
		networks.Store(ts.Getenv("WORK"), p)
	case "s3":
		var dirs []string
		p := services.NewProxy(t, services.S3(keptDirs{t, &dirs}))
		ts.Setenv("STORE_DIR", dirs[0])
		for name, value := range services.Credentials() {
			ts.Setenv(name, value)
		}
		ts.Setenv("STORE", "s3://state/team?region=eu-central-1&path_style=true&endpoint=http://"+p.Address)
		networks.Store(ts.Getenv("WORK"), p)
	default:
		ts.Fatalf("there is no server %s", args[0])
	}
}

// setNetwork says what the network before the server does: gone, back, deaf (what is
// asked comes through, and answers do not).
func setNetwork(ts *testscript.TestScript, neg bool, args []string) {
	found, ok := networks.Load(ts.Getenv("WORK"))
	if neg || len(args) != 1 || !ok {
		ts.Fatalf("usage: network gone|back|deaf, after server")
	}
	p := found.(*services.Proxy)
	switch args[0] {
	case "gone":
		p.Silence(true)
	case "deaf":
		p.Deafen(true)
	case "back":
		p.Cut() // what was under way is lost
		p.Silence(false)
		p.Deafen(false)
	}
}

// networks are those of the scripts that run, by their directories.
var networks sync.Map
