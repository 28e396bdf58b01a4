package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/containerd/containerd/v2/core/containers"
	"github.com/containerd/containerd/v2/pkg/namespaces"
	"github.com/containerd/containerd/v2/pkg/oci"
	"github.com/moby/sys/user"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"github.com/opencontainers/runtime-spec/specs-go"

	"deployster/internal/runtime/runner"
)

var update = flag.Bool("update", false, "write the golden files")

// goldenHost is a machine for golden files, which are the same on all.
func goldenHost() host {
	return host{recursive: true, cgroupNamespace: true, processors: 8,
		thermal: []string{"/sys/devices/system/cpu/cpu0/thermal_throttle"}, names: []string{"/etc/resolv.conf", "/etc/hosts"}}
}

// goldenSpec returns what runc is told for an invocation, as plain JSON values, with
// mounts and system calls by name.
func goldenSpec(t *testing.T, workspace string, s runner.Spec) map[string]any {
	t.Helper()
	r := &Maker{host: goldenHost()}
	r.profileOnce.Do(func() { r.profile = profileName })
	r.idsOnce.Do(func() { r.idRange = &IDRange{UID: 2_000_000_000, GID: 2_000_000_000} })
	p := Program{Cwd: "/", User: user.ExecUser{Home: "/root"}, Config: ocispec.ImageConfig{Entrypoint: []string{"/type"}, Cmd: []string{"dropped"}, Env: []string{"A=image"}}}
	s.Kind = runner.Query
	box, err := r.Make("client-1", p, s)
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	calls := systemCalls(box.Spec.Linux.Seccomp)
	box.Spec.Linux.Seccomp.Syscalls, box.Spec.Linux.Seccomp.Architectures = nil, nil
	b, err := json.Marshal(box.Spec)
	if err != nil {
		t.Fatal(err)
	}
	b = bytes.ReplaceAll(b, []byte(workspace), []byte("/workspace"))
	var spec map[string]any
	if err := json.Unmarshal(b, &spec); err != nil {
		t.Fatal(err)
	}
	mounts := map[string]any{}
	for _, m := range spec["mounts"].([]any) {
		mounts[m.(map[string]any)["destination"].(string)] = m
	}
	spec["mounts"] = mounts
	spec["linux"].(map[string]any)["seccomp"].(map[string]any)["syscalls"] = calls
	return spec
}

// systemCalls says of each system call in a filter what becomes of it, without
// those that only some processors have.
func systemCalls(f *specs.LinuxSeccomp) map[string]any {
	calls := map[string]any{}
	for _, rule := range f.Syscalls {
		text := string(rule.Action)
		if rule.ErrnoRet != nil {
			text += fmt.Sprintf(" errno %d", *rule.ErrnoRet)
		}
		for _, a := range rule.Args {
			text += fmt.Sprintf(" if argument %d %s %d %d", a.Index, a.Op, a.Value, a.ValueTwo)
		}
		for _, name := range rule.Names {
			if slices.Contains([]string{"arch_prctl", "modify_ldt", "arm_fadvise64_64", "arm_sync_file_range", "sync_file_range2", "breakpoint", "cacheflush", "set_tls"}, name) {
				continue
			}
			if before, ok := calls[name]; ok && before != text {
				text = before.(string) + "; " + text
			}
			calls[name] = text
		}
	}
	return calls
}

// difference keeps of a value what is not the same in the base; what is gone is
// null, as in a JSON merge patch.
func difference(base, value map[string]any) map[string]any {
	out := map[string]any{}
	for k, v := range value {
		was, object := base[k].(map[string]any)
		is, objectNow := v.(map[string]any)
		switch {
		case object && objectNow:
			if d := difference(was, is); len(d) > 0 {
				out[k] = d
			}
		case !reflect.DeepEqual(base[k], v):
			out[k] = v
		}
	}
	for k := range base {
		if _, ok := value[k]; !ok {
			out[k] = nil
		}
	}
	return out
}

func compareGolden(t *testing.T, name string, value any) {
	t.Helper()
	got, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	got = append(got, '\n')
	file := filepath.Join("testdata", "spec", name+".json")
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s (%v) differs; if that is meant to be so, run this test with -update and look at the change. Now it is\n%s", file, err, got)
	}
}

