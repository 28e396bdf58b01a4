package workspace

import (
	"runtime/debug"
	"testing"
)

func TestSpareMemory(t *testing.T) {
	const usual = 400
	defer debug.SetGCPercent(debug.SetGCPercent(usual))
	for name, c := range map[string]struct {
		resources int
		environ   []string
		percent   int
	}{
		"few":             {manyResources, nil, usual},
		"many":            {manyResources + 1, nil, 60},
		"the user's GOGC": {manyResources + 1, []string{"GOGC=50"}, usual},
	} {
		t.Run(name, func(t *testing.T) {
			debug.SetGCPercent(usual)
			New(Options{Environ: c.environ}).spareMemory(c.resources)
			if got := debug.SetGCPercent(usual); got != c.percent {
				t.Errorf("%d percent, want %d", got, c.percent)
			}
		})
	}
}

// Many hosts have much under way, however few resources there are.
func TestSpareForHosts(t *testing.T) {
	const usual = 400
	defer debug.SetGCPercent(debug.SetGCPercent(usual))
	for hosts, percent := range map[int]int{0: usual, 30: usual, 31: 60, 200: 60} {
		debug.SetGCPercent(usual)
		SpareForHosts(New(Options{}), hosts)
		if got := debug.SetGCPercent(usual); got != percent {
			t.Errorf("%d hosts: %d percent, want %d", hosts, got, percent)
		}
	}
}

func TestStayLong(t *testing.T) {
	const usual = 400
	defer debug.SetGCPercent(debug.SetGCPercent(usual))
	for name, c := range map[string]struct {
		resources int
		environ   []string
		percent   int
	}{
		"few":             {manyResources, nil, 100},
		"many":            {manyResources + 1, nil, 50},
		"the user's GOGC": {manyResources + 1, []string{"GOGC=70"}, usual},
	} {
		t.Run(name, func(t *testing.T) {
			debug.SetGCPercent(usual)
			StayLong(New(Options{Environ: c.environ}), c.resources)
			if got := debug.SetGCPercent(usual); got != c.percent {
				t.Errorf("%d percent, want %d", got, c.percent)
			}
		})
	}
}
