package runner

import (
	"context"
	"fmt"
	"io"
)

// Volume is a directory for one run alone, which the program may write to: the
// program's user owns it, and it counts as the container's own files. The runner
// creates it before the container, and removes it with the container.
type Volume struct {
	Target string // absolute, in the container

	// Fill is called with the directory before the program starts; nil leaves it empty.
	Fill func(dir string) error

	// Take is called with the directory after the last process of a query has ended with
	// exit code zero, and before the directory is removed. Take may rename the directory
	// away. Its error becomes the run's error; nil = nobody needs the directory.
	Take func(dir string) error
}

// Answer is a file that a program writes, in a volume of its own. The runner reads it
// after the last process has ended.
type Answer struct {
	Target string // absolute, in the container
	Max    int64  // bytes

	// Read gets the answer of a query that ended with exit code zero as a stream from the
	// disk, or nil if the file does not exist. Its error becomes the run's error. The
	// answer of an action is kept as a whole instead: see Result.
	Read func(io.Reader) error `json:"-"`
}

// AnswerError reports that an answer exists but cannot be read.
type AnswerError struct {
	Reason string // "is a symbolic link"
}

func (e *AnswerError) Error() string { return "the file for its answer " + e.Reason }

// TooLong returns the reason of an AnswerError for an answer above the size limit.
func TooLong(limit int64) string { return fmt.Sprintf("has more than %d bytes", limit) }

// Inspector looks up files and labels of images.
type Inspector interface {
	// Labels returns the labels of an image.
	Labels(ctx context.Context, digest string) (map[string]string, error)

	// Has reports which paths exist in an image. It follows links, but never out of the
	// image.
	Has(ctx context.Context, digest string, paths ...string) ([]bool, error)
}
