package versions

import (
	"encoding/json"
	"strings"
	"testing"

	"deployster/internal/runtime/artifact"
	"deployster/internal/runtime/artifact/artifacttest"
	"deployster/state"
)

// needs is a state with a version of the line of artifact.site: of an artifact of another name, or of resources only.
func needs(ref string, current bool) state.Snapshot {
	pin := state.Pin{Name: "other", Type: "acme/line:2", Recipe: artifact.Recipe{Source: json.RawMessage(`{"uri":"u"}`), Space: "main",
		Version: artifact.Version{"ref": ref, "by": "ann"}}}
	if current {
		return state.Snapshot{Artifacts: map[string]state.Artifact{"other": {Pin: pin}}}
	}
	return state.Snapshot{Pins: map[string]state.Pin{"key": pin}}
}

// A version that the state or a pin needs is never deleted, whatever artifact needs it; another one is gone afterwards.
func TestDeletable_RefusesWhatIsNeeded(t *testing.T) {
	t.Parallel()
	const alias = manifest + `
artifact "same" {
  type    = "acme/line:2"
  source  = { uri = "u" }
  version = { ref = "1", by = "ann" }
}
`
	for name, c := range map[string]struct {
		text, lock string
		prior      state.Snapshot
		of, ref    string
		want       string
	}{
		"not needed":                  {manifest, "", needs("2", true), "site", "1", ""},
		"recorded for another":        {manifest, "", needs("1", true), "site", "1", "the state records it for artifact.other"},
		"a resource was made with it": {manifest, "", needs("1", false), "site", "1", "resources of the state were made with it"},
		"pinned by another":           {alias, "", state.Snapshot{}, "site", "1", "is pinned for artifact.same in the manifest"},
		"pinned in the lock file": {manifest, "artifact \"site\" {\n  space = \"main\"\n  version = { ref = \"1\", by = \"ann\" }\n}\n",
			state.Snapshot{}, "site", "1", "is pinned for artifact.site in the lock file"},
		"not listed":          {manifest, "", state.Snapshot{}, "site", "0", "No version fits"},
		"an image without it": {manifest, "", state.Snapshot{}, "old", "a", "has no delete"},
		"no such artifact":    {manifest, "", state.Snapshot{}, "sit", "1", "Did you mean"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, c.text, c.lock, c.prior)
			_, remove, err := s.Deletable(t.Context(), c.of, artifact.Version{"ref": c.ref})
			if c.want != "" {
				if err == nil || !strings.Contains(err.Error(), c.want) || remove != nil {
					t.Errorf("error %v, expected: %s", err, c.want)
				}
				return
			}
			if err == nil {
				err = remove(t.Context())
			}
			if err != nil {
				t.Fatal(err)
			}
			s.world.Change(`{"uri":"u"}`, func(l *artifacttest.Line) {
				if len(l.Spaces["main"]) != 2 || l.Spaces["main"][0].Version["ref"] != "2" {
					t.Errorf("left: %v", l.Spaces["main"])
				}
			})
		})
	}
}
