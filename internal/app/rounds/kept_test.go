package rounds_test

import (
	"context"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"deployster/apply"
	"deployster/internal/app"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/runnertest"
	"deployster/plan"
)

// keys writes a private key and its public one, and returns the names of their files.
func (s *site) keys() (private, public string) {
	s.t.Helper()
	known, secret, err := ed25519.GenerateKey(nil)
	if err != nil {
		s.t.Fatal(err)
	}
	for name, key := range map[string]any{"key.pem": secret, "key.pub": known} {
		kind, encode := "PRIVATE KEY", x509.MarshalPKCS8PrivateKey
		if name == "key.pub" {
			kind, encode = "PUBLIC KEY", x509.MarshalPKIXPublicKey
		}
		der, err := encode(key)
		if err == nil {
			err = os.WriteFile(filepath.Join(s.dir, name), pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600)
		}
		if err != nil {
			s.t.Fatal(err)
		}
	}
	return "key.pem", "key.pub"
}

// numbered is an artifact image whose versions are numbers up to the newest.
func numbered(newest *atomic.Int64) runnertest.Program {
	return func(_ context.Context, s runner.Spec, stdin io.Reader, stdout, _ io.Writer) int {
		var in struct{ Version map[string]string }
		if !strings.HasSuffix(s.Entrypoint, "/check") || json.NewDecoder(stdin).Decode(&in) != nil {
			return 1
		}
		from, err := strconv.ParseInt(in.Version["ref"], 10, 64)
		if err != nil {
			from = newest.Load()
		}
		var all []map[string]string
		for n := from; n <= newest.Load(); n++ {
			all = append(all, map[string]string{"ref": strconv.FormatInt(n, 10)})
		}
		_ = json.NewEncoder(stdout).Encode(all)
		return 0
	}
}

// A round uses the versions of artifacts that the plan has found, also where only a deferred block uses one, and the next plan
// finds what is newer.
func TestRounds_UseTheSameVersions(t *testing.T) {
	manifest := strings.Replace(names, "name = each.key }", "name = each.key, own = artifact.own.version.ref, both = artifact.both.version.ref }", 1)
	manifest = strings.Replace(manifest, `["x", "y"] }`, `["x", "y"], both = artifact.both.version.ref }`, 1)
	for _, name := range []string{"own", "both"} {
		manifest += "artifact \"" + name + "\" {\n  type   = \"lines\"\n  source = { uri = \"" + name + "\" }\n}\n"
	}
	s, newest := newSite(t, manifest), &atomic.Int64{}
	newest.Store(1)
	s.add("lines", numbered(newest))
	s.fake.AddFiles("lines", "/opt/resource/check", "/opt/resource/in")
	s.world.Watch(func(name, _ string) {
		if name == "list" {
			newest.Store(2)
		}
	})
	report, err := s.apply(app.ApplyOptions{Approval: auto})
	if err != nil || report.Status != apply.OK || s.things() != everything || newest.Load() != 2 {
		t.Fatalf("%+v, %v: there are %s", report, err, s.things())
	}
	if have := s.world.Things()[`node["x"]`]; !strings.Contains(have, `"both":"1"`) || !strings.Contains(have, `"own":"1"`) {
		t.Errorf("the round made %s", have)
	}
	if p := s.plan(app.PlanOptions{}); p.Summary.Update != 1 || p.Later["node"].Sort == "" {
		t.Errorf("then it plans %+v", p.Summary)
	}
}

// What is recorded below a deferred block is left, also where nothing depends on it.
func TestRounds_LeaveWhatMayBeAnInstance(t *testing.T) {
	manifest, _, _ := strings.Cut(names, `resource "last"`)
	s := newSite(t, manifest)
	if report, err := s.apply(app.ApplyOptions{Approval: auto}); err != nil || report.Status != apply.OK {
		t.Fatal(report, err)
	}
	s.write(strings.Replace(manifest, `["x", "y"]`, `["y"]`, 1))
	p := s.plan(app.PlanOptions{})
	if p.Later[`node["x"]`].Sort != plan.LaterEntry || p.Later[`node["y"]`].Sort != plan.LaterEntry || p.Summary.Destroy != 0 || len(p.Resources) != 1 {
		t.Errorf("it plans %+v", p)
	}
	report, err := s.apply(app.ApplyOptions{Approval: auto})
	if err != nil || report.Status != apply.Incomplete || s.things() != `list node["x"] node["y"]` {
		t.Errorf("%+v, %v: there are %s", report, err, s.things())
	}
}
