package certificates

import (
	"bytes"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deployster/machine/internal/access"
	"deployster/machine/internal/kindtest"
	"deployster/protocol"
)

type config = kindtest.Config

// world is a machine in a directory, with a clock of its own.
type world struct {
	*access.Machine
	t   *testing.T
	now time.Time
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{&access.Machine{Root: t.TempDir()}, t, time.Now()}
	for _, directory := range []string{"/etc", "/srv"} {
		w.must(os.Mkdir(w.Path(directory), 0o755))
	}
	w.write("/etc/passwd", "root:x:0:0::/root:/bin/sh\nwww:x:33:33::/srv:/bin/sh\n")
	w.write("/etc/group", "root:x:0:\nwww:x:33:\n")
	return w
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) write(path, text string) {
	w.t.Helper()
	w.must(os.MkdirAll(filepath.Dir(w.Path(path)), 0o755))
	w.must(os.WriteFile(w.Path(path), []byte(text), 0o600))
}

func (w *world) resource() *kindtest.Resource {
	return kindtest.New(w.t, newAt(w.Machine, func() time.Time { return w.now }))
}

func (w *world) read(path string) string {
	w.t.Helper()
	text, err := os.ReadFile(w.Path(path))
	w.must(err)
	return string(text)
}

func (w *world) list(path string) (list []*x509.Certificate) {
	w.t.Helper()
	list, err := Certificate{machine: w.Machine}.certificates(path)
	w.must(err)
	return list
}

func (w *world) mode(path string) os.FileMode {
	w.t.Helper()
	info, err := os.Stat(w.Path(path))
	w.must(err)
	return info.Mode().Perm()
}

const site = "/srv/site.pem"

// verifies wants a client that trusts an authority to accept the certificate of a name.
func (w *world) verifies(trusted, path, name string) {
	w.t.Helper()
	roots, between := x509.NewCertPool(), x509.NewCertPool()
	roots.AddCert(w.list(trusted)[0])
	chain := w.list(path)
	for _, one := range chain[1:] {
		between.AddCert(one)
	}
	if _, err := chain[0].Verify(x509.VerifyOptions{DNSName: name, Roots: roots, Intermediates: between, CurrentTime: w.now}); err != nil {
		w.t.Errorf("%s for %s: %v", path, name, err)
	}
}

func TestCertificate_KeyIsNeverInAnAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, kind := range []string{"ecdsa-p256", "ecdsa-p384", "rsa-2048"} {
		r := w.resource()
		c := config{"path": "/srv/" + kind + ".crt", "common_name": "web.example.org", "key_type": kind}
		first := r.Apply(c)
		c["dns_names"] = []string{"web.example.org", "192.0.2.7"}
		second := r.Apply(c)
		if mode := w.mode("/srv/" + kind + ".key"); mode != 0o600 {
			t.Errorf("the mode of the key is %o", mode)
		}
		block, _ := pem.Decode([]byte(w.read("/srv/" + kind + ".key")))
		text, err := json.Marshal([]any{first, second, r.State(c), r.StateAbsent(c), string(r.Last), r.Log.String()})
		w.must(err)
		all := base64.StdEncoding.EncodeToString(block.Bytes)
		for at := 0; at+24 < len(all); at += 8 {
			if bytes.Contains(text, []byte(all[at:at+24])) || strings.Contains(string(text), "PRIVATE") {
				t.Fatalf("%s: a part of the key is in %s", kind, text)
			}
		}
		w.verifies("/srv/"+kind+".crt", "/srv/"+kind+".crt", "192.0.2.7")
		r.Destroy(c)
		if left, _ := filepath.Glob(w.Path("/srv/" + kind + "*")); len(left) > 0 {
			t.Errorf("%q is left", left)
		}
		r.Destroy(c)
	}
}

