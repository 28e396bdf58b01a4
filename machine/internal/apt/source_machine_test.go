//go:build machines

package apt

import (
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"deployster/machine/internal/access"
	"deployster/machine/internal/kindtest"
	"deployster/protocol"
)

func src(t *testing.T) *kindtest.Resource {
	return kindtest.New(t, NewSource(&access.Machine{Root: "/"}))
}

// signedBy makes a repository that a key has signed, and removes its sources at the end.
func signedBy(t *testing.T, key string) (uri string) {
	t.Helper()
	kindtest.Shell(t, "mkdir -p /srv/signed")
	for name, text := range map[string]string{"Packages": embedded(t, "Packages"), "InRelease": embedded(t, "InRelease."+key)} {
		if err := os.WriteFile("/srv/signed/"+name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		kindtest.Shell(t, "rm -rf /srv/signed /etc/apt/sources.list.d/*; apt-get update; touch /var/lib/apt/periodic/update-success-stamp")
	})
	return "copy:/srv/signed"
}

func TestSource_IsAddedWithItsIndexes(t *testing.T) {
	fresh(t)
	uri := signedBy(t, "good")
	r, c := src(t), config{"name": "signed", "uris": []string{uri}, "suites": []string{"./"}, "key": embedded(t, "good.asc")}
	a := r.Apply(c)
	if !strings.Contains(string(r.Last), `"key_expires":"never"`) {
		t.Errorf("%s after %s", r.Last, a.Forecast)
	}
	if a := r.State(c); a.Status != protocol.Valid {
		t.Errorf("%+v", a)
	}
	if out := kindtest.Shell(t, "apt-cache policy from-source | grep Candidate; stat -c %a:%U /etc/apt/sources.list.d/signed.sources; "+
		"ls /run/deployster-machine | grep source || true"); out != "Candidate: 1.0\n644:root" {
		t.Errorf("apt has %q", out)
	}
	// The indexes of the others are as old as they were: nothing is to be updated before a package is installed.
	if a := pkg(t).State(config{"name": "hello"}); !strings.Contains(string(a.Forecast), `"version":"2.0"`) {
		t.Errorf("a package is %s", a.Actions[0].Description)
	}
	if a := pkg(t).State(config{"name": "from-source", "from": "signed"}); !strings.Contains(string(a.Forecast), `"version":"1.0"`) {
		t.Errorf("a package from it is %+v", a)
	}
	if a := pkg(t).State(config{"name": "hello", "from": "signed"}); a.Error == nil || a.Error.Path != "/from" {
		t.Errorf("a package from elsewhere is %+v", a)
	}
	r.Destroy(c)
	if out := kindtest.Shell(t, "apt-cache policy from-source"); out != "" {
		t.Errorf("after its removal apt has %q", out)
	}
}

func TestSource_DriftByHandIsSeen(t *testing.T) {
	fresh(t)
	uri := signedBy(t, "good")
	r, c := src(t), config{"name": "signed", "uris": []string{uri}, "suites": []string{"./"}, "key": embedded(t, "good.asc")}
	r.Apply(c)
	for change, want := range map[string]string{
		"echo 'Trusted: yes' >>$f":              "/trusted",
		"echo 'Enabled: no' >>$f":               "somebody has added Enabled: no",
		"sed -i s,copy:/srv/signed,copy:/x, $f": "/uris",
		"sed -i 's/^ mDME/ mDMF/' $f":           "/key",
		"echo '# hello' >>$f":                   "other lines",
		"ln -sf /dev/null $f":                   "is a link to /dev/null",
	} {
		kindtest.Shell(t, "f=/etc/apt/sources.list.d/signed.sources; "+change)
		a := r.Apply(c)
		if len(a.Reasons) != 1 || a.Reasons[0].Path != want && !strings.Contains(a.Reasons[0].Message, want) {
			t.Errorf("%s: %+v", change, a.Reasons)
		}
	}
}

