package modules

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// commit makes a repository of the files that a shell script makes, and returns its directory and the commit.
func commit(t *testing.T, script string) (dir, hash string) {
	t.Helper()
	dir = t.TempDir()
	return dir, again(t, dir, "git init -q -b main .\n"+script)
}

// again commits what a shell script changes.
func again(t *testing.T, dir, script string) string {
	t.Helper()
	run(t, dir, script+"\ngit add -A\ngit commit -q -m x\n")
	return told(t, dir, "rev-parse", "HEAD")
}

// run runs a shell script in a directory.
func run(t *testing.T, dir, script string) {
	t.Helper()
	c := exec.Command("sh", "-ec", script)
	c.Dir = dir
	c.Env = append(os.Environ(), "HOME="+dir, "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b",
		"GIT_CONFIG_NOSYSTEM=1")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

func told(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// The hash is git's own, of both kinds, also after the files were written and read here.
func TestTree_HasTheHashOfGit(t *testing.T) {
	for _, format := range []string{"sha1", "sha256"} {
		dir := t.TempDir()
		again(t, dir, "git init -q --object-format="+format+` .
mkdir -p a.b a/c "ein Ort"
echo 1 >a.b/x; echo 2 >a/c/y; echo 3 >a-b; printf '' >"ein Ort/leer"; echo '#!/bin/sh' >run; chmod 755 run; ln -s a/c l; ln -s y a/c/z`)
		hash := told(t, dir, "rev-parse", "HEAD^{tree}")
		read, err := readTree(dir, func(name string) bool { return name == ".git" })
		if err != nil || read.hash(hash) != hash {
			t.Fatalf("%s: %s, %v; git has %s", format, read.hash(hash), err, hash)
		}
		k := kept{filepath.Join(t.TempDir(), "modules")}
		for range 2 { // a second time it is there
			if err := k.write(read, hash); err != nil {
				t.Fatal(err)
			}
		}
		back, err := k.read(hash)
		if err != nil || len(back.entries) != 7 {
			t.Errorf("%s: %+v, %v", format, back, err)
		}
		if left, _ := filepath.Glob(filepath.Join(k.dir, ".new-*")); len(left) > 0 {
			t.Errorf("left: %v", left)
		}
	}
}

func TestKept_ChangedFilesAreNoticed(t *testing.T) {
	for name, change := range map[string]func(dir string) error{
		"a content":      func(dir string) error { return os.WriteFile(dir+"/d/a", []byte("other"), 0o600) },
		"a new file":     func(dir string) error { return os.WriteFile(dir+"/d/b", nil, 0o600) },
		"a removed file": func(dir string) error { return os.Remove(dir + "/d/a") },
		"a program":      func(dir string) error { return os.Chmod(dir+"/d/a", 0o700) },
		"a link": func(dir string) error {
			_ = os.Remove(dir + "/l") // it is replaced
			return os.Symlink("/nowhere", dir+"/l")
		},
		"a pipe in the place of a file": func(dir string) error {
			_ = os.Remove(dir + "/d/a") // it is replaced
			return exec.Command("mkfifo", dir+"/d/a").Run()
		},
	} {
		t.Run(name, func(t *testing.T) {
			tr := newTree()
			for name, e := range map[string]entry{"d/a": {modeFile, []byte("a")}, "l": {modeLink, []byte("d/a")}} {
				if err := tr.add(name, e); err != nil {
					t.Fatal(err)
				}
			}
			k, hash := kept{t.TempDir()}, tr.hash("")
			if err := k.write(tr, hash); err != nil {
				t.Fatal(err)
			}
			if err := change(k.place(hash)); err != nil {
				t.Fatal(err)
			}
			if back, err := k.read(hash); err == nil || back != nil || !strings.Contains(err.Error(), "were changed") {
				t.Errorf("%v, %v", back, err)
			}
		})
	}
}
