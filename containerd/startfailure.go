package containerd

import (
	"regexp"

	"deployster/internal/diag"
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
		return &caused{diag.Errorf("The image cannot run "+m[1],
			"%s. The command line comes from the image's Entrypoint and Cmd, or from the type's answers; check that the image has such a program.", m[2]), err}
	}
	if m := notMapped.FindStringSubmatch(text); m != nil {
		return &caused{diag.Errorf("A container with users of its own cannot be given "+m[1],
			"The file system that it lies on cannot show files under other owners, which userns = \"auto\" in the type block takes. Move it to one that can (ext4, xfs, btrfs, tmpfs), or take userns out of the type block."), err}
	}
	if m := notMounted.FindStringSubmatch(text); m != nil && wrongKind.MatchString(text) {
		return &caused{diag.Errorf("A file and a directory cannot be mounted on each other",
			"%s is to be seen at %s in the container, where the image has the other kind. Name a file where the type wants a file, and a directory where it wants a directory.", m[1], m[2]), err}
	}
	return &caused{diag.Errorf("The container of "+u.s.Name+" did not start", "%s", sentence(err)), err}
}
