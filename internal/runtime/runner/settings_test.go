package runner

import (
	"slices"
	"strings"
	"testing"
)

func TestCapabilities_AddAndDropFromTheDefaults(t *testing.T) {
	t.Parallel()
	usual := strings.Join(DefaultCapabilities(), " ")
	if !slices.IsSorted(DefaultCapabilities()) {
		t.Error("the defaults are not sorted")
	}
	for _, c := range []struct {
		name                     string
		c                        Capabilities
		effective, added, byName string
	}{
		{"nothing said", Capabilities{}, usual, "", ""},
		{"one more", Capabilities{Add: []string{"SYS_TIME"}, Drop: []string{"ALL"}}, "SYS_TIME", "SYS_TIME", "SYS_TIME"},
		{"a usual one", Capabilities{Add: []string{"CHOWN"}, Drop: []string{"ALL"}}, "CHOWN", "", "CHOWN"},
		{"a usual one again", Capabilities{Add: []string{"CHOWN"}}, usual, "", "CHOWN"},
		{"one less", Capabilities{Drop: []string{"AUDIT_WRITE"}}, strings.TrimPrefix(usual, "AUDIT_WRITE "), "", ""},
		{"none", Capabilities{Drop: []string{"ALL"}}, "", "", ""},
	} {
		if got := strings.Join(c.c.Effective(), " "); got != c.effective {
			t.Errorf("%s: effective %q", c.name, got)
		}
		if got := strings.Join(c.c.Added(), " "); got != c.added {
			t.Errorf("%s: added %q", c.name, got)
		}
		if got := strings.Join(c.c.Named(), " "); got != c.byName {
			t.Errorf("%s: by name %q", c.name, got)
		}
	}
	most := Capabilities{Add: []string{"ALL"}, Drop: []string{"SYS_ADMIN"}}.Effective()
	if len(most) != len(KnownCapabilities())-1 || slices.Contains(most, "SYS_ADMIN") {
		t.Errorf("all but one: %q", most)
	}
}

func TestSettings_Widened(t *testing.T) {
	t.Parallel()
	narrow := Settings{Network: NoNetwork, Memory: 1, CPU: 1, PIDs: 1024, User: "1000:0", UserNS: AutoUserNS, ReadOnlyRootFS: true, Env: map[string]string{"A": "b"},
		Capabilities: Capabilities{Add: []string{"CHOWN"}, Drop: []string{"ALL"}}}
	if got := narrow.Widened(); len(got) > 0 {
		t.Errorf("narrower settings are said to widen: %q", got)
	}
	wide := Settings{PIDs: 1025, User: "00:5", Workdir: "/w", Capabilities: Capabilities{Add: []string{"SYS_TIME", "NET_ADMIN"}}}
	want := "capabilities +NET_ADMIN +SYS_TIME; up to 1025 processes (default 1024); user 00; the working directory, read-only"
	if got := strings.Join(wide.Widened(), "; "); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := (Settings{User: "app:app"}).Widened(); len(got) != 1 || got[0] != "user app" {
		t.Errorf("a name, which may be root's: %q", got)
	}
}
