package artifact

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"deployster/internal/runtime/runner"
)

func TestRecipe_KeyIsOfEverything(t *testing.T) {
	base := func() Recipe {
		return Recipe{Protocol: Artifacts2, Digest: "sha256:1", Source: json.RawMessage(`{"a":1,"b":2}`), Params: json.RawMessage(`{}`),
			Space: "main", Version: Version{"ref": "1", "n": "2"}}
	}
	key := func(change func(*Recipe)) string {
		r := base()
		change(&r)
		k, err := r.Key()
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	same := key(func(*Recipe) {})
	for name, change := range map[string]func(*Recipe){
		"order of keys":  func(r *Recipe) { r.Source = json.RawMessage(`{ "b": 2, "a": 1 }`) },
		"no params":      func(r *Recipe) { r.Params = nil },
		"host's users":   func(r *Recipe) { r.UserNS = runner.HostUserNS },
		"an empty env":   func(r *Recipe) { r.Env = map[string]string{} },
		"a copy of text": func(r *Recipe) { r.Version = Version{"n": "2", "ref": "1"} },
	} {
		if key(change) != same {
			t.Errorf("%s: another key for the same", name)
		}
	}
	for name, change := range map[string]func(*Recipe){
		"protocol": func(r *Recipe) { r.Protocol = Concourse1 },
		"digest":   func(r *Recipe) { r.Digest = "sha256:2" },
		"source":   func(r *Recipe) { r.Source = json.RawMessage(`{"a":1,"b":3}`) },
		"params":   func(r *Recipe) { r.Params = json.RawMessage(`{"depth":1}`) },
		"space":    func(r *Recipe) { r.Space = "other" },
		"version":  func(r *Recipe) { r.Version = Version{"ref": "1", "n": "3"} },
		"user":     func(r *Recipe) { r.User = "1000" },
		"userns":   func(r *Recipe) { r.UserNS = runner.AutoUserNS },
		"env":      func(r *Recipe) { r.Env = map[string]string{"A": "b"} },
	} {
		if key(change) == same {
			t.Errorf("%s: the same key for another", name)
		}
	}
	r := base()
	r.Source = json.RawMessage(`{"a":1,"a":2}`)
	if k, err := r.Key(); err == nil {
		t.Errorf("a source with a name twice has the key %s", k)
	}
}

func TestMountSource_IsReadBack(t *testing.T) {
	for _, c := range []struct{ sub, want string }{{"", ""}, {"dist", "dist"}, {"a/../b/", "b"}, {"../../etc", "etc"}} {
		key, sub, ok := ParseMount(MountSource("abc", c.sub))
		if key != "abc" || sub != c.want || !ok {
			t.Errorf("%q: %q, %q, %v", c.sub, key, sub, ok)
		}
	}
	if _, _, ok := ParseMount("/srv/artifact:x"); ok {
		t.Error("a path of the host is taken for files of an artifact")
	}
}

func TestSub_StaysInside(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{
		os.MkdirAll(filepath.Join(dir, "d/e"), 0o700), os.Symlink("d", filepath.Join(dir, "in")), os.Symlink("/etc", filepath.Join(dir, "abs")),
		os.Symlink("../..", filepath.Join(dir, "up")), os.Symlink("loop", filepath.Join(dir, "loop")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for sub, want := range map[string]string{"": "", "d": "d", "in/e": "d/e"} {
		if got, err := Sub(dir, sub); got != filepath.Join(dir, want) || err != nil {
			t.Errorf("%q: %q, %v", sub, got, err)
		}
	}
	for _, sub := range []string{"abs", "abs/passwd", "up", "loop", "none", "../x"} {
		if got, err := Sub(dir, sub); err == nil {
			t.Errorf("%q: %q", sub, got)
		}
	}
}
