package sweep

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"

	"deployster/containerd/runfiles"
)

// cutOff is all that runc says as the first process of a container, where the
// program will be, when whoever came to start that has gone away. It ends then,
// with an exit code of its own: 1, or 255 since version 1.4.
var cutOff = regexp.MustCompile(`^write exec fifo [^\n]*: broken pipe\n$`)

var ErrCutOff = errors.New("whoever was to start its program went away before it had begun, as when containerd is killed")

// NeverBegan reports whether what has ended with an exit code, in a container with
// these standard files, was runc and not the program.
func NeverBegan(dir string, code int) bool {
	if code != 1 && code != 255 {
		return false
	}
	said, err := os.Stat(filepath.Join(dir, runfiles.StdoutFile))
	return err == nil && said.Size() == 0 && cutOff.Match(runfiles.ReadLog(filepath.Join(dir, runfiles.StderrFile)))
}
