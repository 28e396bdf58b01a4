package protocol_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"deployster/protocol"
)

// judging is a type that judges configs.
type judging struct{ *disks }

func (judging) Validate(_ context.Context, c diskConfig, unknown []string) ([]protocol.Finding, error) {
	if c.Name == "" && len(unknown) == 0 {
		return []protocol.Finding{{Severity: protocol.FindingError, Path: "/name", Message: "it is empty"}}, nil
	}
	return nil, nil
}

// A type that judges configs declares it in init, and answers by itself.
func TestServe_Validates(t *testing.T) {
	t.Parallel()
	run := func(stdin string, args ...string) (int, string) {
		var out, log bytes.Buffer
		code := protocol.Run(t.Context(), judging{newDisks()}, protocol.About{}, protocol.Process{Args: args, Stdin: strings.NewReader(stdin),
			Stdout: &out, Stderr: &log})
		return code, out.String() + log.String()
	}
	if _, init := run(`{"name":"x"}`); !strings.Contains(init, `"validate_action":{"args":["validate"]}`) {
		t.Error(init)
	}
	for stdin, want := range map[string]string{
		`{"name":"x","config":{"name":""},"unknown":[]}`:  `{"diagnostics":[{"severity":"error","path":"/name","message":"it is empty"}]}` + "\n",
		`{"name":"x","config":{},"unknown":["/name"]}`:    `{"diagnostics":[]}` + "\n",
		`{"name":"x","config":{"name":"a"},"unknown":[]}`: `{"diagnostics":[]}` + "\n",
	} {
		if code, got := run(stdin, "validate"); code != 0 || got != want {
			t.Errorf("%s: %d, %q", stdin, code, got)
		}
	}
	if code, _ := run(`{"name":"x","config":[]}`, "validate"); code == 0 {
		t.Error("a config that is a list is accepted")
	}
}
