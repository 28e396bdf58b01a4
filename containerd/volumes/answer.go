package volumes

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"deployster/internal/runtime/runner"
)

// Read passes the answer of a query to its reader. The error is a *runner.AnswerError if
// the answer is not a plain file within the limit.
func (v *Set) Read() error {
	if v.answer == nil || v.answer.Read == nil {
		return nil
	}
	f, err := openAnswer(note{v.answerDir(), v.answerName(), v.answer.Max})
	if errors.Is(err, os.ErrNotExist) {
		return v.answer.Read(nil)
	}
	if err != nil {
		return err
	}
	defer f.Close()
	return v.answer.Read(io.LimitReader(f, v.answer.Max))
}

// readAll returns the content of an answer, or nil if there is no answer.
func readAll(n note) ([]byte, error) {
	f, err := openAnswer(n)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, n.Max))
	if content == nil {
		content = []byte{}
	}
	return content, err
}

// openAnswer opens an answer that a program has left, if it is a plain file within the
// limit. It checks the kind before it opens the file: opening a FIFO would block, and
// opening a device could have any effect.
func openAnswer(n note) (*os.File, error) {
	dir, err := unix.Open(n.Dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: n.Dir, Err: err}
	}
	defer unix.Close(dir)
	file, err := unix.Openat(dir, n.Name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: filepath.Join(n.Dir, n.Name), Err: err}
	}
	defer unix.Close(file)
	var st unix.Stat_t
	if err := unix.Fstat(file, &st); err != nil {
		return nil, err
	}
	if kind := kinds()[st.Mode&unix.S_IFMT]; kind != "" {
		return nil, &runner.AnswerError{Reason: "is " + kind}
	}
	if st.Size > n.Max {
		return nil, &runner.AnswerError{Reason: runner.TooLong(n.Max)}
	}
	return os.Open(fmt.Sprintf("/proc/self/fd/%d", file))
}

// kinds returns the names of the kinds of files that are not plain files.
func kinds() map[uint32]string {
	return map[uint32]string{unix.S_IFDIR: "a directory", unix.S_IFLNK: "a symbolic link", unix.S_IFIFO: "a FIFO",
		unix.S_IFSOCK: "a socket", unix.S_IFCHR: "a device", unix.S_IFBLK: "a device"}
}
