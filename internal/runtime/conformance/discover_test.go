package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"deployster/internal/runtime/conformance/report"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/runnertest"
	"deployster/protocol"
)

// A type that lists nothing unless it is narrowed is queried with the name of the object as the prefix.
func TestListsObject_WithThePrefixOfATypeThatListsNothingElse(t *testing.T) {
	t.Parallel()
	schema := `{"type":"object","required":["path"],"properties":{"path":{"type":"string"},"prefix":{"type":"string"}}}`
	for name, c := range map[string]struct {
		schema, config string
		lists          func(stdin string) bool
		want           report.Verdict
	}{
		"with a prefix only":            {schema, `{"path":"/a"}`, func(in string) bool { return strings.Contains(in, `"prefix":"/a"`) }, report.Pass},
		"always":                        {schema, `{"path":"/a"}`, func(in string) bool { return !strings.Contains(in, `"prefix"`) }, report.Pass},
		"never":                         {schema, `{"path":"/a"}`, func(string) bool { return false }, report.Fail},
		"with the prefix of the config": {schema, `{"path":"/a","prefix":"/"}`, func(in string) bool { return strings.Contains(in, `"prefix":"/"`) }, report.Pass},
		"without a prefix in its schema": {strings.Replace(schema, `,"prefix":{"type":"string"}`, "", 1), `{"path":"/a"}`,
			func(in string) bool { return strings.Contains(in, "prefix") }, report.Fail},
	} {
		fake := runnertest.NewFake()
		digest := fake.Add("acme/file", func(_ context.Context, _ runner.Spec, stdin io.Reader, stdout, _ io.Writer) int {
			in, err := io.ReadAll(stdin)
			if err != nil {
				return 1
			}
			if c.lists(string(in)) {
				_, _ = fmt.Fprintln(stdout, `{"config":{"path":"/a"}}`)
			}
			return 0
		})
		i := newImage(Options{Runner: fake, Image: "acme/file", Config: json.RawMessage(c.config), Workspace: t.TempDir()}, digest)
		i.ty = protocol.Type{Reference: "acme/file", Digest: digest, Protocol: 2, Identity: []string{"/path"}, ConfigSchema: json.RawMessage(c.schema),
			DiscoverAction: &protocol.Command{Args: []string{"discover"}}}
		if got := listsObject(t.Context(), i); got.verdict != c.want {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
