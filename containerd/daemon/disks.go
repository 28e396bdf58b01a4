package daemon

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"deployster/internal/base/diag"
	"deployster/internal/runtime/runner"
)

// warnCopies returns the warning that overlayfs does not work in the data directory.
func warnCopies(dir string) *diag.Diagnostic {
	why := "the file system there does not support overlayfs"
	var of unix.Statfs_t
	if unix.Statfs(dir, &of) == nil && of.Type == unix.OVERLAYFS_SUPER_MAGIC {
		why = "it is itself on overlayfs, as in a container"
	}
	advice := "Choose a directory on another file system with DEPLOYSTER_DATA_DIR, such as a volume of this container."
	if mounts, err := os.Open("/proc/self/mountinfo"); err == nil {
		switch other := otherDisk(mounts, freeBytes); other {
		case "":
		case "/":
			advice = "Choose a directory on another file system with DEPLOYSTER_DATA_DIR, such as " + runner.DefaultHostDataDir + "."
		default:
			advice = "Choose a directory on another file system with DEPLOYSTER_DATA_DIR, such as " + filepath.Join(other, "deployster") +
				"."
		}
		_ = mounts.Close() // it was only read
	}
	return diag.Warningf("Each container gets a copy of its image's files",
		"The data directory %s cannot hold layers: %s. All works, but each start copies all files of the image, which takes time and "+
			"as much disk as the image. %s", dir, why, advice)
}

// diskTypes are the file systems that hold the writable layers of overlayfs and keep them over a restart.
var diskTypes = []string{"ext3", "ext4", "xfs", "btrfs", "f2fs"}

// otherDisk returns where a disk is mounted that can hold the data directory: the one with the most
// free space. "" = there is none. mountinfo is the text of /proc/self/mountinfo.
func otherDisk(mountinfo io.Reader, free func(path string) int64) (path string) {
	most := int64(0)
	for lines := bufio.NewScanner(mountinfo); lines.Scan(); {
		own, super, _ := strings.Cut(lines.Text(), " - ")
		fields, kind := strings.Fields(own), strings.Fields(super)
		if len(fields) < 6 || len(kind) < 3 || !slices.Contains(diskTypes, kind[0]) ||
			slices.Contains(strings.Split(fields[5]+","+kind[2], ","), "ro") {
			continue
		}
		target := unescape(fields[4])
		if space := free(target); space > most && !strings.HasPrefix(target, "/etc/") && !strings.ContainsAny(target, ":,") {
			path, most = target, space
		}
	}
	return path
}

// unescape returns a path of mountinfo, where some characters are written in octal.
func unescape(path string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(path)
}

// freeBytes returns the free space of the file system of a directory; 0 = it is not a directory.
func freeBytes(dir string) int64 {
	var of unix.Statfs_t
	info, err := os.Stat(dir)
	if err != nil || !info.IsDir() || unix.Statfs(dir, &of) != nil {
		return 0
	}
	return int64(of.Bavail) * of.Bsize
}
