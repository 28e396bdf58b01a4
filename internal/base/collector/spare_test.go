package collector

import (
	"runtime/debug"
	"testing"
)

func TestSpare_LowersTheGCPercent(t *testing.T) {
	const usual = 400
	defer debug.SetGCPercent(debug.SetGCPercent(usual))
	for name, c := range map[string]struct {
		resources int
		gogc      string
		percent   int
	}{
		"few":             {manyResources, "", usual},
		"many":            {manyResources + 1, "", Afterwards},
		"the user's GOGC": {manyResources + 1, "50", usual},
	} {
		t.Run(name, func(t *testing.T) {
			debug.SetGCPercent(usual)
			Spare(c.gogc, c.resources, Afterwards)
			if got := debug.SetGCPercent(usual); got != c.percent {
				t.Errorf("%d percent, want %d", got, c.percent)
			}
		})
	}
}

// Many hosts have much under way, however few resources there are.
func TestSpareForHosts_LowersTheGCPercent(t *testing.T) {
	const usual = 400
	defer debug.SetGCPercent(debug.SetGCPercent(usual))
	for hosts, percent := range map[int]int{0: usual, 30: usual, 31: Afterwards, 200: Afterwards} {
		debug.SetGCPercent(usual)
		SpareForHosts("", hosts)
		if got := debug.SetGCPercent(usual); got != percent {
			t.Errorf("%d hosts: %d percent, want %d", hosts, got, percent)
		}
	}
}

func TestStayLong_LowersTheGCPercent(t *testing.T) {
	const usual = 400
	defer debug.SetGCPercent(debug.SetGCPercent(usual))
	for name, c := range map[string]struct {
		resources int
		gogc      string
		percent   int
	}{
		"few":             {manyResources, "", 100},
		"many":            {manyResources + 1, "", 50},
		"the user's GOGC": {manyResources + 1, "70", usual},
	} {
		t.Run(name, func(t *testing.T) {
			debug.SetGCPercent(usual)
			StayLong(c.gogc, c.resources)
			if got := debug.SetGCPercent(usual); got != c.percent {
				t.Errorf("%d percent, want %d", got, c.percent)
			}
		})
	}
}
