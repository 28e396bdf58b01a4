//go:build providers

package resource

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"deployster/protocol"
)

// hashicorp/local 1.4.0 is of the first SDK: its type system is the legacy one. It is built
// for `make test-bridge` only, which takes a minute when nothing of it is in the cache.
func TestLife_OfAProviderOfTheFirstSDK(t *testing.T) {
	path := filepath.Join(t.TempDir(), "provider")
	cmd := exec.Command("go", "build", "-mod=mod", "-o", path, "github.com/terraform-providers/terraform-provider-local")
	cmd.Dir = "../../testdata/providers/local"
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("the provider cannot be built: %v: %s", err, out)
	}
	p := &Providers{Path: path}
	t.Cleanup(p.Close)
	file := filepath.Join(t.TempDir(), "f")
	config := func(content string) string {
		return `{"filename":` + quoted(file) + `,"content":` + quoted(content) + `}`
	}
	l := &life{Providers: p, t: t, kind: "local_file"}
	if made := l.apply(l.input(config("one")), "create"); made.Status != protocol.Valid {
		t.Fatalf("after create: %+v", made)
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != "one" {
		t.Errorf("the file has %q, %v", text, err)
	}
	if again := l.ask(l.input(config("one"))); again.Status != protocol.Valid {
		t.Errorf("asked again: %+v", again)
	}
	if err := os.WriteFile(file, []byte("drifted"), 0o600); err != nil {
		t.Fatal(err)
	}
	if drifted := l.apply(l.input(config("one")), "create"); drifted.Status != protocol.Valid { // it is another object by its sum
		t.Errorf("after it drifted: %+v", drifted)
	}
	if replaced := l.apply(l.input(config("two")), "delete,create"); replaced.Status != protocol.Valid {
		t.Errorf("after its replacement: %+v", replaced)
	}
	data := &life{Providers: p, t: t, kind: "data.local_file"}
	if read := data.ask(data.input(`{"filename":` + quoted(file) + `}`)); !strings.Contains(string(read.State), `"content":"two"`) {
		t.Errorf("as a data source: %+v", read)
	}
	gone := l.input(config("two"))
	gone.Intent = protocol.Absent
	if end := l.apply(gone, "delete"); end.Status != protocol.Missing {
		t.Errorf("after delete: %+v", end)
	}
	if _, err := os.Stat(file); !os.IsNotExist(err) {
		t.Errorf("the file is there still: %v", err)
	}
}

// quoted is a text in JSON.
func quoted(text string) string {
	b, _ := json.Marshal(text) // a text always can
	return string(b)
}
