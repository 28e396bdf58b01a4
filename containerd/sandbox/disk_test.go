package sandbox

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/containerd/containerd/v2/core/mount"

	"deployster/internal/runtime/runner"
)

// What a program does so that a look at its files takes long, or misses some, counts
// against it.
func TestWatchDisk_CannotBeBlinded(t *testing.T) {
	t.Parallel()
	const limit = 8 << 20
	for name, c := range map[string]struct {
		fill    func(t *testing.T, dir string)
		exceeds bool
		tooDeep bool
	}{
		"little": {func(t *testing.T, dir string) {
			write(t, filepath.Join(deep(t, dir, 300), "z"), 1<<20)
			if err := os.Symlink("/", filepath.Join(dir, "link")); err != nil {
				t.Fatal(err)
			}
		}, false, false},
		"much, below many directories": {func(t *testing.T, dir string) {
			write(t, filepath.Join(deep(t, dir, 500), "z"), limit)
		}, true, false},
		"directories without end": {func(t *testing.T, dir string) { deep(t, dir, runner.MaxDepth) }, true, true},
		"names without end": {func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, "0"), 1)
			for i := range limit / minFile {
				if err := os.Link(filepath.Join(dir, "0"), filepath.Join(dir, fmt.Sprint(i+1))); err != nil {
					t.Fatal(err)
				}
			}
		}, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			c.fill(t, dir)
			upper := []mount.Mount{{Type: "overlay", Options: []string{"upperdir=" + dir}}}
			wait := 10 * time.Second
			if !c.exceeds {
				wait = time.Second
			}
			select {
			case got := <-WatchDisk(t.Context(), upper, limit):
				if !c.exceeds || got.Limit != limit || got.TooDeep != c.tooDeep {
					t.Errorf("got %+v", got)
				}
			case <-time.After(wait):
				if c.exceeds {
					t.Error("it was not seen")
				}
			}
		})
	}
}

// deep makes directories in each other, and gives the last.
func deep(t *testing.T, dir string, n int) string {
	t.Helper()
	dir = filepath.Join(dir, strings.Repeat("a/", n))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func write(t *testing.T, path string, size int) {
	t.Helper()
	if err := os.WriteFile(path, make([]byte, size), 0o644); err != nil {
		t.Fatal(err)
	}
}

// A look that takes long is not followed by minutes without one.
func TestRestAfter_IsProportionalAndBounded(t *testing.T) {
	t.Parallel()
	for look, want := range map[time.Duration]time.Duration{0: diskEvery, 100 * time.Millisecond: 2 * time.Second, time.Minute: diskPause} {
		if got := restAfter(look, 0); got != want && (look > 0 || got <= 0 || got > want) {
			t.Errorf("after %s: %s", look, got)
		}
	}
}

// The files of a container that rests are measured once a second, and four times a second from the first change on.
func TestWatchDisk_MeasuresQuietFilesRarely(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		upper := []mount.Mount{{Type: "overlay", Options: []string{"upperdir=" + dir}}}
		ctx, end := context.WithCancel(t.Context())
		exceeded := WatchDisk(ctx, upper, 1<<20)
		time.Sleep(16*diskQuiet + 2*diskEvery)
		write(t, filepath.Join(dir, "some"), 1)
		time.Sleep(diskQuiet)
		write(t, filepath.Join(dir, "much"), 2<<20)
		begin := time.Now()
		if <-exceeded; time.Since(begin) > diskEvery {
			t.Errorf("after a change it was seen after %s", time.Since(begin))
		}
		end()
		for quiet, want := range map[time.Duration]time.Duration{16*diskQuiet - 1: diskEvery, 16 * diskQuiet: diskQuiet} {
			time.Sleep(restAfter(0, quiet))
			if got := restAfter(0, quiet); got != want {
				t.Errorf("quiet for %s: %s, want %s", quiet, got, want)
			}
		}
	})
}
