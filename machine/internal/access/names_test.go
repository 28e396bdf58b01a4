package access

import (
	"os"
	"path/filepath"
	"testing"
)

// A name service is queried unless the machine certainly has none for this database.
func TestMachine_OnlyFiles(t *testing.T) {
	t.Parallel()
	for text, only := range map[string]bool{
		"passwd: files\ngroup: files systemd\n":           true,
		"# passwd: ldap\n  passwd :\tfiles # and no more": true,
		"passwd: files systemd\n":                         false,
		"passwd: sss files\n":                             false,
		"passwd: files [NOTFOUND=return] ldap\n":          false,
		"passwd: compat\n":                                false,
		"passwd:\n":                                       false,
		"passwd: files\npasswd: ldap\n":                   false,
		"passwd: files\npasswd: files\n":                  false,
		"group: files\n":                                  false,
		"passwd_compat: files\n":                          false,
		"":                                                false,
	} {
		m := &Machine{Root: t.TempDir()}
		if m.onlyFiles("passwd") {
			t.Fatal("without a file")
		}
		if err := os.Mkdir(m.Path("/etc"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(m.Root, "etc", "nsswitch.conf"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := m.onlyFiles("passwd"); got != only {
			t.Errorf("%q: %t", text, got)
		}
	}
}