func TestCertificate_RenewalBeforeItsEndIsDrift(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for days, renewBefore := range map[int]int{90: 0, 60: 10} {
		r := w.resource()
		c := config{"path": site, "common_name": "web.example.org", "days": days}
		if renewBefore > 0 {
			c["renew_before"] = renewBefore
		}
		r.Apply(c)
		key, one, begin := w.read("/srv/site.key"), w.list(site)[0], w.now
		due := time.Duration(days-renewBefore) * day
		if renewBefore == 0 {
			due = time.Duration(days)*day*2/3 - time.Minute
		}
		w.now = begin.Add(due - time.Hour)
		r.Valid(c)
		w.now = begin.Add(due + time.Hour)
		a := r.Apply(c)
		if len(a.Reasons) != 1 || a.Reasons[0].Path != "/renew_before" || kindtest.Names(a) != "update" ||
			strings.Contains(a.Actions[0].Description, "20") {
			t.Errorf("%+v", a)
		}
		if again := w.list(site)[0]; !again.NotAfter.After(one.NotAfter) || w.read("/srv/site.key") != key {
			t.Errorf("it ends at %s, and ended at %s; the key is the same: %v", again.NotAfter, one.NotAfter, w.read("/srv/site.key") == key)
		}
		w.now = w.list(site)[0].NotAfter.Add(time.Hour)
		if a := r.Apply(c); !strings.HasPrefix(a.Reasons[0].Message, "it ended at") {
			t.Errorf("%+v", a.Reasons)
		}
		w.now = begin.Add(-10 * day)
		if a := r.Apply(c); !strings.Contains(a.Reasons[0].Message, "the clock of the machine shows") {
			t.Errorf("%+v", a.Reasons)
		}
		r.Destroy(c)
	}
}

func TestCertificate_OfAnAuthority(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	root, middle, leaf := w.resource(), w.resource(), w.resource()
	ca := config{"path": "/srv/ca/root.pem", "common_name": "Root", "ca": true, "days": 3650}
	between := config{"path": "/srv/ca/middle.pem", "common_name": "Middle", "ca": true, "issuer": "/srv/ca/root.pem"}
	c := config{"path": site, "common_name": "web.example.org", "dns_names": []string{"WEB.example.org", "www.example.org"},
		"issuer": "/srv/ca/middle.pem", "owner": "www", "group": "www"}
	if a := leaf.State(c); a.Status != protocol.Stale || a.Error != nil {
		t.Errorf("%+v", a)
	}
	leaf.Fails(c, "there is no certificate of the authority in /srv/ca/middle.pem")
	w.must(os.Mkdir(w.Path("/srv/ca"), 0o755))
	root.Apply(ca)
	middle.Apply(between)
	leaf.Apply(c)
	w.verifies("/srv/ca/root.pem", site, "www.example.org")
	if n := len(w.list(site)); n != 2 {
		t.Errorf("the chain has %d certificates", n)
	}
	w.now = w.now.Add(3000 * day)
	root.Apply(ca) // with the same key
	w.now = w.now.Add(-3000 * day)
	leaf.Valid(c)
	w.must(os.Remove(w.Path("/srv/ca/middle.key")))
	middle.Apply(between)
	if a := leaf.Apply(c); a.Reasons[0].Path != "/issuer" {
		t.Errorf("%+v", a.Reasons)
	}
	c["issuer"] = "self"
	if a := leaf.Apply(c); a.Reasons[0].Message != "it is signed by another authority, CN=Middle" {
		t.Errorf("%+v", a.Reasons)
	}
	leaf.Fails(config{"path": "/srv/x.pem", "common_name": "x", "issuer": site}, "may not sign others")
	if a := root.StateAbsent(ca); !a.Actions[0].Destructive {
		t.Errorf("%+v", a.Actions)
	}
	if a := leaf.StateAbsent(c); a.Actions[0].Destructive {
		t.Errorf("%+v", a.Actions)
	}
}

