package collector

import (
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

func TestPercentFor_BoundsBytesAndPercent(t *testing.T) {
	for live, percent := range map[uint64]int{0: most, 1 << 20: most, 8 << 20: most, 16 << 20: 200, 32 << 20: 100, 64 << 20: 50, 80 << 20: least, 4 << 30: least} {
		if got := percentFor(live); got != percent {
			t.Errorf("%d MiB live: %d percent, want %d", live>>20, got, percent)
		}
	}
}

func percentNow() int { return int(metric("/gc/gogc:percent")) }

// becomes collects until the percentage is right.
func becomes(t *testing.T, right func(int) bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !right(percentNow()); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d percent", percentNow())
		}
		runtime.GC()
	}
}

func TestFollow_AdaptsToWhatIsLive(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(most))
	follow(most)
	large := make([]byte, 64<<20)
	becomes(t, func(percent int) bool { return percent >= least && percent <= 50 })
	runtime.KeepAlive(large)
	large = nil
	becomes(t, func(percent int) bool { return percent == most })
}

// Who sets another percentage, such as a server or a test, keeps it.
func TestFollow_StopsWhenAnotherIsSet(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(most))
	follow(most)
	debug.SetGCPercent(77)
	large := make([]byte, 64<<20)
	for range 5 {
		runtime.GC()
		time.Sleep(10 * time.Millisecond)
		if got := percentNow(); got != 77 {
			t.Fatalf("%d percent, want 77", got)
		}
	}
	debug.SetGCPercent(most) // nobody follows any more
	for range 5 {
		runtime.GC()
		time.Sleep(10 * time.Millisecond)
	}
	if got := percentNow(); got != most {
		t.Errorf("%d percent, want %d", got, most)
	}
	runtime.KeepAlive(large)
}
