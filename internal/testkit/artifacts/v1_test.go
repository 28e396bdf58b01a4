package artifacts

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deployster/internal/runtime/artifact"
	"deployster/internal/runtime/artifact/tree"
	"deployster/internal/runtime/runner"
)

// v1 is a line of versions as a v1 image has it, with the habits of the real ones.
func v1(t *testing.T) (*world, artifact.Target, artifact.Info) {
	w := newWorld(t)
	w.says("check", `[{"ref":"1"},{"ref":"2"}]`)
	w.says("file", "content\n")
	w.says("in", `{"version":{"ref":"2"},"metadata":[]}`)
	w.says("out", `{"version":{"ref":"3"},"metadata":[]}`)
	target := target("acme/v1")
	return w, target, about(t, target)
}

func checkFrom(t *testing.T, w *world, target artifact.Target, i artifact.Info, ref string) (artifact.Checked, error) {
	t.Helper()
	in := artifact.CheckInput{Source: w.source(""), Fresh: true}
	if ref != "" {
		in.From = map[string]artifact.Version{"": {"ref": ref}}
	}
	return shared.client.Check(t.Context(), target, i, in)
}

func found(t *testing.T, c artifact.Checked, err error) string {
	t.Helper()
	v, ok := c.Found()
	if err != nil || !ok {
		return "none"
	}
	return v.Version["ref"]
}

// time-resource prints null where there is nothing yet.
func TestV1_NullIsNotAVersion(t *testing.T) {
	w, target, i := v1(t)
	w.says("check", "null\n")
	c, err := checkFrom(t, w, target, i, "")
	if err != nil || len(c.Spaces) > 0 || i.Protocol != artifact.Concourse1 {
		t.Errorf("%+v, %v", c, err)
	}
}

// Concourse reads the first value, and no more.
func TestV1_SecondValueIsIgnored(t *testing.T) {
	w, target, i := v1(t)
	w.says("check", "[{\"ref\":\"1\"}]\n[{\"ref\":\"2\"}]\n")
	if c, err := checkFrom(t, w, target, i, ""); found(t, c, err) != "1" {
		t.Errorf("%+v, %v", c, err)
	}
	for _, answer := range []string{`[{"ref":1}]`, `[{"ref":null}]`, `{"ref":"1"}`, `hello`, `["1"]`} {
		w.says("check", answer)
		if c, err := checkFrom(t, w, target, i, ""); artifact.ClassOf(err) != artifact.Broken {
			t.Errorf("%s: %+v, %v", answer, c, err)
		}
	}
}

// mock-resource and registry-image-resource refuse every key that they do not know.
func TestV1_KeysAreStrict(t *testing.T) {
	w, target, i := v1(t)
	strict := func(step string, into func() any) {
		answer := w.answers[step]
		w.answers[step] = func(request string) (string, bool) {
			request, _, _ = strings.Cut(request, "\nfile=")
			if n := strings.LastIndex(request, "}"); n >= 0 {
				request = request[:n+1]
			}
			d := json.NewDecoder(strings.NewReader(request))
			d.DisallowUnknownFields()
			if err := d.Decode(into()); err != nil {
				t.Errorf("%s: %v in %s", step, err, request)
				return err.Error(), false
			}
			return answer(request)
		}
	}
	type source struct{ URI string }
	strict("check", func() any {
		return &struct {
			Source  source
			Version map[string]string
		}{}
	})
	strict("in", func() any {
		return &struct {
			Source  source
			Params  map[string]any
			Version map[string]string
		}{}
	})
	strict("out", func() any {
		return &struct {
			Source source
			Params map[string]any
		}{}
	})
	for _, from := range []string{"", "1"} {
		if c, err := checkFrom(t, w, target, i, from); found(t, c, err) != "2" {
			t.Errorf("%+v, %v", c, err)
		}
	}
	if _, err := fetch(t, w, target, i, "2", `{"depth":1}`); err != nil {
		t.Error(err)
	}
	if _, err := put(t, w, target, i); err != nil {
		t.Error(err)
	}
}

func fetch(t *testing.T, w *world, target artifact.Target, i artifact.Info, ref, params string) (artifact.Held, error) {
	t.Helper()
	v := artifact.Versioned{Version: artifact.Version{"ref": ref}}
	if i.Protocol == artifact.Artifacts2 {
		v.Space = "main"
	}
	return shared.store.Fetch(t.Context(), artifact.Order{Name: "a", Target: target,
		Recipe: artifact.NewRecipe(i, target.Settings, w.source(""), []byte(params), v)})
}

