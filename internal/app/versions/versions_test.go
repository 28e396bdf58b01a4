package versions

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deployster/config"
	"deployster/internal/runtime/artifact"
	"deployster/internal/runtime/artifact/artifacttest"
	"deployster/state"
)

// scene is a Service over a manifest, and a world of versions.
type scene struct {
	*Service
	world *artifacttest.World
	dir   string
}

const manifest = `
artifact "site" {
  type   = "acme/line:2"
  source = { uri = "u" }
}
artifact "old" {
  type   = "acme/git:1"
  source = { uri = "u1" }
}
artifact "target" {
  type   = "acme/line:2"
  source = { uri = "nowhere" }
}
publish "release" { artifact = artifact.target }
`

func newScene(t *testing.T, text, lock string, prior state.Snapshot) scene {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{"main.hcl": text, config.LockName: lock} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); content != "" && err != nil {
			t.Fatal(err)
		}
	}
	if lock == "" {
		_ = os.Remove(filepath.Join(dir, config.LockName))
	}
	sources, diags := config.Find(dir, nil, nil)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	m, diags := config.Load(sources, nil, config.Builtins{})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	locked, diags := config.ReadLock(dir)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	w := artifacttest.NewWorld()
	w.AddImage("acme/line:2", artifact.Artifacts2)
	w.AddImage("acme/git:1", artifact.Concourse1)
	w.Change(`{"uri":"u"}`, func(l *artifacttest.Line) {
		l.Default = "main"
		for _, at := range []struct{ space, ref, by string }{{"main", "1", "ann"}, {"main", "2", "ann"}, {"main", "3", "bob"}, {"next", "9", "bob"}} {
			l.Spaces[at.space] = append(l.Spaces[at.space], artifact.Versioned{Space: at.space, Version: artifact.Version{"ref": at.ref, "by": at.by}})
		}
	})
	w.Change(`{"uri":"u1"}`, func(l *artifacttest.Line) {
		for _, ref := range []string{"a", "b", "c"} {
			l.Spaces[""] = append(l.Spaces[""], artifact.Versioned{Version: artifact.Version{"ref": ref}})
		}
	})
	return scene{world: w, dir: dir, Service: New(Options{Dir: dir, Manifest: m, Prior: prior, Lock: locked, Store: artifacttest.NewStore(t.TempDir(), w),
		Open: func(context.Context, func(string) bool) (artifact.Client, error) { return w, nil }})}
}

// uses is a state in which a version of the artifact old is in use.
func uses(ref string) state.Snapshot {
	v := artifact.Version{"ref": ref}
	return state.Snapshot{Artifacts: map[string]state.Artifact{"old": {Pin: state.Pin{Name: "old", Type: "acme/git:1",
		Recipe: artifact.Recipe{Protocol: artifact.Concourse1, Source: []byte(`{"uri":"u1"}`), Version: v}},
		Heads: map[string]artifact.Version{"": v}}}}
}

func TestPin_MeansOneVersion(t *testing.T) {
	for _, c := range []struct {
		name, artifact string
		parts          []string
		prior          state.Snapshot
		lock           string
		want           string // in the error, or in the lock file
	}{
		{name: "a part of one", artifact: "site", parts: []string{"ref=2"}, want: "\nartifact \"site\" {\n  space = \"main\"\n  version = {\n    by  = \"ann\"\n    ref = \"2\"\n  }\n}\n"},
		{name: "a part of two", artifact: "site", parts: []string{"by=ann"}, want: "More than one version fits: artifact.site has several with by=ann: by=ann ref=1, by=ann ref=2."},
		{name: "of another space", artifact: "site", parts: []string{"ref=9"}, want: "No version fits: The image of artifact.site lists none with ref=9."},
		{name: "nothing in use", artifact: "site", want: "No version of artifact.site is in use"},
		{name: "the one in use", artifact: "old", prior: uses("b"), want: `ref = "b"`},
		{name: "one before that in use, of an image that lists from there", artifact: "old", parts: []string{"ref=a"}, prior: uses("b"), want: `ref = "a"`},
		{name: "unknown", artifact: "sites", want: `Did you mean "site"?`},
		{name: "no pair", artifact: "old", parts: []string{"b"}, want: `and not by "b"`},
		{name: "one that is gone", artifact: "site", lock: "artifact \"site\" {\n  space = \"main\"\n  version = { ref = \"0\" }\n}\n", want: "lists none with ref=0"},
		{name: "beside others", artifact: "old", parts: []string{"ref=c"}, want: `ref = "c"`, lock: "artifact \"site\" {\n  version = { ref = \"0\" }\n}\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScene(t, manifest, c.lock, c.prior)
			parts, err := ParsePairs(c.parts)
			if err == nil {
				_, err = s.Pin(t.Context(), c.artifact, parts)
			}
			content, _ := os.ReadFile(filepath.Join(s.dir, config.LockName))
			if got := said(err) + "\n" + string(content); !strings.Contains(got, c.want) || (err != nil) != strings.Contains(said(err), c.want) {
				t.Errorf("%s\nwant %q", got, c.want)
			}
			if c.name == "beside others" && !strings.Contains(string(content), `artifact "site"`) {
				t.Errorf("the other pin is gone: %s", content)
			}
		})
	}
}

