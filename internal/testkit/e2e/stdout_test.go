package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A result that was not delivered is an error; output that is thrown away on
// purpose is not, however that is done.
func TestStdout_ThatNobodyReads(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "deployster")
	if err := os.Symlink(self, program); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(filepath.Dir(program), "main.hcl"), []byte("locals {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(setup func(*exec.Cmd), line string) (int, string) {
		cmd := exec.Command("sh", "-c", line, program)
		cmd.Dir = filepath.Dir(program)
		var said strings.Builder
		cmd.Stderr = &said
		setup(cmd)
		if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
			t.Fatal(err)
		}
		return cmd.ProcessState.ExitCode(), said.String()
	}
	open := func(flags int) func(*exec.Cmd) {
		return func(cmd *exec.Cmd) {
			null, err := os.OpenFile(os.DevNull, flags, 0)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = null.Close() })
			cmd.Stdin, cmd.Stdout = null, null
		}
	}
	for line, c := range map[string]struct {
		setup func(*exec.Cmd)
		code  int
		says  string
	}{
		`"$0" version >&-`:                        {func(*exec.Cmd) {}, 1, "stdout failed: it is closed"},
		`"$0" version <&- >&-`:                    {func(*exec.Cmd) {}, 1, "stdout failed: it is closed"},
		`"$0" state copies >&-`:                   {func(*exec.Cmd) {}, 1, "stdout failed: it is closed"},
		`"$0" version >/dev/full`:                 {func(*exec.Cmd) {}, 1, "no space left"},
		`"$0" version >/dev/null`:                 {func(*exec.Cmd) {}, 0, ""},
		`"$0" version`:                            {open(os.O_RDWR), 0, ""},    // one for all, as daemon(3) does
		`"$0" validate >&-`:                       {func(*exec.Cmd) {}, 0, ""}, // its exit code says enough
		`exec 3<>/dev/null; "$0" version >&3 <&3`: {func(*exec.Cmd) {}, 0, ""}, // as daemon(3) does
	} {
		if code, said := run(c.setup, line); code != c.code || !strings.Contains(said, c.says) || c.says == "" && said != "" {
			t.Errorf("%s: exit code %d, want %d; %s", line, code, c.code, said)
		}
	}
}
