//go:build machines

package main

import (
	"os"
	"path/filepath"
	"testing"
)

// A type that gets a machine as a whole is tested on one that may be lost.
func TestTypeTest_OnAHost(t *testing.T) {
	s := newSite(t)
	for name, text := range map[string]string{
		"main.hcl": "host \"m\" {\n  address = \"" + s.machine.Name + "\"\n  ssh_options = [\"-F\", \"" + s.machine.SSHFile() + "\"]\n}\n",
		"one.hcl":  "name = \"app\"\n",
		"two.hcl":  "name = \"app\"\ngid = 4000\n",
	} {
		if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s.prints([]string{"type", "test", "-whole-machine", "-host", "m", "-auto-approve", "-config", "one.hcl", "-then", "two.hcl",
		"deployster/machine#group"}, "on the host m", "machine that may be lost", " 0 failed")
	s.holds("getent group app; true", "")
}
