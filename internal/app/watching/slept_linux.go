package watching

import (
	"time"

	"golang.org/x/sys/unix"
)

// slept returns how long the machine was suspended since it was started.
func slept() time.Duration {
	var up, awake unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &up) != nil || unix.ClockGettime(unix.CLOCK_MONOTONIC, &awake) != nil {
		return 0
	}
	return time.Duration(up.Nano() - awake.Nano())
}
