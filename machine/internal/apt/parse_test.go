package apt

import (
	"embed"
	"slices"
	"strings"
	"testing"

	"deployster/machine/internal/deb822"
	"deployster/machine/internal/openpgp"
)

func TestParseDatabase_ReadsAllPackages(t *testing.T) {
	t.Parallel()
	d, err := parseDatabase(strings.Join([]string{
		"dpkg\tamd64\t1.21\tinstall\tok\tinstalled\t",
		"libc6\ti386\t2.35\tinstall\tok\tinstalled\t",
		"libc6\tamd64\t2.36\thold\tok\tinstalled\t",
		"exim4\tall\t4.96\tinstall\tok\tinstalled\tmail-transport-agent, smtpd (= 1)",
		"gone\tall\t1\tdeinstall\tok\tconfig-files\tsmtpd",
		"half\tall\t1\tinstall\tok\thalf-configured\t",
		"lost\tall\t1\tinstall\treinstreq\thalf-installed\t", ""}, "\n"))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"libc6": "2.36", "libc6:i386": "2.35", "exim4": "4.96", "dpkg:native": "1.21"} {
		if p := d.find(name); p == nil || p.version != want {
			t.Errorf("%s: %+v, and must be %s", name, p, want)
		}
	}
	if d.find("libc6:arm64") != nil || d.find("none") != nil {
		t.Error("it found a package that does not exist")
	}
	if names := d.providers("smtpd"); !slices.Equal(names, []string{"exim4"}) {
		t.Errorf("smtpd is provided by %q", names)
	}
	if names := d.interrupted(); !slices.Equal(names, []string{"half", "lost"}) {
		t.Errorf("%q are interrupted", names)
	}
	if _, err := parseDatabase("what\n"); err == nil {
		t.Error("a line that is no package was read")
	}
}

const policyOfBash = `bash:
  Installed: 5.2.15-2+b8
  Candidate: 5.2.15-2+b13
  Version table:
     5.2.15-2+b13 500
        500 http://deb.example/debian bookworm/main amd64 Packages
        500 http://deb.example/updates/ bookworm-updates/main amd64 Packages
     5.2.15-2+b9 500 (phased 20%)
        500 http://old.example bookworm/main amd64 Packages
 *** 5.2.15-2+b8 100
        100 /var/lib/dpkg/status
`

func TestParsePolicy_ReadsVersions(t *testing.T) {
	t.Parallel()
	p, err := parsePolicy(policyOfBash)
	if err != nil || !p.known || p.virtual() || p.candidate != "5.2.15-2+b13" || len(p.versions) != 3 {
		t.Fatalf("%+v, %v", p, err)
	}
	for _, c := range []struct {
		pattern string
		from    []string
		want    string
	}{
		{"", nil, "5.2.15-2+b13"},
		{"5.2.15-2+b9", nil, "5.2.15-2+b9"},
		{"5.2.*", nil, "5.2.15-2+b13"},
		{"", []string{"http://old.example/"}, "5.2.15-2+b9"},
		{"", []string{"http://deb.example/updates"}, "5.2.15-2+b13"},
		{"5.2.15-2+b8", nil, ""}, // only the machine itself has it
		{"6*", nil, ""},
	} {
		if got, _ := p.choose(c.pattern, c.from); got != c.want {
			t.Errorf("%q from %q: %q, and must be %q", c.pattern, c.from, got, c.want)
		}
	}
	if p, err := parsePolicy("mta:\n  Installed: (none)\n  Candidate: (none)\n  Version table:\n"); err != nil || !p.virtual() {
		t.Errorf("a virtual name is %+v, %v", p, err)
	}
	if p, err := parsePolicy(""); err != nil || p.known {
		t.Errorf("an unknown name is %+v, %v", p, err)
	}
}

func TestParseTransaction_ReadsAllSteps(t *testing.T) {
	t.Parallel()
	would, err := parseTransaction(`Reading package lists...
Remv mawk [1.3.4-1]
Inst nginx-common (1.22.1-9 Debian:12/stable [all])
Inst nginx [1.0-1] (1.22.1-9 Debian:12/stable [amd64]) []
Purg old [2]
Conf nginx-common (1.22.1-9 Debian:12/stable [all])
`)
	if err != nil {
		t.Fatal(err)
	}
	if s, ok := would.of("nginx:amd64"); !ok || s.String() != "nginx 1.0-1 -> 1.22.1-9" {
		t.Errorf("nginx is %s", s)
	}
	if names := would.removed("old"); !slices.Equal(names, []string{"mawk"}) {
		t.Errorf("%q are removed", names)
	}
	if text := would.others("nginx"); text != "also installs nginx-common 1.22.1-9; removes mawk, old" {
		t.Errorf("the others are %q", text)
	}
}

func TestRefusal_NamesItsReason(t *testing.T) {
	t.Parallel()
	got := refusal("Reading package lists...\nThe following packages have unmet dependencies:\n impossible : Depends: " +
		"nothing but it is not installable\nE: Unable to correct problems, you have held broken packages.\n")
	if want := "impossible : Depends: nothing but it is not installable; Unable to correct problems, you have held broken " +
		"packages."; got != want {
		t.Errorf("%q, and must be %q", got, want)
	}
}

