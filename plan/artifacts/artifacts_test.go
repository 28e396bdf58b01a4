package artifacts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"deployster/config"
	"deployster/internal/runtime/artifact"
	"deployster/internal/runtime/artifact/artifacttest"
	"deployster/state"
)

// line makes versions 1, 2, 3... of a space.
func line(space string, names ...string) []artifact.Versioned {
	var out []artifact.Versioned
	for _, name := range names {
		out = append(out, artifact.Versioned{Space: space, Version: artifact.Version{"ref": name},
			Metadata: artifact.Metadata{{Name: "message", Value: "about " + name}}})
	}
	return out
}

const v1, v2 = "acme/git:1", "acme/line:2"

// scene is a world with one artifact.
type scene struct {
	world *artifacttest.World
	store *artifacttest.Store
	block config.Artifact
	o     Options
}

func newScene(t *testing.T, image string, versions ...artifact.Versioned) *scene {
	s := &scene{world: artifacttest.NewWorld(), block: config.Artifact{Name: "site", TypeRef: image}}
	s.block.Source.Value, s.block.Params.Value = json.RawMessage(`{"uri":"u"}`), json.RawMessage(`{}`)
	s.world.AddImage(v1, artifact.Concourse1)
	s.world.AddImage(v2, artifact.Artifacts2)
	s.world.Change(`{"uri":"u"}`, func(l *artifacttest.Line) {
		for _, v := range versions {
			l.Spaces[v.Space] = append(l.Spaces[v.Space], v)
		}
		if image == v2 {
			l.Default = "main"
		}
	})
	s.store = artifacttest.NewStore(t.TempDir(), s.world)
	s.o = Options{Client: s.world, Store: s.store, Recorded: map[string]state.Artifact{}, Lock: map[string]config.Pin{}}
	return s
}

func (s *scene) recorded(t *testing.T, v artifact.Versioned) *scene {
	s.o.Recorded["site"] = state.Artifact{Pin: state.Pin{Name: "site", Type: s.block.TypeRef, Recipe: artifact.Recipe{Source: s.block.Source.Value,
		Space: v.Space, Version: v.Version}}, Heads: map[string]artifact.Version{v.Space: v.Version}}
	return s
}

func (s *scene) resolve() (Pin, error) {
	s.o.Declared = []config.Artifact{s.block}
	return New(s.o).Resolve(context.Background(), "site")
}

// want says what became of an artifact in a line: version, was, newer, marks.
func told(p Pin, err error) string {
	if err != nil {
		var d interface{ Error() string }
		errors.As(err, &d)
		return "error " + strings.Join(strings.Fields(d.Error()), " ")
	}
	text := fmt.Sprintf("%s was %s newer %d", p.Recipe.Version, p.Was, p.Newer)
	if p.Unlisted {
		text += " unlisted"
	}
	if p.Pinned != "" {
		text += " pinned in " + p.Pinned
	}
	if p.Unrefreshed {
		text += " believed"
	}
	if p.Note != "" {
		text += " noted"
	}
	return text
}

