package replace_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deployster/machine/internal/access"
	"deployster/machine/internal/replace"
)

// childVariable makes the test binary a program that writes a file again and again.
const childVariable = "DEPLOYSTER_TEST_WRITES"

func TestMain(m *testing.M) {
	if root := os.Getenv(childVariable); root != "" {
		rewrite(&access.Machine{Root: root})
	}
	os.Exit(m.Run())
}

// size is that of a content: more than one write takes.
const size = 256 << 10

// rewrite writes contents of one letter each until it is killed.
func rewrite(m *access.Machine) {
	mode := uint32(0o600)
	for i := 0; ; i++ {
		unlock, err := replace.Lock(context.Background(), m, "/etc/x")
		if err == nil {
			content := strings.NewReader(strings.Repeat(string(rune('a'+i%26)), size))
			err = replace.File(context.Background(), m, "/etc/x", replace.Change{Content: slow{content}, Mode: &mode, Backup: i%2 == 0})
			unlock()
		}
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	}
}

// slow gives a reader's content in many pieces.
type slow struct{ from io.Reader }

func (s slow) Read(p []byte) (int, error) { return s.from.Read(p[:min(len(p), 4<<10)]) }

// TestFile_KilledAnywhere kills a program that writes, at any moment: what is at the path is
// always one whole content, and the next write works and leaves nothing behind.
func TestFile_KilledAnywhere(t *testing.T) {
	t.Parallel()
	m := &access.Machine{Root: t.TempDir()}
	if err := os.MkdirAll(m.Path("/etc"), 0o755); err != nil {
		t.Fatal(err)
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	left := 0
	for i := range 60 {
		writer := exec.CommandContext(t.Context(), program)
		writer.Env = append(os.Environ(), childVariable+"="+m.Root)
		if err := writer.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(5+i%20) * time.Millisecond)
		if err := writer.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = writer.Wait()
		for _, name := range []string{"x", "x.deployster-backup"} {
			content, err := os.ReadFile(m.Path("/etc/" + name))
			if os.IsNotExist(err) {
				continue // killed before the first write
			}
			if err != nil || len(content) != size || strings.Trim(string(content), string(content[:1])) != "" {
				t.Fatalf("%s is half written: %d bytes, %v", name, len(content), err)
			}
			if info, err := os.Stat(m.Path("/etc/" + name)); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("%s: %v %v", name, info.Mode(), err)
			}
		}
		if beside, _ := filepath.Glob(m.Path("/etc/.x.deployster-new")); len(beside) > 0 {
			left++
		}
	}
	if left == 0 {
		t.Error("no kill was in the middle of a write")
	}
	if err := replace.File(t.Context(), m, "/etc/x", replace.Change{Content: strings.NewReader("whole")}); err != nil {
		t.Fatal(err)
	}
	if beside, _ := filepath.Glob(m.Path("/etc/.*")); len(beside) > 0 {
		t.Errorf("it left %q", beside)
	}
}