func TestMatches_ExactOrPattern(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern, version string
		want             bool
	}{{"1.2", "1.2", true}, {"1.2", "1.20", false}, {"1.2*", "1.20", true}, {"1:2.*", "1:2.3+b1", true}, {"[", "[",
		true}, {"1.?", "1.22", false}} {
		if got := matches(c.pattern, c.version); got != c.want {
			t.Errorf("%q of %q: %v", c.pattern, c.version, got)
		}
	}
}

//go:embed testdata/signed
var signed embed.FS

// embedded returns a file of testdata/signed, also in a machine.
func embedded(t *testing.T, name string) string {
	t.Helper()
	text, err := signed.ReadFile("testdata/signed/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestKey_ReportsWhenItEnds(t *testing.T) {
	t.Parallel()
	good, old := embedded(t, "good.asc"), embedded(t, "old.asc")
	for text, want := range map[string]string{good: never, old: "2020-06-01", old + good: never, "": "", "/usr/share/keyrings/x.gpg": "",
		"hello": "", strings.Replace(good, "=", "%", 1): "", good[:len(good)/2]: ""} {
		if got := expiry(text); got != want {
			t.Errorf("%.60q ends %q, and must end %q", text, got, want)
		}
	}
	text, err := openpgp.Armoured([]byte(embedded(t, "good.gpg")))
	if err != nil || expiry(text) != never || !strings.HasPrefix(text, openpgp.Header+"\n\n") {
		t.Errorf("a binary key is %v %q", err, text)
	}
	for _, bad := range []string{"<html>", "", "\x99\x00", "\xc6\x05abcde"} {
		if text, err := openpgp.Armoured([]byte(bad)); err == nil {
			t.Errorf("%q is the key %q", bad, text)
		}
	}
}

func FuzzKey(f *testing.F) {
	f.Add([]byte("\x98\x33\x04"))
	f.Fuzz(func(_ *testing.T, data []byte) { _, _ = openpgp.BinaryEnds(data) })
}

func TestRendered_IsReadBack(t *testing.T) {
	t.Parallel()
	good := strings.TrimSpace(embedded(t, "good.asc"))
	c := SourceConfig{Types: []string{"deb", "deb-src"}, URIs: []string{"http://a.example/x", "http://b.example"}, Suites: []string{"s"},
		Components: []string{"main", "extra"}, Architectures: []string{"amd64"}}
	f := deb822.First(rendered(c, good))
	if f["Signed-By"] != good || f["URIs"] != "http://a.example/x http://b.example" || f["Components"] != "main extra" ||
		len(deb822.Stanzas(rendered(c, good))) != 1 {
		t.Errorf("%q", f)
	}
	if f := deb822.First(rendered(c, "/usr/share/keyrings/x.gpg")); f["Signed-By"] != "/usr/share/keyrings/x.gpg" {
		t.Errorf("%q", f)
	}
}

func TestOneLine_IsRead(t *testing.T) {
	t.Parallel()
	got := oneLine("x", "# deb http://no.example s main\ndeb [arch=amd64 signed-by=/x] http://a.example s main # c\ndeb-src "+
		"http://b.example/ ./\ndeb\ndeb [x\n")
	want := []repository{{"x", "http://a.example", "s"}, {"x", "http://b.example/", "./"}}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func TestParseSummary_HasAllOrNothing(t *testing.T) {
	t.Parallel()
	const lists = `Reading package lists...
The following additional packages will be installed:
   nginx-common (1.22.1-9)
Suggested packages:
   ssl-cert (1.1.2)
The following NEW packages will be installed:
   libc6:i386 (2.36-9)
   nginx-common (1.22.1-9)
The following held packages will be changed:
   nginx (1.18.0-6 => 1.22.1-9)
The following packages will be upgraded:
   nginx (1.18.0-6 => 1.22.1-9)
`
	const fewer = "The following packages will be DOWNGRADED:\n   bash (5.3 => 5.2)\n"
	two := transaction{{name: "libc6:i386", to: "2.36-9"}, {name: "nginx-common", to: "1.22.1-9"}, {name: "nginx", from: "1.18.0-6", to: "1.22.1-9"}}
	for _, c := range []struct {
		text string
		want transaction
		ok   bool
	}{
		{lists + "1 upgraded, 2 newly installed, 0 to remove and 3 not upgraded.\n'http://a.example/x.deb' x.deb 1 MD5Sum:0\n", two, true},
		{lists + fewer + "1 upgraded, 2 newly installed, 1 downgraded, 0 to remove and 3 not upgraded.\n",
			append(slices.Clone(two), step{name: "bash", from: "5.3", to: "5.2"}), true},
		{"0 upgraded, 0 newly installed, 0 to remove and 3 not upgraded.\n", nil, true},
		{lists + "The following packages will be REMOVED:\n   mawk (1.3.4)\n1 upgraded, 2 newly installed, 1 to remove and 3 not upgraded.\n", nil, false},
		{lists + "1 upgraded, 2 newly installed, 1 reinstalled, 0 to remove and 3 not upgraded.\n", nil, false},
		{lists + "1 upgraded, 3 newly installed, 0 to remove and 3 not upgraded.\n", nil, false},
		{strings.ReplaceAll(lists, " (1.22.1-9)", "") + "1 upgraded, 2 newly installed, 0 to remove and 3 not upgraded.\n", nil, false},
		{lists, nil, false},
		{"", nil, false},
	} {
		if got, ok := parseSummary(c.text); ok != c.ok || ok && !slices.Equal(got, c.want) {
			t.Errorf("%v %+v, and must be %v %+v, of\n%s", ok, got, c.ok, c.want, c.text)
		}
	}
}
