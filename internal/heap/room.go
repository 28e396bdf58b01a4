package heap

import (
	"bytes"
	"math"
	"os"
	"path"
	"strconv"
	"strings"
)

// The bounds of Spare, in bytes, and which part it may be of what there is.
const (
	leastSpare  = 128 << 20
	mostSpare   = 256 << 20
	partOfSpare = 16
)

// Spare is how much memory a command with much to do may take beyond what it
// needs, in bytes, to have its processor for other things than looking for what
// it needs no more: the more the machine has left, the more.
func Spare() uint64 {
	left, _ := room(machine)
	return spareOf(left)
}

func spareOf(left uint64) uint64 { return min(max(left/partOfSpare, leastSpare), mostSpare) }

// room is how much memory there is to be had, in bytes, before the machine or a
// control group runs out of it, if that is known. What caches hold in a group
// counts as taken.
func room(read func(path string) ([]byte, error)) (bytes uint64, known bool) {
	meminfo, err := read("/proc/meminfo")
	kib, found := field(meminfo, "MemAvailable:")
	if err != nil || !found {
		return 0, false
	}
	left := kib << 10
	groups, err := read("/proc/self/cgroup")
	if err != nil {
		return left, true
	}
	for line := range strings.Lines(string(groups)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) < 3 {
			continue
		}
		switch parts[1] {
		case "":
			left = min(left, leftIn(read, "/sys/fs/cgroup", parts[2], "memory.max", "memory.current"))
		case "memory":
			left = min(left, leftIn(read, "/sys/fs/cgroup/memory", parts[2], "memory.limit_in_bytes", "memory.usage_in_bytes"))
		}
	}
	return left, true
}

// leftIn is what a group and those that it is in leave it. In a container the
// group's own path may not be there, and what is at the root is its own.
func leftIn(read func(path string) ([]byte, error), root, group, limit, usage string) uint64 {
	left := uint64(math.MaxUint64)
	for dir := path.Clean("/" + group); ; dir = path.Dir(dir) {
		most, err := number(read(path.Join(root, dir, limit)))
		now, err2 := number(read(path.Join(root, dir, usage)))
		if err == nil && err2 == nil { // "max" is no number: there is no limit
			left = min(left, most-min(most, now))
		}
		if dir == "/" {
			return left
		}
	}
}

func number(text []byte, err error) (uint64, error) {
	if err != nil {
		return 0, err
	}
	return strconv.ParseUint(string(bytes.TrimSpace(text)), 10, 64)
}

// field is the number behind a name that begins a line.
func field(text []byte, name string) (uint64, bool) {
	for line := range strings.Lines(string(text)) {
		if words := strings.Fields(line); len(words) > 1 && words[0] == name {
			n, err := strconv.ParseUint(words[1], 10, 64)
			return n, err == nil
		}
	}
	return 0, false
}

// machine reads the files of this one.
func machine(path string) ([]byte, error) { return os.ReadFile(path) }