// The rows of the table of versions, one by one.
func TestResolver_ChoosesTheVersion(t *testing.T) {
	t.Parallel()
	a := line("main", "1", "2", "3")
	b := line("", "1", "2", "3")
	gone2, gone1 := line("main", "0")[0], line("", "0")[0]
	many := slices.Clip(a) // more than are kept
	for n := range artifact.DefaultKeep {
		many = append(many, line("main", fmt.Sprint("new", n))...)
	}
	for name, c := range map[string]struct {
		scene *scene
		edit  func(*scene)
		want  string
	}{
		"nothing recorded":           {newScene(t, v2, a...), nil, "3 was  newer 0"},
		"newer than recorded":        {newScene(t, v2, a...).recorded(t, a[0]), nil, "3 was 1 newer 2"},
		"newer than recorded, v1":    {newScene(t, v1, b...).recorded(t, b[1]), nil, "3 was 2 newer 1"},
		"as recorded":                {newScene(t, v2, a...).recorded(t, a[2]), nil, "3 was 3 newer 0"},
		"recorded is not listed":     {newScene(t, v2, a...).recorded(t, gone2), nil, "3 was 0 newer 0 unlisted"},
		"recorded is not listed, v1": {newScene(t, v1, b...).recorded(t, gone1), nil, "3 was 0 newer 0 unlisted"},
		"pinned, gone, v2":           {newScene(t, v2, a...), pinned("0"), "error artifact.site: the pinned version no longer exists"},
		"pinned, gone, v1":           {newScene(t, v1, b...), pinned("0"), "0 was  newer 0 pinned in manifest noted"},
		"pinned, newer ones there":   {newScene(t, v2, a...), pinned("1"), "1 was  newer 2 pinned in manifest"},
		"pinned by the lock file":    {newScene(t, v2, a...), locked("1"), "1 was  newer 2 pinned in lock file"},
		"pinned, 100 newer ones":     {newScene(t, v2, many...), pinned("1"), "1 was  newer 0 pinned in manifest"},
		"pinned, of another space": {newScene(t, v2, append(many, line("other", "0")...)...), pinned("0"), "error " +
			"artifact.site: the pinned version no longer exists"},
		"of a rollback": {newScene(t, v2, a...), func(s *scene) { locked("1")(s); s.o.Rollback = true }, "1 was  newer 2 pinned in rollback"},
		"of a rollback, gone": {newScene(t, v2, a...), func(s *scene) { locked("0")(s); s.o.Rollback = true },
			"error artifact.site: the version of the rollback no longer exists"},
		"pinned twice":                 {newScene(t, v2, a...), both, "error artifact.site is pinned twice"},
		"upgraded":                     {newScene(t, v2, a...), func(s *scene) { locked("1")(s); s.o.Newest = true }, "3 was  newer 0"},
		"of one state, as recorded":    {newScene(t, v2, a[2:]...).recorded(t, a[2]), nil, "3 was 3 newer 0"},
		"of one state, another":        {newScene(t, v2, a[2:]...).recorded(t, a[1]), nil, "3 was 2 newer 0 unlisted"},
		"v1 says nothing":              {newScene(t, v1).recorded(t, b[0]), nil, "1 was 1 newer 0"},
		"no version at all":            {newScene(t, v2), nil, "error artifact.site has no version yet"},
		"no version at all, v1":        {newScene(t, v1), nil, "error artifact.site has no version yet"},
		"no space given or announced":  {newScene(t, v2, a...), silent, `error artifact.site has no space`},
		"a space that is not there":    {newScene(t, v2, a...), func(s *scene) { s.block.Space = "mian" }, "error artifact.site has no version yet"},
		"believed":                     {newScene(t, v2, a...).recorded(t, a[0]), func(s *scene) { s.o.UseRecorded = true }, "1 was 1 newer 0 believed"},
		"believed in its own space":    {newScene(t, v2, append(line("other", "1"), a...)...).recorded(t, a[0]), lockedIn("other"), "1 was  newer 0 pinned in lock file"},
		"nothing to believe":           {newScene(t, v2, a...), func(s *scene) { s.o.UseRecorded = true }, "3 was  newer 0"},
		"followed":                     {newScene(t, v2, a...).recorded(t, a[0]), follow("site"), "3 was 1 newer 2"},
		"followed, not back":           {newScene(t, v2, a...).recorded(t, gone2), follow("site"), "0 was 0 newer 0 believed noted"},
		"followed, not back, v1":       {newScene(t, v1, b...).recorded(t, gone1), follow("site"), "0 was 0 newer 0 believed noted"},
		"followed, nothing recorded":   {newScene(t, v2, a...), follow("site"), "3 was  newer 0"},
		"another one is followed":      {newScene(t, v2, a...).recorded(t, a[0]), follow("app"), "1 was 1 newer 0 believed"},
		"recorded from another source": {newScene(t, v2, a...).recorded(t, a[0]), otherSource, "error artifact.site has no version yet"},
		"recorded with another secret": {newScene(t, v2, a...), rotated, "3 was 1 newer 2"},
	} {
		if c.edit != nil {
			c.edit(c.scene)
		}
		failure, fails := strings.CutPrefix(c.want, "error ")
		if got := told(c.scene.resolve()); !fails && got != c.want || !strings.Contains(got, failure) {
			t.Errorf("%s:\n got %s\nwant %s", name, got, c.want)
		}
	}
}

func follow(names ...string) func(*scene) {
	return func(s *scene) { s.o.Follow = names }
}

func pinned(ref string) func(*scene) {
	return func(s *scene) { s.block.Version = map[string]string{"ref": ref} }
}

func locked(ref string) func(*scene) {
	return func(s *scene) { s.o.Lock["site"] = config.Pin{Version: map[string]string{"ref": ref}} }
}

func lockedIn(space string) func(*scene) {
	return func(s *scene) {
		locked("1")(s)
		p := s.o.Lock["site"]
		p.Space, s.o.UseRecorded = space, true
		s.o.Lock["site"] = p
	}
}