// put publishes a directory repo with a file.
func put(t *testing.T, w *world, target artifact.Target, i artifact.Info) (artifact.Put, error) {
	t.Helper()
	repo := filepath.Join(t.TempDir(), "repo")
	if err := errors.Join(os.MkdirAll(repo, 0o755), os.WriteFile(filepath.Join(repo, "file"), []byte("made"), 0o644)); err != nil {
		t.Fatal(err)
	}
	p, err := shared.client.Put(t.Context(), target, i, artifact.PutInput{ID: t.Name() + filepath.Base(filepath.Dir(repo)), Source: w.source(""),
		Fill: func(dir string) error { return tree.Copy(t.Context(), repo, filepath.Join(dir, "repo")) }})
	if entries, rerr := os.ReadDir(repo); rerr != nil || len(entries) != 1 {
		t.Errorf("the input was changed: %v, %v", entries, rerr)
	}
	return p, err
}

// mock-resource adds a key to the version that it is asked for; git-resource adds a type to
// each field of its metadata; both keep what was asked for.
func TestV1_VersionOfInMayHaveMore(t *testing.T) {
	w, target, i := v1(t)
	w.says("in", `{"version":{"ref":"2","privileged":"true"},"metadata":[{"name":"author","value":"ann","type":"text"}],"more":1}`)
	h, err := fetch(t, w, target, i, "2", "")
	if err != nil {
		t.Fatal(err)
	}
	if !h.Version.Is(artifact.Version{"ref": "2"}) || len(h.Metadata) != 1 || h.Metadata[0] != (artifact.Field{Name: "author", Value: "ann"}) {
		t.Errorf("%+v", h.Entry)
	}
	if b, err := os.ReadFile(filepath.Join(h.Dir, "version")); string(b) != "content\n" || err != nil {
		t.Errorf("%q, %v", b, err)
	}
	// What time-resource leaves holds its source.
	if b, err := os.ReadFile(filepath.Join(h.Dir, "input")); !strings.Contains(string(b), w.URL) || err != nil {
		t.Errorf("%q, %v", b, err)
	}
	again, err := fetch(t, w, target, i, "2", "")
	if err != nil || again.Fetched || len(w.asked["in"]) != 1 {
		t.Errorf("fetched %d times, %v", len(w.asked["in"]), err)
	}
}

// git-resource says [] after a force push to an ancestor; asked anew it names the newest.
func TestV1_RewrittenHistoryIsQueriedAgain(t *testing.T) {
	w, target, i := v1(t)
	w.answers["check"] = func(request string) (string, bool) {
		if strings.Contains(request, `"version"`) {
			return "[]", true
		}
		return `[{"ref":"0"}]`, true
	}
	c, err := checkFrom(t, w, target, i, "2")
	if found(t, c, err) != "0" || c.Spaces[""].Continues || len(w.asked["check"]) != 2 {
		t.Errorf("%+v, %v", c, err)
	}
	w.says("check", "[]")
	if c, err = checkFrom(t, w, target, i, "2"); err != nil || !c.Silent {
		t.Errorf("silent: %+v, %v", c, err)
	}
}

// The newest of a registry is an older one when a tag was deleted.
func TestV1_NewestMayMoveBackwards(t *testing.T) {
	w, target, i := v1(t)
	c, err := checkFrom(t, w, target, i, "1")
	if found(t, c, err) != "2" || !c.Spaces[""].Continues {
		t.Errorf("%+v, %v", c, err)
	}
	w.says("check", `[{"ref":"1"}]`)
	if c, err = checkFrom(t, w, target, i, "2"); found(t, c, err) != "1" || c.Spaces[""].Continues {
		t.Errorf("%+v, %v", c, err)
	}
}

// git-resource's out writes into its input, and fails when it finds that again: so each
// put has a copy of its own, also with users of its own.
func TestV1_OutWritesIntoItsInput(t *testing.T) {
	for _, users := range []runner.UserNS{runner.HostUserNS, runner.AutoUserNS} {
		w, target, _ := v1(t)
		target.Settings.UserNS = users
		i := about(t, target)
		for range 2 {
			p, err := put(t, w, target, i)
			if err != nil || len(p.Created) != 1 || p.Created[0].Version["ref"] != "3" {
				t.Errorf("%s: %+v, %v", users, p, err)
			}
		}
		if c, err := checkFrom(t, w, target, i, ""); found(t, c, err) != "2" {
			t.Errorf("%s: check: %+v, %v", users, c, err)
		}
		h, err := fetch(t, w, target, i, "2", "")
		if err != nil {
			t.Fatalf("%s: %v", users, err)
		}
		if err := os.WriteFile(filepath.Join(h.Dir, "x"), nil, 0o600); err != nil {
			t.Error(err)
		}
		if err := os.Remove(filepath.Join(h.Dir, "x")); err != nil {
			t.Error(err)
		}
	}
}

func TestV1_VersionThatIsGoneIsUnavailable(t *testing.T) {
	w, target, i := v1(t)
	delete(w.answers, "in")
	if _, err := fetch(t, w, target, i, "9", ""); artifact.ClassOf(err) != artifact.Failed || !strings.Contains(err.Error(), "The version is unavailable") {
		t.Errorf("%v", err)
	}
}
