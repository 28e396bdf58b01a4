package heap

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"unsafe"
)

// What a client's heap grows by is in huge pages where the kernel has them, without
// having been touched for that.
func TestHeapIsInHugePages(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(math.MaxInt64))
	if !trial(stretch) {
		t.Log("this kernel has no huge pages: only that nothing fails is seen")
	}
	mapped, before := pages(t, 0), resident(t)
	p := Postpone(0)
	if p.Expect(worthHuge - 1); pages(t, 0) > mapped+stretch/2 {
		t.Error("a command for which it does not pay has got ready for huge pages")
	}
	p.Expect(worthHuge)
	if after := resident(t); after > before+8*mib {
		t.Errorf("it took %d MiB to say so", (after-before)/mib)
	}
	debug.SetGCPercent(-1)
	made := make([]byte, 32*mib)
	for i := range made {
		made[i] = 1
	}
	in := mapping(t, uintptr(unsafe.Pointer(&made[len(made)/2])))
	if trial(stretch) && !strings.Contains(in["VmFlags"]+" ", " hg ") {
		t.Errorf("no huge pages were asked for where the heap grew: %v", in)
	}
	t.Logf("in huge pages, if this machine gives any: %s", in["AnonHugePages"])
	runtime.KeepAlive(made)
}

// A process that may not have so many addresses goes on without, and so does one to
// which less memory is promised.
func TestHugePagesNeedRoom(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	if trial(math.MaxInt &^ (hugePage - 1)) {
		t.Error("there is room for as much as an int counts")
	}
	for which, name := range map[int]string{syscall.RLIMIT_AS: "addresses", syscall.RLIMIT_DATA: "data"} {
		var most syscall.Rlimit
		if err := syscall.Getrlimit(which, &most); err != nil {
			t.Fatal(err)
		}
		mapped := pages(t, 0)
		less := syscall.Rlimit{Cur: uint64(mapped) + 10*stretch, Max: most.Max}
		if err := syscall.Setrlimit(which, &less); err != nil {
			t.Fatal(err)
		}
		inHugePages()
		if err := syscall.Setrlimit(which, &most); err != nil {
			t.Fatal(err)
		}
		if after := pages(t, 0); after >= mapped+stretch/2 {
			t.Errorf("with a limit of %s the heap grew by %d MiB", name, (after-mapped)/mib)
		}
	}
}

// Who wants the runtime to have no huge pages gets none.
func TestHugePagesAreDeclined(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	t.Setenv("GODEBUG", "disablethp=1")
	before := pages(t, 0)
	inHugePages()
	if after := pages(t, 0); after >= before+stretch/2 {
		t.Errorf("the heap grew by %d MiB", (after-before)/mib)
	}
}

func resident(t *testing.T) int { return pages(t, 1) }

// pages is what /proc/self/statm says in the given place, in bytes: 0 is all that
// is mapped, 1 what is in memory.
func pages(t *testing.T, place int) int {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(strings.Fields(string(text))[place])
	if err != nil {
		t.Fatal(err)
	}
	return n * os.Getpagesize()
}

// mapping is what the kernel says of the mapping that an address is in.
func mapping(t *testing.T, address uintptr) map[string]string {
	text, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	var is map[string]string
	for line := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(line, ":"); ok && !strings.Contains(name, " ") {
			if is != nil {
				is[name] = " " + strings.TrimSpace(value)
			}
			continue
		}
		if is != nil {
			return is
		}
		bounds, _, _ := strings.Cut(line, " ")
		low, high, _ := strings.Cut(bounds, "-")
		from, err := strconv.ParseUint(low, 16, 64)
		to, err2 := strconv.ParseUint(high, 16, 64)
		if err == nil && err2 == nil && uint64(address) >= from && uint64(address) < to {
			is = map[string]string{"at": line}
		}
	}
	if is == nil {
		t.Fatalf("%x is in no mapping", address)
	}
	return is
}
