//go:build machines

package certificates

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"deployster/protocol"
)

// server is a real server of ACME on loopback, which resolves all names to it.
type server struct {
	url, authority string
	hits           int // what it read of the web server
}

// serverOf builds and starts pebble, with a web server that shows the webroot of a machine.
func serverOf(t *testing.T, w *world) *server {
	t.Helper()
	bin := t.TempDir()
	for _, name := range []string{"pebble", "pebble-challtestsrv"} {
		c := exec.Command("go", "build", "-o", filepath.Join(bin, name), "github.com/letsencrypt/pebble/v2/cmd/"+name)
		c.Dir = "../../../.ci/pebble"
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	w.must(err)
	s := &server{url: "https://127.0.0.1:" + port(t) + "/dir", authority: "/etc/pebble.pem"}
	files := http.FileServer(http.Dir(w.Path("/srv/www")))
	web := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(out http.ResponseWriter, in *http.Request) {
		s.hits++
		files.ServeHTTP(out, in)
	})}
	go func() { _ = web.Serve(listener) }()
	t.Cleanup(func() { _ = web.Close() })
	authority := w.resource()
	w.must(os.MkdirAll(w.Path("/srv/www"), 0o755))
	own := config{"path": s.authority, "common_name": "pebble", "dns_names": []string{"127.0.0.1"}, "ca": true}
	authority.Apply(own)
	address := strings.TrimSuffix(strings.TrimPrefix(s.url, "https://"), "/dir")
	text, err := json.Marshal(map[string]any{"pebble": map[string]any{"listenAddress": address, "managementListenAddress": "127.0.0.1:" + port(t),
		"certificate": w.Path(s.authority), "privateKey": w.Path("/etc/pebble.key"), "httpPort": listener.Addr().(*net.TCPAddr).Port,
		"tlsPort": 1, "retryAfter": map[string]int{"authz": 1, "order": 1}}})
	w.must(err)
	w.write("/etc/pebble.json", string(text))
	names := port(t)
	run := func(name string, args ...string) {
		c := exec.Command(filepath.Join(bin, name), args...)
		c.Env = append(os.Environ(), "PEBBLE_VA_NOSLEEP=1", "PEBBLE_WFE_NONCEREJECT=20", "PEBBLE_AUTHZREUSE=0")
		log, err := os.Create(filepath.Join(bin, name+".log"))
		w.must(err)
		c.Stdout, c.Stderr = log, log
		w.must(c.Start())
		t.Cleanup(func() {
			_ = c.Process.Kill()
			_ = c.Wait()
			if text, err := os.ReadFile(log.Name()); err == nil && t.Failed() {
				t.Logf("%s", text[max(0, len(text)-3000):])
			}
		})
	}
	run("pebble-challtestsrv", "-dnsserver", "127.0.0.1:"+names, "-defaultIPv4", "127.0.0.1", "-defaultIPv6", "", "-http01", "", "-https01", "",
		"-doh", "", "-tlsalpn01", "", "-management", "127.0.0.1:"+port(t))
	run("pebble", "-config", w.Path("/etc/pebble.json"), "-dnsserver", "127.0.0.1:"+names)
	for limit := time.Now().Add(20 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		if c, err := net.Dial("tcp", address); err == nil {
			_ = c.Close()
			return s
		}
		if time.Now().After(limit) {
			t.Fatal("pebble does not answer")
		}
	}
}

func port(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return fmt.Sprint(l.Addr().(*net.TCPAddr).Port)
}

// A real server of ACME signs: the first time, before the end, and for other names; what fails changes nothing.
func TestCertificate_OfAServerOfACME(t *testing.T) {
	w := newWorld(t)
	s := serverOf(t, w)
	r := w.resource()
	c := config{"path": site, "common_name": "web.example.org", "issuer": s.url, "webroot": "/srv/www", "accept_terms": true,
		"email": "admin@example.org", "server_ca": s.authority}
	first := r.Apply(c)
	if first.Status != "STALE" || s.hits == 0 {
		t.Errorf("%+v, and the server read %d files", first, s.hits)
	}
	chain, key := w.list(site), w.read("/srv/site.key")
	if len(chain) < 2 || chain[0].CheckSignatureFrom(chain[1]) != nil || w.mode("/srv/site.key") != 0o600 {
		t.Errorf("%d certificates", len(chain))
	}
	if left, _ := filepath.Glob(w.Path("/srv/www/.well-known/acme-challenge/*")); len(left) > 0 {
		t.Errorf("%q is left", left)
	}
	if mode := w.mode(accounts); mode != 0o700 {
		t.Errorf("the mode of the directory of accounts is %o", mode)
	}
	life := chain[0].NotAfter.Sub(chain[0].NotBefore)
	now := w.now
	w.now = now.Add(life / 2)
	r.Valid(c)
	w.now = now.Add(life * 3 / 4)
	if a := r.State(c); len(a.Reasons) != 1 || a.Reasons[0].Path != "/renew_before" {
		t.Errorf("%+v", a.Reasons)
	}
	w.now = now
	c["dns_names"] = []string{"web.example.org", "www.example.org", "127.0.0.1"}
	if a := r.Apply(c); len(a.Reasons) != 1 || a.Reasons[0].Path != "/dns_names" {
		t.Errorf("%+v", a.Reasons)
	}
	accountsNow, err := os.ReadDir(w.Path(accounts))
	if err != nil || w.read("/srv/site.key") != key {
		t.Errorf("the key is another (%v)", err)
	}
	n := 0
	for _, one := range accountsNow {
		if strings.HasSuffix(one.Name(), ".key") && !strings.HasPrefix(one.Name(), ".") {
			n++
		}
	}
	if n != 1 {
		t.Errorf("%d accounts", n)
	}
	before := w.read(site)
	w.must(os.MkdirAll(w.Path("/srv/nobody"), 0o755))
	other := config{"path": site, "common_name": "other.example.org", "issuer": s.url, "webroot": "/srv/nobody", "accept_terms": true,
		"server_ca": s.authority}
	r.Fails(other, "could not read the file of other.example.org: does its web server show /srv/nobody")
	if w.read(site) != before || w.read("/srv/site.key") != key {
		t.Error("a server that does not sign has changed the files")
	}
	// The web server's directory may belong to a user, whose links lead nowhere else.
	w.must(os.Symlink(w.Path("/etc"), w.Path("/srv/nobody/.well-known2")))
	w.must(os.RemoveAll(w.Path("/srv/nobody/.well-known")))
	w.must(os.Symlink(w.Path("/etc"), w.Path("/srv/nobody/.well-known")))
	r.Fails(other, "the file for the server of ACME cannot be written")
	if _, err := os.Stat(w.Path("/etc/acme-challenge")); err == nil {
		t.Error("a link of the webroot was followed")
	}
	c["issuer"] = "self"
	delete(c, "webroot")
	delete(c, "email")
	delete(c, "server_ca")
	if a := r.Apply(c); !slices.ContainsFunc(a.Reasons, func(r protocol.Reason) bool { return r.Path == "/issuer" }) {
		t.Errorf("%+v", a.Reasons)
	}
}