func TestCertificate_DriftOfItsFiles(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.resource()
	c := config{"path": site, "common_name": "web.example.org", "key_path": "/srv/private.key"}
	r.Apply(c)
	raw := w.read(site)
	for _, one := range []struct {
		do, path string
		fresh    bool
	}{
		{"chmod 644 /srv/private.key", "/key_path", false},
		{"chown 33 /srv/private.key", "/owner", false},
		{"chgrp 33 /srv/site.pem", "/group", false},
		{"rm /srv/private.key", "/key_path", true},
		{"rm /srv/site.pem", "", true},
		{"cp /srv/private.key /tmp; mv /srv/site.pem /srv/kept; ln -s kept /srv/site.pem", "/path", false},
	} {
		kindtest.Shell(t, strings.NewReplacer("/srv", w.Path("/srv"), "/tmp", w.Path("/etc")).Replace(one.do))
		a := r.Apply(c)
		if one.path != "" && (len(a.Reasons) != 1 || a.Reasons[0].Path != one.path) {
			t.Errorf("%s: %+v", one.do, a.Reasons)
		}
		if now := w.read(site); now == raw && one.fresh || now != raw && !one.fresh {
			t.Errorf("%s: signed again: %v", one.do, now != raw)
		}
		raw = w.read(site)
		if mode := w.mode("/srv/private.key"); mode != 0o600 {
			t.Errorf("%s: the mode of the key is %o", one.do, mode)
		}
	}
}

func TestCertificate_OtherFilesAreKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := config{"path": site, "common_name": "web.example.org"}
	for _, one := range []struct{ path, text, want string }{
		{site, "notes\n", "/srv/site.pem holds no certificate, and is not replaced"},
		{"/srv/site.key", "notes\n", "/srv/site.key holds no private key, and is not replaced"},
		{"/srv/site.key", "-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----\n", "holds a key that cannot be read"},
		{site, "-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----\n", "holds a PRIVATE KEY"},
	} {
		w.write(one.path, one.text)
		r := w.resource()
		r.Fails(c, one.want)
		r.DestroyFails(c, one.want)
		if got := w.read(one.path); got != one.text {
			t.Errorf("%s is %q", one.path, got)
		}
		w.must(os.Remove(w.Path(one.path)))
	}
}

func TestCertificate_BadConfigs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, one := range []struct {
		with  config
		texts []string
	}{
		{config{"dns_names": []string{"a b"}}, []string{"/dns_names/0", `"a b" is neither`}},
		{config{"common_name": "Our Site"}, []string{"/dns_names", "list in dns_names"}},
		{config{"renew_before": 90}, []string{"/renew_before", "would be renewed all the time"}},
		{config{"issuer": site}, []string{"/issuer", "write self"}},
		{config{"key_path": site}, []string{"/key_path", "the key needs another"}},
		{config{"webroot": "/srv"}, []string{"/webroot", "for a server of ACME"}},
		{config{"issuer": "https://a.example/dir"}, []string{"/webroot", "reads a file of each name"}},
		{config{"issuer": "https://a.example/dir", "webroot": "/srv"}, []string{"/accept_terms", "has terms"}},
		{config{"issuer": "https://a.example/dir", "webroot": "/srv", "accept_terms": true, "ca": true}, []string{"/ca"}},
		{config{"issuer": "https://a.example/dir", "webroot": "/srv", "accept_terms": true, "dns_names": []string{"*.a.example"}},
			[]string{"/dns_names", "wildcard"}},
	} {
		c := config{"path": site, "common_name": "web.example.org"}
		for key, value := range one.with {
			c[key] = value
		}
		w.resource().Fails(c, append(one.texts, "config")...)
	}
	if left, _ := filepath.Glob(w.Path("/srv/*")); len(left) > 0 {
		t.Errorf("%q was made", left)
	}
}

func TestCertificate_WatchReportsRenewal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.resource()
	c := config{"path": site, "common_name": "web.example.org"}
	r.Apply(c)
	w.now = w.now.Add(61 * day)
	select {
	case got := <-r.Watch(c):
		if !strings.Contains(got, "to be renewed") {
			t.Errorf("%s", got)
		}
	case <-time.After(time.Minute):
		t.Error("no event came")
	}
}
