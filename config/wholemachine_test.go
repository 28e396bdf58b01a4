package config

import (
	"strings"
	"testing"
)

// A setting that confines containers is refused beside the whole machine, by its own line.
func TestWholeMachine_RefusesWhatConfines(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ line, refused string }{
		"alone":              {"", ""},
		"host's users":       {`userns = "host"`, ""},
		"limits":             {`memory = "64MiB"`, ""},
		"writable":           {`read_only_rootfs = false`, ""},
		"users of its own":   {`userns = "auto"`, "Take userns away"},
		"no network":         {`network = "none"`, "Take network away"},
		"another user":       {`user = "1000"`, "Take user away"},
		"read-only":          {`read_only_rootfs = true`, "Take read_only_rootfs away"},
		"fewer capabilities": {"capabilities {\n drop = [\"ALL\"]\n}", "Remove the capabilities block"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, diags := Load(sources(t.TempDir(), "type \"t\" {\n image = \"a/t:1\"\n whole_machine = true\n "+c.line+
				"\n}\nresource \"r\" {\n type = type.t\n}\n"), nil, Builtins{})
			switch {
			case c.refused == "" && (diags.HasErrors() || !m.Resource("r").Settings.WholeMachine):
				t.Errorf("%v", diags)
			case c.refused != "" && (len(diags) != 1 || !strings.Contains(diags[0].Detail, c.refused) || diags[0].Range == nil || diags[0].Range.Start.Line < 4):
				t.Errorf("%v, want %q", diags, c.refused)
			}
		})
	}
}
