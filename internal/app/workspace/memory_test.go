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