func TestSource_ThatDoesNotWorkIsNeverThere(t *testing.T) {
	fresh(t)
	uri := signedBy(t, "old")
	r := src(t)
	base := config{"name": "signed", "uris": []string{uri}, "suites": []string{"./"}}
	with := func(name, value string) config {
		c := config{name: value}
		for k, v := range base {
			c[k] = v
		}
		return c
	}
	lacks := "NO_PUBKEY"
	if _, err := os.Stat("/usr/bin/sqv"); err == nil { // apt of Debian 13 takes what was signed before the key expired
		lacks = "Missing key"
		r.Apply(with("key", embedded(t, "old.asc")))
		r.Destroy(with("key", embedded(t, "old.asc")))
	} else {
		r.Fails(with("key", embedded(t, "old.asc")), "its key has expired on 2020-06-01", "EXPKEYSIG")
	}
	r.Fails(with("key", embedded(t, "good.asc")), "does not work", lacks)
	r.Fails(config{"name": "signed", "uris": []string{"copy:/srv/nothing"}, "suites": []string{"./"}, "key": embedded(t,
		"good.asc")}, "does not work")
	r.Fails(with("key", "hello"), "config", "/key", "BEGIN PGP")
	r.Fails(config{"name": "signed", "uris": []string{uri}, "suites": []string{"stable"}}, "config", "/suites/0", "components")
	r.Fails(config{"name": "signed", "uris": []string{uri}, "suites": []string{"./"}, "components": []string{"main"}}, "config", "/suites/0")
	if out := kindtest.Shell(t, "ls /etc/apt/sources.list.d; apt-get update 2>&1 | grep -E '^[WE]:' || true"); out != "" {
		t.Errorf("%q is left", out)
	}
}

func TestSource_TwoFilesOfOneRepositoryAreRefused(t *testing.T) {
	fresh(t)
	uri := signedBy(t, "good")
	kindtest.Shell(t, "echo 'deb [trusted=yes] "+uri+"/ ./' >/etc/apt/sources.list.d/old.list; cp -p /etc/apt/sources.list.d/old.list /tmp/old.list")
	c := config{"name": "signed", "uris": []string{uri}, "suites": []string{"./"}, "key": embedded(t, "good.asc")}
	src(t).Fails(c, "config", "/uris/0", "/etc/apt/sources.list.d/old.list has this repository already")
	kindtest.Shell(t, "rm /etc/apt/sources.list.d/old.list")
	src(t).Apply(c)
}

func TestSource_KeyIsFetchedOnceByItsChecksum(t *testing.T) {
	fresh(t)
	uri := signedBy(t, "good")
	fetched := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fetched++
		_, _ = w.Write([]byte(embedded(t, "good.gpg")))
	}))
	defer server.Close()
	c := config{"name": "signed", "uris": []string{uri}, "suites": []string{"./"}, "key_url": server.URL + "/key",
		"key_sha256": sum(embedded(t, "good.gpg"))}
	wrong := config{"name": "signed", "uris": []string{uri}, "suites": []string{"./"}, "key_url": server.URL + "/key",
		"key_sha256": sum("x")}
	src(t).Fails(wrong, "it is not used", sum("x"))
	src(t).Fails(config{"name": "signed", "uris": []string{uri}, "suites": []string{"./"}, "key_url": server.URL}, "config", "/key_sha256")
	r := src(t)
	fetched = 0
	r.Apply(c)
	for range 3 {
		if a := r.State(c); a.Status != protocol.Valid {
			t.Errorf("%+v", a)
		}
	}
	if fetched != 1 {
		t.Errorf("it was fetched %d times", fetched)
	}
	kindtest.Shell(t, "sed -i 's/^ mDME/ mDMF/' /etc/apt/sources.list.d/signed.sources")
	if a := r.Apply(c); fetched != 2 {
		t.Errorf("it was fetched %d times for %+v", fetched, a.Reasons)
	}
}

func TestSource_IsWatchedAndDiscovered(t *testing.T) {
	fresh(t)
	uri := signedBy(t, "good")
	r, c := src(t), config{"name": "signed", "uris": []string{uri}, "suites": []string{"./"}, "key": embedded(t, "good.asc")}
	r.Apply(c)
	found := r.Discover(config{"name": "x", "uris": []string{"http://x"}, "suites": []string{"./"}})
	if len(found) != 1 || found[0]["name"] != "signed" {
		t.Fatalf("%v", found)
	}
	if a := r.State(found[0]); a.Status != protocol.Valid {
		t.Errorf("%v is %+v", found[0], a)
	}
	events := r.Watch(c)
	kindtest.Shell(t, "rm /etc/apt/sources.list.d/signed.sources")
	select {
	case <-events:
	case <-time.After(5 * time.Second):
		t.Error("no event came")
	}
}

func TestPackage_WaitsForItsSource(t *testing.T) {
	fresh(t)
	a := pkg(t).State(config{"name": "from-source", "from": "signed"})
	if a.Status != protocol.Stale || kindtest.Names(a) != "install" || !strings.Contains(a.Actions[0].Description, "after the apt_source signed") {
		t.Errorf("%+v", a)
	}
}
