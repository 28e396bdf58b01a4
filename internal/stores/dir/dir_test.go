package dir_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"deployster/internal/sharedlog"
	"deployster/internal/sharedlog/storetest"
	"deployster/internal/stores/dir"
)

func TestStore_KeepsTheContract(t *testing.T) {
	root := filepath.Join(t.TempDir(), "state")
	storetest.Suite(t, storetest.Times(t, "DEPLOYSTER_STORE_RACES"), func(*testing.T) sharedlog.Store { return dir.New(root) })
	left, err := filepath.Glob(filepath.Join(root, "*", "*", ".*"))
	if err != nil || len(left) > 0 {
		t.Errorf("files are left: %q, %v", left, err)
	}
}

func TestStore_SaysWhatCannotBe(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := dir.New(file).Create(t.Context(), "log/1", nil); !errors.Is(err, sharedlog.ErrDenied) {
		t.Errorf("a file as a directory gives %v", err)
	}
}

// An object whose writer is killed is there as a whole or not at all.
func TestStore_CreatorIsKilled(t *testing.T) {
	const variable = "DIR_STORE_ROOT"
	if root := os.Getenv(variable); root != "" {
		for n := 0; ; n++ {
			_ = dir.New(root).Create(context.Background(), "log/"+sharedlog.NewID(), []byte(strings.Repeat("x", 64<<10)))
			if n == 3 {
				os.Stdout.WriteString("begun\n")
			}
		}
	}
	root := t.TempDir()
	for range 5 {
		c := exec.Command(os.Args[0], "-test.run", "^TestStore_CreatorIsKilled$")
		c.Env = append(os.Environ(), variable+"="+root)
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		_, _ = out.Read(make([]byte, 8))
		_ = c.Process.Kill()
		_ = c.Wait()
	}
	s := dir.New(root)
	keys, err := s.List(t.Context(), "log/")
	if err != nil || len(keys) < 5 {
		t.Fatalf("%d objects: %v", len(keys), err)
	}
	for _, key := range keys {
		if data, err := s.Get(t.Context(), key); err != nil || len(data) != 64<<10 {
			t.Errorf("%s has %d bytes: %v", key, len(data), err)
		}
	}
}
