package modsource

import (
	"strings"
	"testing"
)

func TestParse_ReadsSources(t *testing.T) {
	commit := strings.Repeat("a", 40)
	for text, want := range map[string]struct {
		a       Address
		pkg     string
		commits string
	}{
		"oci://registry.example.com/acme/web:1.2": {Address{Image: "registry.example.com/acme/web:1.2"}, "oci://registry.example.com/acme/web:1.2", ""},
		"oci://acme/web": {Address{Image: "docker.io/acme/web:latest"}, "oci://docker.io/acme/web:latest", ""},
		"oci://127.0.0.1:5000/a/b:1//modules/web/":      {Address{Image: "127.0.0.1:5000/a/b:1", Dir: "modules/web"}, "oci://127.0.0.1:5000/a/b:1", ""},
		"git::https://git.example.com/a/b.git":          {Address{URL: "https://git.example.com/a/b.git"}, "git::https://git.example.com/a/b.git", ""},
		"git::https://h/a.git//web?ref=v1.0":            {Address{URL: "https://h/a.git", Dir: "web", Ref: "v1.0"}, "git::https://h/a.git?ref=v1.0", ""},
		"git::ssh://git@h:2222/a.git?ref=feature%2Fx":   {Address{URL: "ssh://git@h:2222/a.git", Ref: "feature/x"}, "git::ssh://git@h:2222/a.git?ref=feature%2Fx", ""},
		"git::file:///srv/git/a.git//d/e?ref=" + commit: {Address{URL: "file:///srv/git/a.git", Dir: "d/e", Ref: commit}, "git::file:///srv/git/a.git?ref=" + commit, commit},
	} {
		a, err := Parse(text)
		if err != nil || a != want.a || a.Package() != want.pkg || a.Commit() != want.commits || !Is(text) {
			t.Errorf("%s: %+v %s %s, %v", text, a, a.Package(), a.Commit(), err)
		}
		if again, err := Parse(a.Package()); err != nil || again.Package() != a.Package() {
			t.Errorf("%s again: %+v, %v", text, again, err)
		}
	}
}

func TestParse_RefusesOtherTexts(t *testing.T) {
	for text, want := range map[string]string{
		"oci://":                                    "invalid reference",
		"oci://Acme/Web":                            "Acme/Web",
		"oci://acme/web:1//../x":                    "no valid directory",
		"oci://acme/web:1//":                        "no valid directory",
		"oci://acme/web:1///etc":                    "no valid directory",
		"oci://acme/web:1?ref=2":                    "with the version as its tag",
		"oci://acme/web:1#kind":                     "with the version as its tag",
		"oci://sha256:" + strings.Repeat("a", 64):   "with the version as its tag",
		"oci://deployster/machine":                  "comes with deployster",
		"git::git@github.com:acme/web.git":          "ssh://USER@HOST/PATH for USER@HOST:PATH",
		"git::ext::sh -c x":                         "character ' '",
		"git::ext://x/y":                            "the scheme ext",
		"git::https://h/a.git//../b":                "no valid directory",
		"git::https://h/a.git//b/../c":              "no valid directory",
		"git::https://h/../a.git":                   "the element ..",
		"git::https://h/%2e%2e/a.git":               "the element ..",
		"git::https://h/a.git?ref=-x":               "names the ref",
		"git::https://h/a.git?ref=--upload-pack=sh": "names the ref",
		"git::https://h/a.git?ref=--upload-pack":    "names the ref",
		"git::https://h/a.git?ref=":                 "names the ref",
		"git::https://h/a.git?ref=a..b":             "names the ref",
		"git::https://h/a.git?ref=a:b":              "names the ref",
		"git::https://h/a.git?ref=a&depth=1":        "more than ref=NAME",
		"git::https://h/a.git?depth=1":              "more than ref=NAME",
		"git::https://u:secret@h/a.git":             "a password in it",
		"git::ssh://-oProxyCommand=x/a.git":         "begins with -",
		"git::ssh://-x@h/a.git":                     "begins with -",
		"git::-https://h/a":                         "no valid",
		"git::file://h/a.git":                       "no valid host",
		"git::file:////a.git":                       "git::file:///PATH",
		"git::https:///a.git":                       "no valid host",
		"git::https://h/":                           "no valid path",
		"git::https://h/a.git#x":                    "no valid path",
		"git::https://h/a\x00b":                     "character",
		"git::https://h/a\nb":                       "character",
		"./x":                                       "begins neither",
	} {
		a, err := Parse(text)
		if err == nil || !strings.Contains(err.Error(), want) || a.URL != "" && strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %+v, %v", text, a, err)
		}
	}
}
