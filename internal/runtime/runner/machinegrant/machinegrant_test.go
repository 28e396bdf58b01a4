package machinegrant

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// An image that comes with deployster is no image of a registry, whatever that calls it.
func TestList_Allows(t *testing.T) {
	t.Parallel()
	listed := func(text string) List { return parse(text, "the test") }
	for _, c := range []struct {
		name, ref string
		list      List
		want      bool
	}{
		{"default", "deployster/machine", List{}, true},
		{"default, a kind", "deployster/machine#file", List{}, true},
		{"default, of a registry", "docker.io/deployster/machine", List{}, false},
		{"default, of another registry", "evil.example/deployster/machine:1", List{}, false},
		{"default, another name", "acme/machine", List{}, false},
		{"default, a name below", "deployster/machine/more", List{}, false},
		{"no image", "deployster/machine", listed("# none"), false},
		{"by name", "acme/machine:1.2", listed("acme/machine"), true},
		{"by full name", "docker.io/acme/machine@sha256:" + strings.Repeat("0", 64), listed("acme/*"), true},
		{"another", "acme/other", listed("acme/machine"), false},
		{"in a registry", "r.example:5000/team/x:1", listed("r.example:5000/team/*"), true},
		{"one word", "machine", listed("machine"), true},
		{"a digest", "sha256:" + strings.Repeat("0", 64), listed("acme/*"), false},
		{"any", "acme/other", Any(), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := c.list.Allows(c.ref); got != c.want || (c.list.Check(c.ref) == nil) != got {
				t.Errorf("%q is allowed: %t", c.ref, got)
			}
		})
	}
}

// The variable counts before the file, and a list that cannot be understood allows nothing.
func TestRead_TakesTheVariableFirst(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "images")
	if l := Read("", file, Any()); !l.Allows("acme/x") {
		t.Errorf("without a file: %v", l)
	}
	if err := os.WriteFile(file, []byte("# mine\nacme/x # so\n\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if l := Read("", file, Any()); !l.Allows("acme/x") || l.Allows("acme/y") {
		t.Errorf("of the file: %v", l)
	}
	if l := Read("acme/y, acme/z", file, Any()); l.Allows("acme/x") || !l.Allows("acme/z:1") {
		t.Errorf("of the variable: %v", l)
	}
	for _, wrong := range []string{"acme/x@sha256:1", "[", "a b"} {
		if l := Read(wrong, file, Any()); l.Allows("acme/x") || l.Check("acme/x") == nil {
			t.Errorf("%q is taken", wrong)
		}
	}
}
