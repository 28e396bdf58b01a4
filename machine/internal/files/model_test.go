package files_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"deployster/machine/internal/files"
	"deployster/machine/internal/kindtest"
)

const randomEdits = 200

// thing is what the model has at a path: "" = nothing.
type thing struct {
	kind, content string
	mode          uint32
	uid           int
}

// TestFile_RandomEdits changes files by hand and by configs that manage a part of them, and
// compares each with a model: what the config says is so, and the rest is as it was.
func TestFile_RandomEdits(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 6))
	m := root(t)
	paths := []string{"/etc/a", "/etc/b"}
	model, resources := map[string]thing{}, map[string]*kindtest.Resource{}
	for _, path := range paths {
		resources[path] = kindtest.New(t, files.NewFile(m))
	}
	modes, contents := []uint32{0o600, 0o644, 0o4755}, []string{"", "x", "y\n", "\x00ü"}
	for i := range randomEdits {
		path := paths[r.IntN(2)]
		now := model[path]
		switch r.IntN(4) {
		case 0: // by hand
			must(t, os.RemoveAll(m.Path(path)))
			now = thing{kind: []string{"", "file", "link"}[r.IntN(3)], content: contents[r.IntN(4)], mode: modes[r.IntN(3)], uid: r.IntN(2) * 33}
			switch now.kind {
			case "file":
				must(t, os.WriteFile(m.Path(path), []byte(now.content), 0o600))
				must(t, os.Chown(m.Path(path), now.uid, 0))
				must(t, os.Chmod(m.Path(path), os.FileMode(now.mode&0o777)|os.FileMode(now.mode>>11&1)*os.ModeSetuid))
			case "link":
				must(t, os.Symlink("nowhere", m.Path(path)))
				now = thing{kind: "link"}
			default:
				now = thing{}
			}
		case 1:
			resources[path].Destroy(config{"path": path})
			if now.kind == "file" {
				now = thing{}
			}
		default:
			c := config{"path": path, "in_place": r.IntN(2) == 0}
			if now.kind != "file" {
				now = thing{kind: "file", mode: 0o644}
			}
			if r.IntN(3) > 0 {
				now.content = contents[r.IntN(4)]
				c["content"] = now.content
			}
			if r.IntN(2) > 0 {
				now.mode = modes[r.IntN(3)]
				c["mode"] = fmt.Sprintf("%04o", now.mode)
			}
			if r.IntN(2) > 0 {
				had := now.uid
				if now.uid = r.IntN(2) * 33; now.uid != had && model[path].kind == "file" && c["mode"] == nil {
					now.mode &^= 0o4000 // as by chown
				}
				c["owner"] = []string{map[int]string{0: "root", 33: "www"}[now.uid], strconv.Itoa(now.uid)}[r.IntN(2)]
			}
			resources[path].Apply(c)
			if a := resources[path].State(c); a.Status != "VALID" {
				t.Errorf("%d: %v is not valid after it was applied: %+v", i, c, a)
			}
		}
		model[path] = now
		for path, want := range model {
			if got := seen(t, m.Path(path)); got != want {
				t.Fatalf("%d: %s is %+v, and in the model %+v", i, path, got, want)
			}
		}
	}
}

// seen returns what is at a path.
func seen(t *testing.T, path string) (s thing) {
	t.Helper()
	info, err := os.Lstat(path)
	if os.IsNotExist(err) {
		return thing{}
	}
	must(t, err)
	if info.Mode()&os.ModeSymlink != 0 {
		return thing{kind: "link"}
	}
	content, err := os.ReadFile(path)
	must(t, err)
	stat := inode(t, path)
	return thing{"file", string(content), stat.Mode & 0o7777, int(stat.Uid)}
}
