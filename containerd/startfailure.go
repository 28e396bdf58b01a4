package containerd

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"

	"deployster/internal/base/diag"
)

// What runc says when something is wrong that a user can mend.
var (
	notThere   = regexp.MustCompile(`exec: "([^"]*)": (executable file not found in \$PATH|stat [^:]*: no such file or directory|permission denied|is a directory)`)
	notMapped  = regexp.MustCompile(`failed to set MOUNT_ATTR_IDMAP on (.*?): `)
	notMounted = regexp.MustCompile(`error mounting "([^"]*)" to rootfs at "([^"]*)"`)
	wrongKind  = regexp.MustCompile(`not a directory|is a directory`)
)

// startFailure says why a container did not start. The program has not run.
func (u *run) startFailure(err error) error {
	text := err.Error()
	if m := notThere.FindStringSubmatch(text); m != nil {
		return diag.Because(err, "The image cannot run "+m[1],
			"%s. The command line comes from the image's Entrypoint and Cmd, or from the type's answers; check that the image has such a program.", m[2])
	}
	if m := notMapped.FindStringSubmatch(text); m != nil {
		return diag.Because(err, "A container with users of its own cannot be given "+m[1],
			"The file system that it lies on cannot show files under other owners, which userns = \"auto\" in the type block takes. Move it to one that can (ext4, xfs, btrfs, tmpfs), or take userns out of the type block.")
	}
	if m := notMounted.FindStringSubmatch(text); m != nil && wrongKind.MatchString(text) {
		return diag.Because(err, "A file and a directory cannot be mounted on each other",
			"%s is to be seen at %s in the container, where the image has the other kind. Name a file where the type wants a file, and a directory where it wants a directory.", m[1], m[2])
	}
	return diag.Because(err, "The container of "+u.s.Name+" did not start", "%s", sentence(err))
}

// cutOff is all that runc says as the first process of a container, where the
// program will be, when whoever came to start that has gone away. It ends then,
// with an exit code of its own: 1, or 255 since version 1.4.
var cutOff = regexp.MustCompile(`^write exec fifo [^\n]*: broken pipe\n$`)

var errCutOff = errors.New("whoever was to start its program went away before it had begun, as when containerd is killed")

// neverBegan reports whether what has ended with an exit code, in a container with
// these standard files, was runc and not the program.
func neverBegan(dir string, code int) bool {
	if code != 1 && code != 255 {
		return false
	}
	said, err := os.Stat(filepath.Join(dir, stdoutFile))
	return err == nil && said.Size() == 0 && cutOff.Match(readLog(filepath.Join(dir, stderrFile)))
}
