package main

import (
	"io"
	"os"

	"golang.org/x/sys/unix"

	"deployster/internal/cli"
)

// shut is a standard output that was closed when the program began: what goes
// there is delivered to nobody, and must not look as if it were.
type shut struct{}

func (shut) Write([]byte) (int, error) { return 0, cli.ErrClosed }

// output is a standard stream, or what tells that it was closed (`>&-`).
func output(f *os.File) io.Writer {
	if wasClosed(int(f.Fd())) {
		return shut{}
	}
	return f
}

// wasClosed finds out whether nobody gave the program this stream. Go's runtime
// has opened /dev/null in its place by now: for reading and writing, and for
// this one number. Those who throw output away on purpose mostly open it for
// writing only, or once for all streams; from those who do not, it cannot be
// told apart.
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