func both(s *scene) { pinned("1")(s); locked("1")(s) }

func silent(s *scene) {
	s.world.Change(`{"uri":"u"}`, func(l *artifacttest.Line) { l.Default = "" })
}

func otherSource(s *scene) { s.block.Source.Value = json.RawMessage(`{"uri":"other"}`) }

func rotated(s *scene) {
	s.block.Source.Value = json.RawMessage(`{"key":"new","uri":"u"}`)
	s.block.Source.Sensitive = []string{"/key"}
	s.world.Change(`{"key":"new","uri":"u"}`, func(l *artifacttest.Line) {
		l.Default, l.Spaces["main"] = "main", line("main", "1", "2", "3")
	})
	s.recorded(&testing.T{}, line("main", "1")[0])
	r := s.o.Recorded["site"]
	r.Recipe.Source, r.Sensitive.Source = json.RawMessage(`{"key":"old","uri":"u"}`), []string{"/key"}
	s.o.Recorded["site"] = r
}

// Metadata of a v1 image costs a get, and only where something reads it.
func TestResolver_FetchesForMetadataOnly(t *testing.T) {
	t.Parallel()
	for _, reads := range []bool{false, true} {
		s := newScene(t, v1, line("", "1")...)
		s.block.Metadata = reads
		p, err := s.resolve()
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(fmt.Sprint(s.world.TakeLog()), "get"); got != reads || (p.Value().Metadata["message"] == "about 1") == false && reads {
			t.Errorf("reads %v: brought in %v, %+v", reads, got, p.Value())
		}
	}
}

func TestResolver_KnowsWhatWasFetchedSince(t *testing.T) {
	t.Parallel()
	s := newScene(t, v1, line("", "1")...)
	s.world.Change(`{"uri":"u"}`, func(l *artifacttest.Line) {
		l.Spaces[""][0].Metadata = artifact.Metadata{{Name: "author", Value: "ann"}}
	})
	s.o.Declared = []config.Artifact{s.block}
	r := New(s.o)
	p, err := r.Resolve(t.Context(), "site")
	if err != nil || p.Tree != "" || r.Found()["site"].Tree != "" {
		t.Fatalf("%+v, %v", p, err)
	}
	if _, err := s.store.Fetch(t.Context(), p.Order(s.block)); err != nil {
		t.Fatal(err)
	}
	found := r.Found()["site"]
	if found.Tree == "" || found.Files != 1 || found.Bytes == 0 || len(found.Metadata) != 1 || found.Metadata[0].Value != "ann" {
		t.Errorf("%+v", found)
	}
}

func TestResolver_QueriesOnce(t *testing.T) {
	t.Parallel()
	s := newScene(t, v2, line("main", "1")...)
	s.o.Declared = []config.Artifact{s.block}
	r := New(s.o)
	if err := r.All(context.Background(), []string{"site", "site", "site"}, 3); err != nil {
		t.Fatal(err)
	}
	if log := s.world.TakeLog(); fmt.Sprint(log) != "[info artifact.site check artifact.site]" {
		t.Errorf("%v", log)
	}
	p := r.Pins()["site"]
	again := s.recorded(t, p.Version())
	if rec := p.Recorded(time.Now()); rec.Heads["main"]["ref"] != "1" || !SameLine(again.block, rec) {
		t.Errorf("%+v", rec)
	}
	if p.Masked().Key != p.Key {
		t.Error("a key that is made of no secret is hidden")
	}
	p.Sensitive.Source = []string{"/uri"}
	if m := p.Masked(); m.Key != "" || strings.Contains(string(m.Recipe.Source), `"u"`) {
		t.Errorf("%+v", m)
	}
}

func TestRenewed_TakesTheSecretsOfToday(t *testing.T) {
	t.Parallel()
	s := newScene(t, v2)
	rotated(s)
	old := s.o.Recorded["site"].Pin
	if got := Renewed(old, []config.Artifact{s.block}); string(got.Recipe.Source) != `{"key":"new","uri":"u"}` {
		t.Errorf("%s", got.Recipe.Source)
	}
	s.block.Source.Value = json.RawMessage(`{"key":"new","uri":"elsewhere"}`)
	if got := Renewed(old, []config.Artifact{s.block}); string(got.Recipe.Source) != `{"key":"old","uri":"u"}` {
		t.Errorf("another source was taken: %s", got.Recipe.Source)
	}
}
