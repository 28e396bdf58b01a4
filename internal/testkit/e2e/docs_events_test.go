package e2e

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// exampleOfEvents is the block of docs/json.md that shows a stream.
var exampleOfEvents = regexp.MustCompile("(?s)(<!-- from the script events -->\n```json\n)(.*?)(```\n)")

// changing is what is not the same in two runs, and what stands for it.
var changing = []struct {
	what *regexp.Regexp
	as   string
}{
	{regexp.MustCompile(`"time":"[^"]*"`), `"time":"2026-11-21T03:53:28.910Z"`},
	{regexp.MustCompile(`\d{8}T\d{6}\.\d{3}Z-[0-9a-f]{6}`), `20261121T035328.910Z-5f1c02`},
	{regexp.MustCompile(`"took_seconds":[0-9.]+`), `"took_seconds":0.3`},
	{regexp.MustCompile(`after [0-9.]+(ms|s)`), `after 300ms`},
	{regexp.MustCompile(`sha256:[0-9a-f]{64}`), `sha256:57913bf0e293e66db9a545133ad73759b78862c766dca5a086e6c89a52490803`},
	{regexp.MustCompile(`"plan":"[0-9a-f]{32}"`), `"plan":"f56cd611a7822d659184683d9da1d814"`},
}

// documented holds a stream of events against the example in docs/json.md; with
// -update it becomes the example.
func documented(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: documented STREAM")
	}
	have := []byte(ts.ReadFile(args[0]))
	for _, c := range changing {
		have = c.what.ReplaceAll(have, []byte(c.as))
	}
	path := filepath.Join(ts.Getenv("ROOT"), "docs", "json.md")
	page, err := os.ReadFile(path)
	ts.Check(err)
	found := exampleOfEvents.FindSubmatch(page)
	if found == nil {
		ts.Fatalf("docs/json.md has no example")
	}
	if bytes.Equal(found[2], have) {
		return
	}
	if !*update {
		ts.Fatalf("docs/json.md has another example: go test ./internal/testkit/e2e -run TestScripts_Pass/%s -update would write this one:\n%s",
			"events", have)
	}
	ts.Check(os.WriteFile(path, bytes.Replace(page, found[0], bytes.Join([][]byte{found[1], have, found[3]}, nil), 1), 0o644))
}

// TestDocs_Events: the example matches the schema, and the page names every type of
// event and every schema that there is.
func TestDocs_Events(t *testing.T) {
	page := read(t, "docs/json.md")
	example := exampleOfEvents.FindStringSubmatch(page)
	if example == nil {
		t.Fatal("docs/json.md has no example")
	}
	if err := checkEvents([]byte(example[2]), "apply"); err != nil {
		t.Error(err)
	}
	var schema struct {
		Properties struct{ Type struct{ Enum []string } }
	}
	if err := json.Unmarshal([]byte(read(t, "docs/schemas/event.json")), &schema); err != nil || len(schema.Properties.Type.Enum) == 0 {
		t.Fatal("the schema of events lists no types", err)
	}
	for _, name := range schema.Properties.Type.Enum {
		if !strings.Contains(page, "| `"+name+"` |") {
			t.Errorf("docs/json.md does not tell of the event %s", name)
		}
	}
	files, err := filepath.Glob("docs/schemas/*.json")
	if err != nil || len(files) < 10 {
		t.Fatal(files, err)
	}
	protocol := read(t, "docs/protocol.md") + read(t, "docs/commands.md") + read(t, "docs/artifact-images.md") + read(t, "docs/policy.md") +
		read(t, "docs/secrets.md")
	for _, file := range files {
		if link := "schemas/" + filepath.Base(file) + ")"; !strings.Contains(page, link) && !strings.Contains(protocol, link) {
			t.Errorf("no page leads to %s", file)
		}
	}
}
