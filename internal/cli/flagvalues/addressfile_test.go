package flagvalues

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAddressFile_ReadsLines(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"db\r\n\n  # the nodes\nnode[\"a#b\"]\n\tmodule.net\nresource.web": `db|node["a#b"]|module.net|web`,
		"\ufeffdb":            "db",
		"# none\n":            "error has no address",
		"":                    "error has no address",
		"db\nnode[\"a\n":      "error :2, which -target-file names",
		"db # the database\n": "db",
		"db\nweb, net\n":      "error :2, which -target-file names",
		"db\n\n-target=web\n": "error :3, which -target-file names",
	} {
		path := filepath.Join(t.TempDir(), "list")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		list, err := (&AddressFile{Paths: []string{path}}).Read("-target-file", true)
		got := strings.Join(list, "|")
		if err != nil {
			got = "error " + err.Error()
		}
		if part, fails := strings.CutPrefix(want, "error "); fails && (err == nil || !strings.Contains(got, part)) || !fails && got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	none := &AddressFile{Paths: []string{os.DevNull}}
	if list, err := none.Read("-exclude-file", false); err != nil || len(list) > 0 {
		t.Errorf("an empty -exclude-file: %v %v", list, err)
	}
	if _, err := (&AddressFile{Paths: []string{"missing"}}).Read("-exclude-file", false); err == nil || !strings.Contains(err.Error(), "missing") {
		t.Errorf("a file that is not there: %v", err)
	}
}
