package containerd

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"deployster/internal/runtime/runner"
)

// Volumes count as the container's own files, one by one and all together.
func TestVolumes_AreLimited(t *testing.T) {
	t.Parallel()
	r := open(t, embedded(t))
	dgst := packProbe(t, r)
	for name, script := range map[string]string{
		"one file":   "dd if=/dev/zero of=/v/f bs=1M count=64",
		"many files": "i=0; while :; do i=$((i+1)); head -c 500000 /dev/zero >/v/$i; done",
	} {
		s := runner.Spec{Name: "a/get", Digest: dgst, Kind: runner.Query, Entrypoint: "/bin/sh", Args: []string{"-c", script},
			Settings: runner.Settings{Disk: 16 << 20}, Volumes: []runner.Volume{{Target: "/v", Take: func(string) error {
				t.Errorf("%s: what filled the disk was taken", name)
				return nil
			}}}}
		res, err := r.Run(context.Background(), s)
		var full *runner.DiskError
		if err == nil && res.ExitCode == 0 || err != nil && !errors.As(err, &full) {
			t.Errorf("%s: exit %d, %v", name, res.ExitCode, err)
		}
	}
	nothingLeft(t, r)
}

// Whatever users a container has, what it makes in a volume is its user's there, and
// nobody's else on this host.
func TestVolumes_BelongToTheProgram(t *testing.T) {
	t.Parallel()
	r := open(t, embedded(t))
	dgst := packProbe(t, r)
	for _, c := range []struct {
		name     string
		settings runner.Settings
		owner    uint32
	}{
		{"root", runner.Settings{}, 0},
		{"a user", runner.Settings{User: "1234:1234"}, 1234},
		{"root of its own", runner.Settings{UserNS: runner.AutoUserNS}, 0},
		{"a user of its own", runner.Settings{UserNS: runner.AutoUserNS, User: "1234:1234"}, 0},
		{"read-only root", runner.Settings{ReadOnlyRootFS: true}, 0},
	} {
		owners := map[string]uint32{}
		s := runner.Spec{Name: "a/get", Digest: dgst, Kind: runner.Query, Entrypoint: "/bin/sh", Cwd: "/tmp/build/get", Settings: c.settings,
			Args: []string{"-c", `[ "$(stat -c %u .)" = "$(id -u)" ] && echo x >f && [ "$(stat -c %u f)" = "$(id -u)" ]`},
			Volumes: []runner.Volume{{Target: "/tmp/build/get", Take: func(dir string) error {
				for _, name := range []string{".", "f"} {
					i, err := os.Stat(filepath.Join(dir, name))
					if err != nil {
						return err
					}
					owners[name] = i.Sys().(*syscall.Stat_t).Uid
				}
				return nil
			}}}}
		if res, err := r.Run(context.Background(), s); err != nil || res.ExitCode != 0 {
			t.Errorf("%s: exit %d, %v, %s", c.name, res.ExitCode, err, res.Stderr)
		}
		if owners["f"] != c.owner || owners["."] != c.owner {
			t.Errorf("%s: %v", c.name, owners)
		}
	}
	nothingLeft(t, r)
}

// A mount of a configuration never shows what the runner keeps, also where it is asked
// for by name.
func TestVolumes_AreShownToNobodyElse(t *testing.T) {
	t.Parallel()
	r := open(t, embedded(t))
	dgst := packProbe(t, r)
	kept := filepath.Join(r.Artifacts(), "key", "data")
	if err := os.MkdirAll(kept, 0o700); err != nil {
		t.Fatal(err)
	}
	s := runner.Spec{Name: "a/get", Digest: dgst, Kind: runner.Query, Args: []string{"exit", "0"}, Mounts: []runner.Mount{{Source: kept, Target: "/in"}}}
	if _, err := r.Run(context.Background(), s); err == nil {
		t.Error("a mount shows files that the store keeps")
	}
	s.Mounts[0].Own = true
	if res, err := r.Run(context.Background(), s); err != nil || res.ExitCode != 0 {
		t.Errorf("the store's own mount: %+v, %v", res, err)
	}
	s.Mounts[0].Source = filepath.Dir(r.Artifacts())
	if _, err := r.Run(context.Background(), s); err == nil {
		t.Error("the whole data directory is shown")
	}
}
