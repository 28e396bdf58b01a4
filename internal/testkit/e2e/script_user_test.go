package e2e

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/rogpeppe/go-internal/testscript"

	"deployster/internal/base/rootless"
	"deployster/internal/testkit/person"
)

// asUser is the variable that makes the command that of nobody. It has the directory of the script,
// which then belongs to nobody, and the one of the bundles that all such scripts share.
const asUser = "DEPLOYSTER_TEST_NOBODY"

const nobody = 65534

// becomeNobody makes the command of a script that of the user nobody from now on, who has only ssh on the
// PATH and no data directory but that of a user.
func becomeNobody(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: nobody")
	}
	ssh, err := exec.LookPath("ssh")
	ts.Check(err)
	path := ts.MkAbs(".path")
	ts.Check(os.Mkdir(path, 0o755))
	ts.Check(os.Symlink(ssh, filepath.Join(path, "ssh")))
	// The programs for hosts are packed once for all scripts, as for root.
	shared := filepath.Join(os.TempDir(), bundlesName, "nobody")
	ts.Check(os.MkdirAll(filepath.Join(shared, bundlesName), 0o755))
	ts.Check(os.Chown(filepath.Join(shared, bundlesName), nobody, nobody))
	if runc := ts.Getenv("DEPLOYSTER_RUNC"); runc != "" { // it may be where only root gets
		ts.Check(copyOnce(runc, filepath.Join(shared, "runc")))
		ts.Setenv("DEPLOYSTER_RUNC", filepath.Join(shared, "runc"))
	}
	self, err := exec.LookPath("deployster")
	if err == nil {
		self, err = filepath.EvalSymlinks(self)
	}
	ts.Check(err)
	for _, path := range []string{self, os.Args[0], ts.MkAbs("x"), filepath.Join(shared, "x")} {
		for dir := filepath.Dir(path); strings.HasPrefix(dir, filepath.Dir(os.TempDir())+"/"); dir = filepath.Dir(dir) {
			ts.Check(letThrough(dir))
		}
	}
	ts.Setenv(asUser, ts.MkAbs(".")+":"+filepath.Join(shared, bundlesName))
}

// asPerson is the variable that makes the command that of a person: the ids, and the directory of the script.
const asPerson = "DEPLOYSTER_TEST_PERSON"

// becomePerson makes the command of a script that of a user who is made for it, and has subordinate ids and
// the programs of this machine.
func becomePerson(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: person")
	}
	p, err := person.Make()
	ts.Check(err)
	atEnd(ts, p.Remove)
	data := ts.Getenv("DEPLOYSTER_DATA_DIR")
	ts.Check(os.Chown(data, p.UID, p.GID))
	if runc := ts.Getenv("DEPLOYSTER_RUNC"); runc != "" { // it may be where only root gets
		ts.Check(copyOnce(runc, ts.MkAbs(".runc")))
		ts.Setenv("DEPLOYSTER_RUNC", ts.MkAbs(".runc"))
	}
	self, err := exec.LookPath("deployster")
	if err == nil {
		self, err = filepath.EvalSymlinks(self)
	}
	ts.Check(err)
	for _, path := range []string{self, os.Args[0], ts.MkAbs("x"), filepath.Join(data, "x")} {
		for dir := filepath.Dir(path); strings.HasPrefix(dir, filepath.Dir(os.TempDir())+"/"); dir = filepath.Dir(dir) {
			ts.Check(letThrough(dir))
		}
	}
	ts.Setenv("HOME", p.Home)
	ts.Setenv("USER", p.Name)
	ts.Setenv(asPerson, fmt.Sprintf("%d:%d:%s", p.UID, p.GID, ts.MkAbs(".")))
}

// dropToPerson makes this process one of a person, if the script wants that.
func dropToPerson() {
	fields := strings.SplitN(os.Getenv(asPerson), ":", 3)
	if len(fields) != 3 || os.Geteuid() != 0 || rootless.Inside() {
		return
	}
	uid, err := strconv.Atoi(fields[0])
	gid, err2 := strconv.Atoi(fields[1])
	err = errors.Join(err, err2, give(fields[2], uid, gid), syscall.Setgroups(nil), syscall.Setgid(gid), syscall.Setuid(uid))
	if err == nil {
		err = syscall.Exec("/proc/self/exe", os.Args, os.Environ())
	}
	panic(err)
}

// letThrough lets other users look for what they know in a directory of these tests.
func letThrough(dir string) error {
	info, err := os.Stat(dir)
	if err != nil || info.Mode().Perm()&0o011 == 0o011 {
		return err
	}
	return os.Chmod(dir, info.Mode().Perm()|0o011)
}

// copyOnce copies a program, unless another script has.
func copyOnce(from, to string) error {
	program, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = f.Write(program)
	return errors.Join(err, f.Close())
}

// dropRights makes this process one of nobody, if the script wants that.
func dropRights() {
	dir, bundles, is := strings.Cut(os.Getenv(asUser), ":")
	if !is || os.Geteuid() != 0 {
		return
	}
	// A machine of the script has the directories of a user below the directory that root has as a whole.
	data := os.Getenv("DEPLOYSTER_DATA_DIR")
	cache := filepath.Join(data, "cache", "deployster")
	err := os.MkdirAll(cache, 0o755)
	if _, missing := os.Lstat(filepath.Join(cache, bundlesName)); missing != nil {
		err = errors.Join(err, os.Symlink(bundles, filepath.Join(cache, bundlesName)))
	}
	err = errors.Join(err, give(dir, nobody, nobody), give(data, nobody, nobody), syscall.Setgroups(nil), syscall.Setgid(nobody), syscall.Setuid(nobody),
		os.Setenv("PATH", filepath.Join(dir, ".path")), os.Unsetenv("DEPLOYSTER_DATA_DIR"),
		os.Setenv("XDG_CACHE_HOME", filepath.Join(data, "cache")), os.Setenv("XDG_STATE_HOME", filepath.Join(data, "state")))
	if err == nil { // what a process of root becomes, it is as a whole only once it executes a program
		err = syscall.Exec("/proc/self/exe", os.Args, os.Environ())
	}
	panic(err)
}

// give makes a directory and all in it that of a user.
func give(dir string, uid, gid int) error {
	return filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err == nil {
			err = os.Lchown(path, uid, gid)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil // another command of the script has removed it
		}
		return err
	})
}
