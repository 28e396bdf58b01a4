package parallel

import "time"

// Aligned returns how long to wait until the clock shows the next multiple of an interval,
// more than 0 and at most the interval. Timers with the same interval fire together.
func Aligned(every time.Duration) time.Duration {
	return every - time.Duration(time.Now().UnixNano())%every
}
