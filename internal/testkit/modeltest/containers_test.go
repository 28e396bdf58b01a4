package modeltest_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"deployster/containerd"
	"deployster/containerd/shim"
	"deployster/internal/base/proc"
	"deployster/internal/runtime/runner/imagestore"
	"deployster/internal/testkit/modeltest"
)

// TestMain makes this test's program what the product's is: also the shim and
// the server.
func TestMain(m *testing.M) {
	switch {
	case shim.Is(os.Args[0]):
		shim.Run()
	case containerd.IsServer(os.Args[0]):
		os.Exit(containerd.RunServer(os.Args[1:]))
	default:
		os.Exit(m.Run())
	}
}

// inContainers is how many scenarios run in real containers with every change: an
// apply is killed, interrupted and fails in them. containersVariable says another number.
const (
	inContainers       = 8
	containersVariable = "DEPLOYSTER_SCENARIOS_IN_CONTAINERS"
)

// TestModel_ScenariosInContainers runs the same scenarios twice: through real
// containers, which have the world mounted, and with the fake runner. What is
// true of the one is true of the other, and both do the same.
func TestModel_ScenariosInContainers(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Fatal("this test makes containers and must run as root")
	}
	t.Parallel()
	r := embedded(t)
	for _, kind := range append(modeltest.Kinds(), "hands") {
		packWorld(t, r, "test/"+kind+":1", kind)
	}
	var mu sync.Mutex
	var total stats
	began := time.Now()
	count := number(t, containersVariable, inContainers)
	t.Run("each", func(t *testing.T) {
		for seed := range uint64(count) {
			t.Run(fmt.Sprint(seed+1), func(t *testing.T) {
				t.Parallel()
				got := inBoth(t, r, drawSmall(seed+1))
				mu.Lock()
				defer mu.Unlock()
				total.add(got)
			})
		}
	})
	t.Logf("%d scenarios in containers, in %s: %s", count, time.Since(began).Round(time.Millisecond), total)
	if total.crashes == 0 || total.interrupts == 0 || total.failed == 0 {
		t.Errorf("the scenarios are too dull: %s", total)
	}
}

// inBoth runs a scenario in containers and with the fake runner.
func inBoth(t *testing.T, runtime *containerd.Runtime, sc Scenario) stats {
	t.Helper()
	dir := scratch(t)
	r, err := rigOver(dir, runtime, modeltest.Dir(filepath.Join(dir, "things")))
	if err != nil {
		t.Fatal(err)
	}
	got, done, err := r.execute(sc)
	if err != nil {
		t.Fatalf("%v\n%s", err, goTest(sc, err))
	}
	fake, err := newRig(scratch(t))
	if err != nil {
		t.Fatal(err)
	}
	_, same, err := fake.execute(sc)
	if err != nil {
		t.Fatalf("with the fake runner only: %v\n%s", err, goTest(sc, err))
	}
	// nobody knows at which instant it ends what
	twice := slices.ContainsFunc(sc.Steps, func(s Step) bool { return s.Twice && s.InterruptAt > 0 })
	if !twice && !slices.Equal(done, same) {
		t.Errorf("in containers was done:\n%s\nwith the fake runner:\n%s", strings.Join(done, "\n"), strings.Join(same, "\n"))
	}
	return got
}

// scratch is a directory in memory, where there is one.
func scratch(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "scenarios-") // not in memory: no container may see what belongs to the kernel
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// embedded starts a containerd of this test's own, and sees to it that nothing
// of it is left.
func embedded(t *testing.T) *containerd.Runtime {
	t.Helper()
	data, err := os.MkdirTemp("", "hd")
	if err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	o := containerd.Options{DataDir: data, IdleExit: 30 * time.Second, AllowOldRunc: true}
	if runc := filepath.Join(root, "bin", "runc"); exists(runc) {
		o.Runc = runc
	}
	r, err := containerd.Open(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		if err := os.RemoveAll(data); err != nil {
			t.Errorf("the data directory cannot be removed, something still uses it: %v", err)
		}
		for end := time.Now().Add(time.Minute); usersOf(data) != "" && time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		}
		if left := usersOf(data); left != "" {
			t.Errorf("left behind: %s", left)
		}
	})
	return r
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// usersOf names a process or a mount that speaks of a directory.
func usersOf(dir string) string {
	files, _ := proc.Files("cmdline")
	for _, f := range append(files, "/proc/self/mounts") {
		if b, err := os.ReadFile(f); err == nil && strings.Contains(string(b), dir) {
			return f + ": " + strings.ReplaceAll(string(b), "\x00", " ")
		}
	}
	return ""
}

// worldBinary builds the program of all images, once.
var worldBinary = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "world")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	cmd := exec.Command("go", "build", "-o", filepath.Join(dir, "world"), "./testdata/world")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, out)
	}
	return os.ReadFile(filepath.Join(dir, "world"))
})

// packWorld makes the image of a kind.
func packWorld(t *testing.T, r *containerd.Runtime, reference, kind string) {
	t.Helper()
	program, err := worldBinary()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "world"), program, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "things"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Images.Pack(context.Background(), imagestore.PackOptions{Reference: reference, Dir: dir, Entrypoint: []string{"/world"},
		Env: map[string]string{"KIND": kind}}); err != nil {
		t.Fatal(err)
	}
}
