package runner

import (
	"context"
	"fmt"
	"io"
)

// Volume is a directory of one run's own, which its program may write to: the program's
// user has it, and it counts as the container's own files. It is made before the
// container, and gone with it.
type Volume struct {
	Target string // absolute, in the container

	// Fill is called with the directory before the program starts; nil leaves it empty.
	Fill func(dir string) error

	// Take is called with the directory when the last process of a query has ended, with
	// exit code zero, before the directory is removed. It may rename it away. Its error is
	// the run's; nil = nobody wants it.
	Take func(dir string) error
}

// Answer is a file that a program writes, in a volume of its own. It is read when the
// last process has ended.
type Answer struct {
	Target string // absolute, in the container
	Max    int64  // bytes

	// Read gets the answer of a query that ended with exit code zero, as it lies on the
	// disk, or nil when there is no such file. Its error is the run's. An action's answer
	// is kept as a whole: see Result.
	Read func(io.Reader) error `json:"-"`
}

// AnswerError says that there is an answer which cannot be read.
type AnswerError struct {
	Reason string // "is a symbolic link"
}

func (e *AnswerError) Error() string { return "the file for its answer " + e.Reason }

// TooLong is the reason of an answer that is longer than may be.
func TooLong(limit int64) string { return fmt.Sprintf("has more than %d bytes", limit) }

// Inspector looks at the files of images.
type Inspector interface {
	// Has reports which paths are there in an image. Links are followed, and never out of
	// the image.
	Has(ctx context.Context, digest string, paths ...string) ([]bool, error)
}
