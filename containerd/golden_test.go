package containerd

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"deployster/internal/invoke"
)

var update = flag.Bool("update", false, "write the golden files")

// TestSpecs holds what runc is told against testdata/spec: every change of the
// sandbox shows as a change of a file there.
func TestSpecs(t *testing.T) {
	t.Parallel()
	workspace := t.TempDir()
	for name, s := range map[string]invoke.Spec{
		"init":    {Settings: invoke.Settings{Network: invoke.NoNetwork}},
		"default": {Args: []string{"state"}},
		"tight": {Args: []string{"state"}, Settings: invoke.Settings{Network: invoke.NoNetwork, ReadOnlyRootFS: true, Capabilities: []string{}, User: "1000:1000",
			Memory: 64 << 20, CPU: 500, Processes: 16, Disk: 1 << 20}},
		"wide": {Args: []string{"write"}, Settings: invoke.Settings{Capabilities: []string{"NET_ADMIN"}, Env: map[string]string{"B": "2", "A": "1"}, Workdir: workspace},
			Mounts: []invoke.Mount{{Source: workspace, Target: "/ro"}, {Source: workspace, Target: "/rw", Writable: true}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := &Runtime{namespace: "deployster", features: features{recursiveReadOnly: true, cgroup2: true}}
			p := &prepared{cwd: "/", config: ocispec.ImageConfig{Entrypoint: []string{"/type"}, Cmd: []string{"dropped"}, Env: []string{"A=image"}}}
			s.Name, s.Kind = name, invoke.Query
			spec, err := r.spec(context.Background(), "client-1", p, s)
			if err != nil {
				t.Fatal(err)
			}
			// The filter is containerd's, and differs between machines.
			if len(spec.Linux.Seccomp.Syscalls) < 5 {
				t.Errorf("the filter has %d rules", len(spec.Linux.Seccomp.Syscalls))
			}
			spec.Linux.Seccomp.Syscalls, spec.Linux.Seccomp.Architectures = nil, nil
			got, err := json.MarshalIndent(spec, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			got = append(bytes.ReplaceAll(got, []byte(workspace), []byte("/workspace")), '\n')
			file := filepath.Join("testdata", "spec", name+".json")
			if *update {
				if err := os.WriteFile(file, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s (%v) differs from\n%s", file, err, got)
			}
		})
	}
}
