//go:build providers

package resource

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"deployster/protocol"
)

// first is a provider of before the SDK was a module of its own.
func first(t *testing.T, name string) *Providers {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	cmd := exec.Command("go", "build", "-mod=mod", "-o", path, "github.com/terraform-providers/terraform-provider-"+name)
	cmd.Dir = "../../testdata/providers/first"
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("the provider cannot be built: %v: %s", err, out)
	}
	p := &Providers{Path: path}
	t.Cleanup(p.Close)
	return p
}

// Providers that many have used for years make, keep, replace and destroy their things.
func TestLife_OfFirstProviders(t *testing.T) {
	built := map[string]*Providers{}
	for _, c := range []struct{ provider, kind, config, later, want string }{
		{"random", "random_pet", `{"length":2}`, `{"length":3}`, `"length":3`},
		{"random", "random_string", `{"length":16}`, `{"length":20,"special":false}`, `"result":"`},
		{"random", "random_integer", `{"min":1,"max":"9"}`, `{"min":1,"max":9,"keepers":{"a":"b"}}`, `"a":"b"`},
		{"random", "random_shuffle", `{"input":["a","b"]}`, `{"input":["a"]}`, `["a"]`},
		{"null", "null_resource", `{}`, `{"triggers":{"a":"1"}}`, `"a":"1"`},
		{"tls", "tls_private_key", `{"algorithm":"ECDSA"}`, `{"algorithm":"ECDSA","ecdsa_curve":"P256"}`, `BEGIN EC PRIVATE KEY`},
	} {
		if built[c.provider] == nil {
			built[c.provider] = first(t, c.provider)
		}
		t.Run(c.kind, func(t *testing.T) {
			l := &life{Providers: built[c.provider], t: t, kind: c.kind}
			made := l.apply(l.input(c.config), "create")
			if made.Status != protocol.Valid {
				t.Fatalf("after create: %+v", made)
			}
			if again := l.ask(l.input(c.config)); again.Status != protocol.Valid || string(again.State) != string(made.State) {
				t.Errorf("asked again: %+v", again)
			}
			replaced := l.apply(l.input(c.later), "delete,create")
			if replaced.Status != protocol.Valid || !strings.Contains(string(replaced.State), c.want) || string(replaced.State) == string(made.State) {
				t.Errorf("after its replacement: %s %s", replaced.Status, replaced.State)
			}
			if again := l.ask(l.input(c.later)); again.Status != protocol.Valid || string(again.State) != string(replaced.State) {
				t.Errorf("asked again after its replacement: %+v", again)
			}
			gone := l.input(c.later)
			gone.Intent = protocol.Absent
			if end := l.apply(gone, "delete"); end.Status != protocol.Missing {
				t.Errorf("after delete: %+v", end)
			}
		})
	}
}

// Their data sources look things up, and what they say of secrets is a secret here.
func TestData_OfFirstProviders(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		_, _ = fmt.Fprint(w, "asked by "+r.Header.Get("Who"))
	}))
	t.Cleanup(server.Close)
	look := func(p *Providers, kind, config, want string) {
		t.Helper()
		l := &life{Providers: p, t: t, kind: kind}
		if read := l.ask(l.input(config)); read.Status != protocol.Valid || !strings.Contains(string(read.State), want) {
			t.Errorf("%s says %s, without %s", kind, read.State, want)
		}
	}
	look(first(t, "http"), "data.http", `{"url":`+quoted(server.URL)+`,"request_headers":{"Who":"me"}}`, `"body":"asked by me"`)
	look(first(t, "null"), "data.null_data_source", `{"inputs":{"a":"x"}}`, `"outputs":{"a":"x"}`)
	p := first(t, "tls")
	key := &life{Providers: p, t: t, kind: "tls_private_key"}
	var state struct {
		PEM string `json:"private_key_pem"`
	}
	if err := json.Unmarshal(key.apply(key.input(`{"algorithm":"ECDSA"}`), "create").State, &state); err != nil {
		t.Fatal(err)
	}
	look(p, "data.tls_public_key", `{"private_key_pem":`+quoted(state.PEM)+`}`, `"algorithm":"ECDSA"`)
	a, err := p.Init(t.Context(), protocol.InitInput{Type: "tf/tls:1#tls_private_key"})
	if err != nil || !strings.Contains(string(a.StateSchema), `"private_key_pem"`) {
		t.Errorf("%s, %v", a.StateSchema, err)
	}
}
