package sharedlog

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Now reads CLOCK_BOOTTIME, which continues while the machine is suspended.
func (System) Now() time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &t) != nil {
		return time.Duration(time.Now().UnixNano())
	}
	return time.Duration(t.Nano())
}

// end ends the process, unless another has its number by now.
func (h Holder) end() error {
	fd, err := unix.PidfdOpen(h.PID, 0)
	if errors.Is(err, unix.ESRCH) {
		return nil // the lock of its file shows whether that is so
	}
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if h.gone() {
		return nil
	}
	return unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0)
}

// allocate reserves room for a file on the disk, where the file system can.
func allocate(f *os.File, from, n int64) error {
	err := unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_KEEP_SIZE, from, n)
	if errors.Is(err, unix.ENOTSUP) || errors.Is(err, unix.ENOSYS) {
		return nil
	}
	return err
}
