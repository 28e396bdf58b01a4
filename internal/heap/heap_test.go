package heap

import (
	"math"
	"os"
	"runtime/debug"
	"testing"
)

const (
	mib = 1 << 20
	gib = 1 << 30
)

// A small heap may grow to its bound, a larger one by its share, and each by what
// is spare. A large one grows faster, and one for large manifests begins large, but
// neither by more than a quarter of the room that the machine has.
func TestPace(t *testing.T) {
	for _, c := range []struct {
		live, spare, floor, room, next uint64
	}{
		{10 * mib, 0, 0, 20 * gib, smallHeap},
		{10 * mib, 128 * mib, 0, 20 * gib, 138 * mib},
		{80 * mib, 0, 0, 20 * gib, smallHeap},
		{90 * mib, 0, 0, 20 * gib, 121*mib + mib/2},
		{90 * mib, 128 * mib, 0, 20 * gib, 218 * mib},
		{120 * mib, 0, 0, 20 * gib, 162 * mib},
		{140 * mib, 0, 0, 20 * gib, 248 * mib},
		{1000 * mib, 128 * mib, 0, 20 * gib, 2112 * mib},
		{1000 * mib, 128 * mib, 0, 1400 * mib, 1700 * mib},
		{1000 * mib, 128 * mib, 0, 900 * mib, 1600 * mib},
		{1000 * mib, 0, 0, 0, 1600 * mib},
		{50 * mib, 0, 400 * mib, 20 * gib, 400 * mib},
		{50 * mib, 0, 400 * mib, 450 * mib, 150 * mib},
		{50 * mib, 0, 400 * mib, 0, smallHeap},
	} {
		next := c.live + c.live*uint64(pace(c.live, c.spare, c.floor, c.room))/100
		if next > c.next || next < c.next-c.live/100-1 {
			t.Errorf("with %d live, %d spare, %d expected and room for %d the next collection is at %d, not at %d", c.live, c.spare, c.floor, c.room, next, c.next)
		}
	}
	if pace(0, 0, 0, gib) != growth {
		t.Errorf("an empty heap: %d", pace(0, 0, 0, gib))
	}
}

// What a program expects to read counts for the collections after that, and
// before the first.
func TestExpect(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(math.MaxInt64))
	var none *Pace
	none.Expect(gib)
	p := &Pace{}
	if p.Expect(smallInput); p.floor != 0 {
		t.Errorf("a few manifests: %d", p.floor)
	}
	if p.Expect(gib); p.floor != mostInput {
		t.Errorf("all that there are: %d", p.floor)
	}
	p.Expect(3 * mib)
	if percent := debug.SetGCPercent(100); percent < firstCollection/(4*mib)*100 || percent > 256/4*100 {
		t.Errorf("before the first collection: %d percent of 4 MiB", percent)
	}
	p.set(10*mib, 50*mib)
	if most, percent := debug.SetMemoryLimit(-1), debug.SetGCPercent(100); most < 50*mib || most == math.MaxInt64 || percent < 1000 || percent > 2460 {
		t.Errorf("after it: %d, %d percent", most, percent)
	}
	p.Expect(5 * mib)
	if percent := debug.SetGCPercent(100); percent < 1000 || percent > 5020 {
		t.Errorf("when more is expected: %d percent", percent)
	}
}

// A large process stays away from the end of what there is, where that is known.
func TestLimit(t *testing.T) {
	for _, c := range []struct {
		has, left uint64
		known     bool
		limit     int64
	}{
		{500 * mib, 400 * mib, true, 800 * mib},
		{500 * mib, 0, true, 500 * mib},
		{500 * mib, 0, false, math.MaxInt64},
	} {
		if got := limit(c.has, c.left, c.known); got != c.limit {
			t.Errorf("%+v: %d", c, got)
		}
	}
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(math.MaxInt64))
	p := &Pace{}
	if p.set(10*mib, 50*mib); debug.SetMemoryLimit(-1) != math.MaxInt64 {
		t.Error("a small process has a limit")
	}
	if p.set(200*mib, 300*mib); debug.SetMemoryLimit(-1) == math.MaxInt64 {
		t.Error("a large process has no limit")
	}
}

// The room is what the machine has, or what the control groups leave, whichever
// is less.
func TestRoom(t *testing.T) {
	const meminfo = "MemTotal:       8000000 kB\nMemFree:          10000 kB\nMemAvailable:    4194304 kB\n"
	for name, c := range map[string]struct {
		files map[string]string
		room  uint64
	}{
		"an unknown machine": {map[string]string{"/proc/self/cgroup": "0::/\n"}, 0},
		"no groups":          {map[string]string{"/proc/meminfo": meminfo}, 4 * gib},
		"groups without a limit": {map[string]string{"/proc/meminfo": meminfo, "/proc/self/cgroup": "0::/a\n",
			"/sys/fs/cgroup/a/memory.max": "max\n", "/sys/fs/cgroup/a/memory.current": "5\n"}, 4 * gib},
		"a group in one with a limit": {map[string]string{"/proc/meminfo": meminfo, "/proc/self/cgroup": "1:cpu:/x\n0::/a/b\n",
			"/sys/fs/cgroup/a/b/memory.max": "max\n", "/sys/fs/cgroup/a/b/memory.current": "5\n",
			"/sys/fs/cgroup/a/memory.max": "1073741824\n", "/sys/fs/cgroup/a/memory.current": "73741824\n"}, 1000000000},
		"a container, which does not see its group": {map[string]string{"/proc/meminfo": meminfo, "/proc/self/cgroup": "4:memory:/docker/1\n0::/\n",
			"/sys/fs/cgroup/memory/memory.limit_in_bytes": "2000", "/sys/fs/cgroup/memory/memory.usage_in_bytes": "500"}, 1500},
		"a group that has more than it may": {map[string]string{"/proc/meminfo": meminfo, "/proc/self/cgroup": "0::/\n",
			"/sys/fs/cgroup/memory.max": "2000", "/sys/fs/cgroup/memory.current": "2500"}, 0},
	} {
		got, known := room(func(path string) ([]byte, error) {
			if text, ok := c.files[path]; ok {
				return []byte(text), nil
			}
			return nil, os.ErrNotExist
		})
		if got != c.room || known != (name != "an unknown machine") {
			t.Errorf("%s: %d, %t, not %d", name, got, known, c.room)
		}
	}
	if here, known := room(machine); !known || here == 0 || here > math.MaxInt64 {
		t.Errorf("this machine: %d", here)
	}
}

// What may be spared grows with what is left, between two bounds.
func TestSpare(t *testing.T) {
	for left, want := range map[uint64]uint64{0: 128 * mib, gib: 128 * mib, 3 * gib: 192 * mib, 64 * gib: 256 * mib} {
		if got := spareOf(left); got != want {
			t.Errorf("of %d: %d, not %d", left, got, want)
		}
	}
	if got := Spare(); got < 128*mib || got > 256*mib {
		t.Errorf("of this machine: %d", got)
	}
}
