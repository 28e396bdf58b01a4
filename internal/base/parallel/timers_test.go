package parallel

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestAligned_FiresTogether sets timers at different times within an interval.
func TestAligned_FiresTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const every = 250 * time.Millisecond
		begin := time.Now().Truncate(every).Add(every)
		time.Sleep(time.Until(begin)) // begin is a multiple
		for _, after := range []time.Duration{0, 1, 100 * time.Millisecond, every - 1, every, every + 7*time.Millisecond} {
			time.Sleep(time.Until(begin.Add(after)))
			wait := Aligned(every)
			if fires := after + wait; wait <= 0 || wait > every || fires%every != 0 {
				t.Errorf("%s after a multiple: waits %s", after, wait)
			}
		}
	})
}