// TestSpecs_EqualTheGoldenFiles compares what runc gets with testdata/spec: every change of the
// sandbox shows as a change of a file there. default.json is all of it; the
// others are what a step or an attribute of the type block changes in that.
func TestSpecs_EqualTheGoldenFiles(t *testing.T) {
	t.Parallel()
	workspace, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	state := func(s runner.Settings) runner.Spec { return runner.Spec{Args: []string{"state"}, Settings: s} }
	base := goldenSpec(t, workspace, state(runner.Settings{}))
	compareGolden(t, "default", base)
	plugs := []runner.Mount{{Source: workspace, Target: "/rw", Writable: true}, {Source: workspace, Target: "/rw/../ro"}}
	for name, s := range map[string]runner.Spec{
		"init":              {Settings: runner.Settings{Network: runner.NoNetwork}},
		"action":            {Entrypoint: "/other", Args: []string{"write"}},
		"plugs":             {Args: []string{"state"}, Mounts: plugs},
		"network-none":      state(runner.Settings{Network: runner.NoNetwork}),
		"env":               state(runner.Settings{Env: map[string]string{"B": "2", "A": "1"}}),
		"memory":            state(runner.Settings{Memory: 64 << 20}),
		"cpu":               state(runner.Settings{CPU: 1500}),
		"pids":              state(runner.Settings{PIDs: 16}),
		"disk":              state(runner.Settings{Disk: 1 << 20}),
		"mount-workspace":   state(runner.Settings{Workdir: workspace}),
		"read-only-rootfs":  state(runner.Settings{ReadOnlyRootFS: true}),
		"capabilities-none": state(runner.Settings{Capabilities: runner.Capabilities{Drop: []string{"ALL"}}}),
		"capabilities-add":  state(runner.Settings{Capabilities: runner.Capabilities{Add: []string{"NET_ADMIN", "SYS_TIME"}, Drop: []string{"KILL"}}}),
		"userns":            {Args: []string{"state"}, Mounts: plugs, Settings: runner.Settings{UserNS: runner.AutoUserNS, Network: runner.NoNetwork}},
		"userns-host-net":   state(runner.Settings{UserNS: runner.AutoUserNS}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			compareGolden(t, name, difference(base, goldenSpec(t, workspace, s)))
		})
	}
}

// TestBaseline_IsNotBelowContainerds compares with what containerd itself would
// do: an update of it that masks more is not overlooked.
func TestBaseline_IsNotBelowContainerds(t *testing.T) {
	t.Parallel()
	theirs, err := oci.GenerateSpec(namespaces.WithNamespace(context.Background(), "x"), nil, &containers.Container{ID: "x"})
	if err != nil {
		t.Fatal(err)
	}
	ours := probeHost().baseline()
	for _, p := range theirs.Linux.MaskedPaths {
		if !slices.Contains(ours.Linux.MaskedPaths, p) {
			t.Errorf("containerd masks %s", p)
		}
	}
	for _, p := range theirs.Linux.ReadonlyPaths {
		if !slices.Contains(ours.Linux.ReadonlyPaths, p) {
			t.Errorf("containerd makes %s read-only", p)
		}
	}
	for _, n := range theirs.Linux.Namespaces {
		if !slices.Contains(ours.Linux.Namespaces, n) {
			t.Errorf("containerd makes a namespace of its own for %s", n.Type)
		}
	}
	for _, m := range ours.Mounts {
		i := slices.IndexFunc(theirs.Mounts, func(o specs.Mount) bool { return o.Destination == m.Destination })
		if i < 0 {
			t.Errorf("containerd mounts nothing at %s", m.Destination)
			continue
		}
		for _, o := range theirs.Mounts[i].Options {
			if !slices.Contains(m.Options, o) {
				t.Errorf("containerd mounts %s with %s", m.Destination, o)
			}
		}
	}
	caps := withPrefix(runner.DefaultCapabilities())
	for _, c := range caps {
		if !slices.Contains(theirs.Process.Capabilities.Bounding, c) {
			t.Errorf("containerd does not give %s", c)
		}
	}
	if strings.Join(caps, " ") == strings.Join(theirs.Process.Capabilities.Bounding, " ") {
		t.Error("NET_RAW and MKNOD are back")
	}
}
