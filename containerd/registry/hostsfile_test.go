package registry

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deployster/internal/base/diag"
)

// A hosts.toml that containerd's library would pass over in silence is an error
// that says where; one that it understands is none.
func TestHostsFile_Mistakes(t *testing.T) {
	for text, want := range map[string]string{
		"server = \"http://127.0.0.1:1\n":                               "hosts.toml:1:",
		"server = \"https://a.example\"\n[host.\"https://m.example\"\n": "hosts.toml:2:",
		"server = 7\n": "hosts.toml:1:",
		"[host.\"https://m.example\"]\n  capabilities = \"pull\"\n":              "hosts.toml:2:",
		"[host.\"https://m.example\"]\n  capabilities = [\"pull\", \"fetch\"]\n": `"fetch" is not a capability`,
		"": "",
		"server = \"https://a.example\"\n[host.\"https://m.example\"]\n  capabilities = [\"pull\", \"resolve\"]\n  skip_verify = true\n  ca = [\"a.pem\"]\n  client = [[\"c\", \"k\"]]\n[host.\"https://m.example\".header]\n  x-a = [\"b\"]\n": "",
	} {
		root := t.TempDir()
		dir := filepath.Join(root, "registry.example")
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "hosts.toml"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := New(Options{CertDirs: []string{root}}).hosts(t.Context())("registry.example")
		var d *diag.Diagnostic
		if want == "" && err != nil && strings.Contains(err.Error(), "mistake") || want != "" && (!errors.As(err, &d) || !strings.Contains(d.Detail, want)) {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
}
