package failure

import (
	"regexp"

	"deployster/internal/base/diag"
	"deployster/internal/runtime/runner"
)

// Messages of runc about failures that a user can fix.
var (
	notThere = regexp.MustCompile(`exec: "([^"]*)": (executable file not found in \$PATH|` +
		`stat [^:]*: no such file or directory|permission denied|is a directory)`)
	notMapped  = regexp.MustCompile(`failed to set MOUNT_ATTR_IDMAP on (.*?): `)
	notMounted = regexp.MustCompile(`error mounting "([^"]*)" to rootfs at "([^"]*)"`)
	wrongKind  = regexp.MustCompile(`not a directory|is a directory`)
)

// OfStart returns why a container did not start. The program has not run.
func OfStart(spec runner.Spec, err error) error {
	text := err.Error()
	if m := notThere.FindStringSubmatch(text); m != nil {
		return diag.Because(err, "The image cannot run "+m[1],
			"%s. The command line comes from the image's Entrypoint and Cmd, or from the type's answers; check that the image has such a "+
				"program.", m[2])
	}
	if m := notMapped.FindStringSubmatch(text); m != nil {
		return diag.Because(err, "A container with users of its own cannot be given "+m[1],
			"Its file system cannot show files under other owners, which userns = \"auto\" in the type block needs. Move it to one that "+
				"can (ext4, xfs, btrfs, tmpfs), or remove userns from the type block.")
	}
	if m := notMounted.FindStringSubmatch(text); m != nil && wrongKind.MatchString(text) {
		return diag.Because(err, "A file and a directory cannot be mounted on each other",
			"%s cannot be mounted at %s in the container: one is a file, the other a directory. Name a file where the type needs a file, "+
				"and a directory where it needs a directory.", m[1], m[2])
	}
	return diag.Because(err, "The container of "+spec.Name+" did not start", "%s", Sentence(err))
}
