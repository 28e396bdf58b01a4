package tfrefs_test

import (
	"testing"

	"deployster/internal/migrate/tfrefs"
)

func TestPublished_IsASource(t *testing.T) {
	for _, c := range []struct{ source, version, want string }{
		{"./x", "", ""},
		{"../x", "", ""},
		{"git::https://h/a.git//d?ref=v1", "", "git::https://h/a.git//d?ref=v1"},
		{"github.com/acme/mods//web?ref=v1", "", "git::https://github.com/acme/mods.git//web?ref=v1"},
		{"github.com/acme/mods", "", "git::https://github.com/acme/mods.git"},
		{"git@github.com:acme/mods.git//web", "", "git::ssh://git@github.com/acme/mods.git//web"},
		{"acme/vpc/aws", "1.2.0", "oci://HOST/acme/vpc/aws:1.2.0"},
		{"acme/vpc/aws//modules/net", "~> 1.0", "oci://HOST/acme/vpc/aws:TAG//modules/net"},
		{"app.example.com/acme/vpc/aws", "", "oci://HOST/acme/vpc/aws:TAG"},
		{"s3::https://s3.amazonaws.com/b/a.zip", "", "git::https://HOST/PATH//DIRECTORY?ref=TAG"},
	} {
		if got := tfrefs.Published(c.source, c.version); got != c.want {
			t.Errorf("%s %s: %s", c.source, c.version, got)
		}
	}
}
