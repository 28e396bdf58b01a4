package resource

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deployster/protocol"
)

// An ephemeral resource is opened, renewed and closed, each in a process of its own, by both protocols; what is opened and
// cannot be given is closed again.
func TestSecret_IsOpenedRenewedAndClosed(t *testing.T) {
	built, in := worldly(t, func(w http.ResponseWriter, _ string) { w.WriteHeader(http.StatusOK) })
	for _, version := range []string{"5", "6"} {
		record := filepath.Join(t.TempDir(), "record")
		t.Setenv("TEST_RECORD", record)
		t.Setenv("TEST_PROTOCOL", version)
		ask := func(config, request string, lease *Lease) (SecretAnswer, error) {
			p := &Providers{Path: built.Path}
			defer p.Close()
			provider := strings.Split(string(in.Config), `"provider":`)[1]
			return p.Secret(t.Context(), SecretInput{InitInput: protocol.InitInput{Name: "secret.db", Type: "tf/test:1#ephemeral.test_login"},
				Config: json.RawMessage(`{` + config + `,"provider":` + provider), Lease: lease, Request: request}, io.Discard)
		}
		calls := func() (list []string) {
			text, err := os.ReadFile(record)
			if err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(string(text)) {
				var r struct {
					Call   string
					Values map[string]string
				}
				if err := json.Unmarshal([]byte(line), &r); err != nil {
					t.Fatal(err)
				}
				if name, is := strings.CutSuffix(r.Call, "EphemeralResource"); is {
					list = append(list, name+" "+r.Values["private"])
				}
			}
			return list
		}
		a, err := ask(`"user":"shop","attribute":"password"`, "", nil)
		if err != nil || a.Value != "pass-word-of-shop" || a.Lease == nil || a.Renew == nil || time.Until(*a.Renew) > time.Second {
			t.Fatalf("%+v, %v", a, err)
		}
		renewed, err := ask(`"user":"shop"`, "renew", a.Lease)
		if err != nil || renewed.Value != "" || renewed.Renew == nil {
			t.Errorf("renewed: %+v, %v", renewed, err)
		}
		if _, err := ask(`"user":"shop"`, "close", renewed.Lease); err != nil {
			t.Error(err)
		}
		whole, err := ask(`"user":"web"`, "", nil)
		if err != nil || whole.Value != `{"password":"pass-word-of-web","port":5432,"user":"web"}` {
			t.Errorf("the whole result: %+v, %v", whole, err)
		}
		if port, err := ask(`"user":"web","attribute":"port"`, "", nil); err != nil || port.Value != "5432" {
			t.Errorf("a number: %+v, %v", port, err)
		}
		for config, want := range map[string]string{`"user":"refused"`: "No such user", `"user":"a","attribute":"pasword"`: "no attribute",
			`"user":"empty","attribute":"password"`: "no value", `"usr":"a"`: "does not know it"} {
			if a, err := ask(config, "", nil); err == nil || !strings.Contains(err.Error(), want) || a.Value != "" || a.Lease != nil {
				t.Errorf("%s: %+v, %v", config, a, err)
			}
		}
		want := `Open , Renew "lease of shop", Close "lease of shop, renewed", Open , Open , Open , Close "lease of empty"`
		if got := strings.Join(calls(), ", "); got != want {
			t.Errorf("protocol %s: the calls are %s, want %s", version, got, want)
		}
	}
}

// Init declares a secret, whose config has that of the provider and which attribute is the value.
func TestInitSecret_Describes(t *testing.T) {
	p, _ := worldly(t, func(http.ResponseWriter, string) {})
	a, is, err := p.InitSecret(t.Context(), protocol.InitInput{Type: "tf/test:1#ephemeral.test_login"})
	if err != nil || !is || len(a.Secret.Args) != 1 {
		t.Fatalf("%+v, %t, %v", a, is, err)
	}
	for _, part := range []string{`"attribute"`, `"provider"`, `"required":["user"]`, `"world"`} {
		if !strings.Contains(string(a.ConfigSchema), part) {
			t.Errorf("%s lacks %s", a.ConfigSchema, part)
		}
	}
	for _, kind := range []string{"test_object", "ephemeral.test_logn", ""} {
		if _, is, err := p.InitSecret(t.Context(), protocol.InitInput{Type: "tf/test:1#" + kind}); is || err != nil {
			t.Errorf("%s: %t, %v", kind, is, err)
		}
	}
	if _, err := p.Init(t.Context(), protocol.InitInput{Type: "tf/test:1#ephemeral.test_logn"}); err == nil || !strings.Contains(err.Error(), "Did you mean ephemeral.test_login?") {
		t.Error(err)
	}
}
