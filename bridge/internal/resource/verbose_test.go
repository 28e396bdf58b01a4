package resource

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"deployster/protocol"
)

// Who wants more log gets that of the provider, with what the provider says of itself then;
// others do not, and what the environment says of it counts.
func TestVerbose_ShowsTheLogOfTheProvider(t *testing.T) {
	p, in := worldly(t, func(w http.ResponseWriter, id string) { _, _ = fmt.Fprintf(w, `{"id":%q,"label":"a"}`, id) })
	in.Memory = memoryOf("x")
	ask := func(verbose bool) string {
		t.Helper()
		var log bytes.Buffer
		in.Verbose = verbose
		if a, err := p.State(t.Context(), in, &log); err != nil || a.Status != protocol.Valid {
			t.Fatalf("%+v, %v", a, err)
		}
		return log.String()
	}
	if said := ask(true); !strings.Contains(said, "INFO: ReadResource was called\n") || strings.Contains(said, "StopProvider") {
		t.Errorf("asked for more, it says %q", said)
	}
	if said := ask(false); said != "" {
		t.Errorf("not asked for more, it says %q", said)
	}
	if said := ask(true); strings.Count(said, "ReadResource") != 1 {
		t.Errorf("asked once more, it says %q", said)
	}
	t.Setenv("TF_LOG", "TRACE")
	other := &Providers{Path: p.Path}
	t.Cleanup(other.Close)
	var log bytes.Buffer
	in.Verbose = true
	if _, err := other.State(t.Context(), in, &log); err != nil || !strings.Contains(log.String(), "TRACE: ReadResource was called") {
		t.Errorf("the environment says TRACE, and the log %q, %v", log.String(), err)
	}
}

// The kind "provider" is the provider itself: it has the config, and no things.
func TestInit_OfTheProviderItself(t *testing.T) {
	p, in := worldly(t, func(http.ResponseWriter, string) {})
	in.Type = "tf/test:1#provider"
	a, err := p.Init(t.Context(), in.InitInput)
	if err != nil || !strings.Contains(string(a.ConfigSchema), `"region"`) || a.Memory || a.Absent || !strings.HasPrefix(a.Label, "the config of a provider of ") {
		t.Errorf("%+v, %v", a, err)
	}
	if _, err := p.State(t.Context(), in, io.Discard); err == nil || !strings.Contains(err.Error(), "has no provider") {
		t.Errorf("it has a state: %v", err)
	}
}

// What names a thing is the id that is adopted, together with the config of the provider,
// where that has one: two resources with one id are one thing. A data source names none.
func TestInit_DeclaresIdentity(t *testing.T) {
	test, in := worldly(t, func(http.ResponseWriter, string) {})
	for _, c := range []struct {
		p          *Providers
		kind, want string
	}{{test, in.Type, "/provider /import"}, {timeProvider(t), "tf/time:0#time_static", "/import"}, {test, "tf/test:1#data.test_text_both", ""}} {
		a, err := c.p.Init(t.Context(), protocol.InitInput{Type: c.kind})
		if got := strings.Join(a.Identity, " "); err != nil || got != c.want {
			t.Errorf("%s: %q, %v, want %q", c.kind, got, err, c.want)
		}
	}
}
