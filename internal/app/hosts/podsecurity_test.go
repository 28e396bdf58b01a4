package hosts

import (
	"strings"
	"testing"

	"deployster/internal/runtime/remote"
	"deployster/internal/runtime/runner"
)

// The levels of Pod Security, by the type blocks that docs/kubernetes.md names.
func TestViolations_OfLevels(t *testing.T) {
	t.Parallel()
	drop := runner.Capabilities{Drop: []string{runner.AllCapabilities}}
	blocks := []runner.Settings{{}, {Capabilities: drop, User: "1000"}, {Capabilities: drop}, {Capabilities: drop, UserNS: runner.AutoUserNS},
		{Capabilities: runner.Capabilities{Add: []string{"NET_ADMIN"}}}, {Capabilities: drop, User: "0:1000"}}
	for _, c := range []struct{ level, version, accepted string }{
		{"", "", "yyyyyy"},
		{"privileged", "", "yyyyyy"},
		{"baseline", "", "yyyyny"},
		{"baseline", "v1.34", "yyyyny"},
		{"restricted", "v1.34", "nynnnn"},
		{"restricted", "v1.35", "nynynn"},
		{"restricted", "latest", "nynynn"},
		{"restricted", "", "nynynn"},
	} {
		got := ""
		for _, s := range blocks {
			forbidden, write := violations(remote.Namespace{PodSecurity: c.level, PodSecurityVersion: c.version}, s)
			if len(forbidden) != len(write) {
				t.Errorf("%+v: forbidden are %q, with %q", s, forbidden, write)
			}
			got += map[bool]string{true: "y", false: "n"}[len(forbidden) == 0]
		}
		if got != c.accepted {
			t.Errorf("%s:%s: accepted are %s, want %s", c.level, c.version, got, c.accepted)
		}
	}
	forbidden, write := violations(remote.Namespace{PodSecurity: "restricted"}, runner.Settings{})
	text := strings.Join(forbidden, "; ") + " | " + strings.Join(write, ", and ")
	if !strings.HasPrefix(text, "unrestricted capabilities (AUDIT_WRITE, CHOWN, ") || !strings.HasSuffix(text,
		`; its user may be root | write capabilities { drop = ["ALL"] }, and write userns = "auto", or user = "UID"`) {
		t.Error(text)
	}
}
