package typeclient

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"deployster/internal/runtime/runner/answers"
	"deployster/internal/runtime/runner/typeschema"
	"deployster/protocol"
)

// TestDocs_Messages holds the examples of docs/protocol.md, in the order
// in which they stand there, against the schemas and the readers.
func TestDocs_Messages(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "docs", "protocol.md"))
	if err != nil {
		t.Fatal(err)
	}
	const part = "" // a part of a message, which no schema describes alone
	want := []string{"init-input", "init-answer", "state-input", "state-answer", "state-answer", "state-answer", "state-answer", part, part, "init-answer", part, "state-input-1", "init-answer", "init-answer"}
	blocks := regexp.MustCompile("(?s)```json\n(.*?)```").FindAllStringSubmatch(string(doc), -1)
	if len(blocks) != len(want) {
		t.Fatalf("%d examples, want %d", len(blocks), len(want))
	}
	for i, schema := range want {
		text := []byte(strings.TrimSpace(blocks[i][1]))
		if schema == part {
			continue
		}
		if found := published(t, schema, text); len(found) > 0 {
			t.Errorf("example %d does not match %s: %+v\n%s", i+1, schema, found, text)
		}
		switch schema {
		case "init-answer":
			if _, err := answers.ReadInit(text); err != nil {
				t.Errorf("example %d: %v", i+1, err)
			}
		case "state-answer":
			if _, _, err := answers.ReadAnswer(text, 2, "present"); err != nil {
				t.Errorf("example %d: %v", i+1, err)
			}
		}
	}
	lines := regexp.MustCompile(`(?m)^\{"(?:id|batch)":.*$`).FindAll(doc, -1)
	if len(lines) != 15 {
		t.Errorf("%d lines of a worker", len(lines))
	}
	for _, line := range lines {
		found := map[bool]int{}
		for _, schema := range []string{"worker-request", "worker-response"} {
			found[len(published(t, schema, line)) == 0]++
		}
		if found[true] != 1 {
			t.Errorf("the line of a worker is not of one kind: %s", line)
		}
	}
	linked := map[string]bool{}
	for _, page := range []string{"protocol.md", "policy.md", "secrets.md", "json.md", "artifact-images.md"} { // for authors, and for those who read what is printed
		text, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "docs", page))
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range regexp.MustCompile(`\(schemas/([a-z0-9-]+)\.json\)`).FindAllStringSubmatch(string(text), -1) {
			linked[l[1]+".json"] = true
		}
	}
	files, err := os.ReadDir(filepath.Join("..", "..", "..", "..", "docs", "schemas"))
	if err != nil || len(files) != len(linked) {
		t.Errorf("%d schemas, %d of them linked, %v", len(files), len(linked), err)
	}
	for _, f := range files {
		if !linked[f.Name()] {
			t.Errorf("%s is not linked", f.Name())
		}
		text, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "docs", "schemas", f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if err := new(typeschema.Checker).CheckSchemas(protocol.Type{ConfigSchema: text}); err != nil {
			t.Errorf("%s: %v", f.Name(), err)
		}
	}
}
