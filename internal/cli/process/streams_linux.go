package process

import (
	"os"

	"golang.org/x/sys/unix"
)

// wasClosed reports whether the process was started without this stream. Go's runtime has
// opened /dev/null in its place by now: for reading and writing, and for this one number.
// Users who discard output on purpose mostly open /dev/null for writing only, or once for
// all streams; the others cannot be distinguished.
func wasClosed(fd int) bool {
	var stat unix.Stat_t
	if unix.Fstat(fd, &stat) != nil || stat.Mode&unix.S_IFMT != unix.S_IFCHR || stat.Rdev != unix.Mkdev(1, 3) {
		return false
	}
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	if err != nil || flags&unix.O_ACCMODE != unix.O_RDWR {
		return false
	}
	pid := os.Getpid()
	for other := range 3 {
		if other == fd {
			continue
		}
		const kcmpFile = 0
		order, _, errno := unix.Syscall6(unix.SYS_KCMP, uintptr(pid), uintptr(pid), kcmpFile, uintptr(fd), uintptr(other), 0)
		if errno != 0 || order == 0 {
			return false
		}
	}
	return true
}
