package text_test

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"deployster/machine/internal/kindtest"
	"deployster/machine/internal/text"
)

// A file that is a mount of its own, as /etc/hosts is in a container, cannot be replaced: it is written.
func TestHosts_MountIsWritten(t *testing.T) {
	m := file(t, "")
	must(t, os.WriteFile(m.Path("/etc/hosts"), []byte("127.0.0.1 localhost\n"), 0o640))
	if err := unix.Mount(m.Path("/etc/x"), m.Path("/etc/hosts"), "", unix.MS_BIND, ""); err != nil {
		t.Fatal(err)
	}
	defer func() { must(t, unix.Unmount(m.Path("/etc/hosts"), unix.MNT_DETACH)) }()
	r := kindtest.New(t, text.NewHosts(m))
	c := config{"name": "db.example", "addresses": []string{"10.0.0.1"}}
	wants := func(want string) {
		t.Helper()
		got, err := os.ReadFile(m.Path("/etc/x"))
		must(t, err)
		if entries, err := os.ReadDir(m.Path("/etc")); err != nil || len(entries) != 2 || string(got) != want {
			t.Errorf("%q %v %v", got, entries, err)
		}
	}
	r.Apply(c)
	wants("10.0.0.1 db.example\n")
	r.Destroy(c)
	wants("")
}