func said(err error) string {
	if err == nil {
		return ""
	}
	return strings.Join(strings.Fields(strings.ReplaceAll(err.Error(), "\n", " ")), " ")
}

func TestUnpin_RemovesAnEmptyLockFile(t *testing.T) {
	s := newScene(t, manifest, "artifact \"gone\" {\n  version = { ref = \"0\" }\n}\n", state.Snapshot{})
	if c, err := s.Unpin("gone"); err != nil || !c.Was.Is(artifact.Version{"ref": "0"}) || c.Now != nil {
		t.Errorf("%v, %v", c, err)
	}
	if _, err := os.Stat(filepath.Join(s.dir, config.LockName)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the lock file: %v", err)
	}
}

func TestCheck_CountsFromTheOneInUse(t *testing.T) {
	s := newScene(t, manifest, "artifact \"site\" {\n  space = \"main\"\n  version = { ref = \"1\", by = \"ann\" }\n}\n", uses("b"))
	got, err := s.Check(t.Context(), nil, 2)
	var text string
	for _, c := range got.Artifacts {
		text += fmt.Sprintf("%s %s -> %s %d newer, %d between, %s;", c.Name, c.InUse, c.Newest, c.Newer, len(c.Between), c.Pinned)
	}
	const want = "old ref=b -> ref=c 1 newer, 1 between, ;site by=ann ref=1 -> by=bob ref=3 2 newer, 2 between, lock file;"
	if err != nil || strings.ReplaceAll(text, "old b -> c", "old ref=b -> ref=c") != want {
		t.Errorf("%s, %v", text, err)
	}
}

func TestUpgrade_MovesPinsAndDropsThoseOfNothing(t *testing.T) {
	s := newScene(t, manifest, "artifact \"site\" {\n  space = \"main\"\n  version = { ref = \"1\", by = \"ann\" }\n}\n"+
		"artifact \"gone\" {\n  version = { ref = \"0\" }\n}\nartifact \"old\" {\n  version = { ref = \"c\" }\n}\n", state.Snapshot{})
	changes, err := s.Upgrade(t.Context(), true, 2)
	var text string
	for _, c := range changes {
		text += fmt.Sprintf("%s %s -> %s;", c.Name, c.Was, c.Now)
	}
	if err != nil || text != "gone 0 -> ;site by=ann ref=1 -> by=bob ref=3;" {
		t.Errorf("%s, %v", text, err)
	}
	lock, diags := config.ReadLock(s.dir)
	if diags.HasErrors() || len(lock.Artifacts) != 2 || lock.Artifacts["site"].Version["ref"] != "3" || lock.Artifacts["site"].Space != "main" {
		t.Errorf("%v, %v", lock, diags)
	}
}

// Another space may list a version that is called the same.
func TestPin_MovesToAnotherSpace(t *testing.T) {
	text := strings.Replace(manifest, "uri = \"u\" }", "uri = \"u\" }\n  space  = \"main\"", 1)
	s := newScene(t, text, "artifact \"site\" {\n  space = \"next\"\n  version = { ref = \"3\", by = \"bob\" }\n}\n", state.Snapshot{})
	change, err := s.Pin(t.Context(), "site", artifact.Version{"ref": "3"})
	was, now := change.Texts()
	if err != nil || !change.Moves() || was != `by=bob ref=3 (space "next")` || now != `by=bob ref=3 (space "main")` {
		t.Errorf("%s, %s, %v", was, now, err)
	}
}

func TestVersions_OfOneSpace(t *testing.T) {
	s := newScene(t, manifest, "", state.Snapshot{})
	for _, c := range []struct{ space, want string }{
		{"", "main: 3 in all, main announced, 2 spaces"}, {"next", "next: 1 in all, main announced, 2 spaces"},
		{"nxt", `lists none in the space "nxt". Did you mean "next"? There are: "main", "next".`},
	} {
		got, err := s.Versions(t.Context(), "site", c.space, 20)
		text := fmt.Sprintf("%s: %d in all, %s announced, %d spaces", got.Space, len(got.Versions), got.DefaultSpace, len(got.Spaces))
		if err != nil {
			text = said(err)
		}
		if !strings.Contains(text, c.want) {
			t.Errorf("%q: %s", c.space, text)
		}
	}
}

func TestGet_RefusesWhatIsNotEmpty(t *testing.T) {
	s := newScene(t, manifest, "", uses("b"))
	dir := filepath.Join(s.dir, "out")
	if got, err := s.Get(t.Context(), "old", dir, nil); err != nil || got.Files != 1 {
		t.Fatalf("%v, %v", got, err)
	}
	content, err := os.ReadFile(filepath.Join(dir, "version"))
	if err != nil || string(content) != "b\n" {
		t.Errorf("%q, %v", content, err)
	}
	if _, err := s.Get(t.Context(), "old", dir, nil); err == nil || !strings.Contains(err.Error(), "is not empty") {
		t.Errorf("into a directory with files: %v", err)
	}
	if _, err := s.Get(t.Context(), "site", filepath.Join(s.dir, "other"), artifact.Version{"ref": "0"}); err == nil {
		t.Error("a version that is not listed is brought in")
	}
}
