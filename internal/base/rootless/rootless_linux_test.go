package rootless

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// machine makes a directory with the files of a machine, by their paths.
func machine(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for path, text := range files {
		path = filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestAllowed_NamesWhatForbidsIt(t *testing.T) {
	t.Parallel()
	const namespaces, restricted = "proc/self/ns/user", "proc/sys/kernel/apparmor_restrict_unprivileged_userns"
	for name, c := range map[string]struct {
		files map[string]string
		want  []string // nil = it is possible
	}{
		"all is there":             {map[string]string{namespaces: "", "proc/sys/user/max_user_namespaces": "96365\n"}, nil},
		"no namespaces":            {map[string]string{}, []string{"this kernel has no user namespaces"}},
		"none for anybody":         {map[string]string{namespaces: "", "proc/sys/user/max_user_namespaces": "0\n"}, []string{"user.max_user_namespaces is 0", "`sysctl -w user.max_user_namespaces=15000`"}},
		"none for users":           {map[string]string{namespaces: "", "proc/sys/kernel/unprivileged_userns_clone": "0\n"}, []string{"`sysctl -w kernel.unprivileged_userns_clone=1`"}},
		"AppArmor, without one":    {map[string]string{namespaces: "", restricted: "1\n", "proc/self/attr/current": "unconfined\n"}, []string{"AppArmor", page}},
		"AppArmor, with a profile": {map[string]string{namespaces: "", restricted: "1\n", "proc/self/attr/current": "deployster (unconfined)\n"}, nil},
	} {
		err := allowed(machine(t, c.files))
		if (err == nil) != (c.want == nil) {
			t.Errorf("%s: %v", name, err)
		}
		for _, text := range c.want {
			if err == nil || !strings.Contains(err.Error(), text) {
				t.Errorf("%s: %v does not have %q", name, err, text)
			}
		}
	}
}

func TestSubordinates_AreThoseOfTheUser(t *testing.T) {
	t.Parallel()
	const passwd = "root:x:0:0::/root:/bin/sh\nme:x:1000:1000::/home/me:/bin/sh\n"
	for name, c := range map[string]struct {
		subuid, subgid string
		uids           string // "" = an error
		wants          []string
	}{
		"by name":    {"other:100000:65536\nme:165536:65536\n", "me:165536:65536\n", "0 1000 1 1 165536 65536", nil},
		"by number":  {"1000:165536:65536\n", "1000:165536:65536\n", "0 1000 1 1 165536 65536", nil},
		"two ranges": {"me:100000:30000\nme:200000:40000\n", "me:165536:65536\n", "0 1000 1 1 100000 30000 30001 200000 40000", nil},
		"none": {"other:100000:65536\n", "me:165536:65536\n", "", []string{"/etc/subuid assigns 0 of the 65535 ids", "to me",
			"`usermod --add-subuids 165536-231071 me`", "me:165536:65536"}},
		"too few":   {"me:165536:1000\n", "me:165536:65536\n", "", []string{"assigns 1000 of"}},
		"no groups": {"me:165536:65536\n", "", "", []string{"/etc/subgid assigns 0 of", "--add-subgids 100000-165535 me"}},
	} {
		root := machine(t, map[string]string{"etc/passwd": passwd, "etc/subuid": c.subuid, "etc/subgid": c.subgid})
		uids, gids, err := subordinates(root, 1000, 1000, "")
		if got := strings.Join(uids, " "); err == nil && (got != c.uids || !slices.Equal(gids, []string{"0", "1000", "1", "1", "165536", "65536"})) {
			t.Errorf("%s: %q and %q", name, got, gids)
		}
		if (err == nil) != (c.uids != "") {
			t.Errorf("%s: %v", name, err)
		}
		for _, text := range c.wants {
			if err == nil || !strings.Contains(err.Error(), text) {
				t.Errorf("%s: %v does not have %q", name, err, text)
			}
		}
	}
}

func TestErrProgram_NamesThePackage(t *testing.T) {
	t.Parallel()
	if err := errProgram("newuidmap"); !strings.Contains(err.Error(), "newuidmap is not on the PATH") || !strings.Contains(err.Error(), "uidmap of Debian") {
		t.Error(err)
	}
}

// The variable alone makes no process one of a namespace.
func TestInside_IsNotBelieved(t *testing.T) {
	t.Setenv(marker, "1000:1000")
	if Inside() || Lost() != nil || Environ() != nil {
		t.Error("it is in the first namespace of the machine")
	}
	if attr := AsUser(nil); attr != nil {
		t.Errorf("a command got %+v", attr)
	}
}

func TestOwn_IsADirectoryOfTheUserAlone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	good, open, link := filepath.Join(dir, "good"), filepath.Join(dir, "open"), filepath.Join(dir, "link")
	for path, mode := range map[string]os.FileMode{good: 0o700, open: 0o777} {
		if err := os.Mkdir(path, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(good, link); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{good: true, open: false, link: false, "/proc": os.Geteuid() == 0, filepath.Join(dir, "none"): false} {
		if own(path) != want {
			t.Errorf("own(%s) is %t", path, !want)
		}
	}
}

func TestWords_OfLosses(t *testing.T) {
	t.Parallel()
	if got := Words([]Loss{NoUserNS, "newer"}); got != `userns = "auto" is refused; newer` {
		t.Error(got)
	}
}
