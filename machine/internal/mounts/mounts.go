package mounts

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/moby/sys/mountinfo"

	"deployster/machine/internal/access"
	"deployster/protocol"
)

// At returns the mounts at a path, the last one on top; they are those of this process.
func At(m *access.Machine, path string) ([]*mountinfo.Info, error) {
	list, err := mountinfo.GetMounts(mountinfo.SingleEntryFilter(m.Path(path)))
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return mountinfo.GetMounts(func(i *mountinfo.Info) (skip, stop bool) { return i.Mountpoint != m.Path(path), false })
}

// IsNetwork reports whether a file system is reached by a network, and so is mounted later at boot.
func IsNetwork(fstype string, options []string) bool {
	network := []string{"nfs", "nfs4", "cifs", "smb3", "ceph", "glusterfs", "9p", "fuse.sshfs"}
	return slices.Contains(options, "_netdev") || slices.Contains(network, fstype)
}

// IsBind reports whether a directory is mounted at another place.
func IsBind(options []string) bool {
	return slices.Contains(options, "bind") || slices.Contains(options, "rbind")
}

// tags are the words for what a device has, and the directories that have such devices.
var tags = map[string]string{"UUID=": "by-uuid", "LABEL=": "by-label", "PARTUUID=": "by-partuuid", "PARTLABEL=": "by-partlabel"}

// SameSource reports whether a mount is that of a source as a config has it.
func SameSource(m *access.Machine, i *mountinfo.Info, source, path string, options []string) bool {
	if IsBind(options) {
		return sameObject(m.Path(source), m.Path(path))
	}
	for word, directory := range tags {
		if value, ok := strings.CutPrefix(source, word); ok {
			source = "/dev/disk/" + directory + "/" + strings.Trim(value, `"`)
		}
	}
	return i.Source == source || strings.TrimSuffix(i.Source, "/") == strings.TrimSuffix(source, "/") ||
		strings.HasPrefix(source, "/") && (sameDevice(m.Path(source), m.Path(i.Source)) || backs(m, i, source))
}

func sameObject(a, b string) bool {
	x, err := os.Stat(a)
	y, wrong := os.Stat(b)
	return err == nil && wrong == nil && os.SameFile(x, y)
}

// sameDevice reports whether two paths are of one block device.
func sameDevice(a, b string) bool {
	x, err := os.Stat(a)
	y, wrong := os.Stat(b)
	if err != nil || wrong != nil || x.Mode()&fs.ModeDevice == 0 || y.Mode()&fs.ModeDevice == 0 {
		return false
	}
	return x.Sys().(*syscall.Stat_t).Rdev == y.Sys().(*syscall.Stat_t).Rdev
}

// backs reports whether a file is what the loop device of a mount holds.
func backs(m *access.Machine, i *mountinfo.Info, file string) bool {
	name := filepath.Base(i.Source)
	if !strings.HasPrefix(name, "loop") {
		return false
	}
	text, err := os.ReadFile(m.Path("/sys/block/" + name + "/loop/backing_file"))
	return err == nil && strings.TrimSpace(string(text)) == file
}

// flags are options that the kernel reports of each mount, and what it reports without them; "" =
// nothing.
var flags = map[string]string{"ro": "rw", "nosuid": "", "nodev": "", "noexec": "", "noatime": "relatime", "nodiratime": ""}

// OtherFlags returns the options of a config that a mount has not: "ro" for a mount that is to be
// "ro", and "rw" for one that is not to be.
func OtherFlags(i *mountinfo.Info, options []string) (list []string) {
	have := strings.Split(i.Options, ",")
	has := func(flag string) bool {
		return slices.Contains(have, flag) || flag == "ro" && slices.Contains(strings.Split(i.VFSOptions, ","), flag)
	}
	for flag := range flags {
		if slices.Contains(options, flag) && !has(flag) {
			list = append(list, flag)
		}
	}
	if !slices.Contains(options, "ro") && has("ro") {
		list = append(list, "rw")
	}
	slices.Sort(list)
	return list
}

// maxUsers is how many processes an error names.
const maxUsers = 10

// UsersOf names the processes that have something open in the file system at a path.
func UsersOf(m *access.Machine, path string) string {
	info, err := os.Stat(m.Path(path))
	if err != nil {
		return ""
	}
	device := info.Sys().(*syscall.Stat_t).Dev
	processes, err := os.ReadDir(m.Path("/proc"))
	if err != nil {
		return ""
	}
	var users []string
	for _, p := range processes {
		if _, err := strconv.Atoi(p.Name()); err != nil {
			continue
		}
		directory := m.Path("/proc/" + p.Name())
		if what := openIn(directory, device); what != "" {
			name, _ := os.ReadFile(directory + "/comm")
			users = append(users, fmt.Sprintf("%s %s (%s)", strings.TrimSpace(string(name)), p.Name(), what))
		}
	}
	if more := len(users) - maxUsers; more > 0 {
		users = append(users[:maxUsers], fmt.Sprintf("%d more", more))
	}
	return strings.Join(users, ", ")
}

// openIn returns what a process has in a file system; "" = nothing.
func openIn(directory string, device uint64) string {
	for _, link := range []string{"cwd", "root", "exe"} {
		if onDevice(filepath.Join(directory, link), device) {
			target, _ := os.Readlink(filepath.Join(directory, link))
			return link + " " + target
		}
	}
	descriptors, _ := os.ReadDir(filepath.Join(directory, "fd")) // an error: the process has ended
	for _, fd := range descriptors {
		if link := filepath.Join(directory, "fd", fd.Name()); onDevice(link, device) {
			target, _ := os.Readlink(link)
			return "has " + target
		}
	}
	return ""
}

func onDevice(path string, device uint64) bool {
	info, err := os.Stat(path)
	return err == nil && info.Sys().(*syscall.Stat_t).Dev == device
}

// Twice is the error for an entry in /etc/fstab.
func Twice(path string) error {
	return protocol.Errorf(protocol.ConfigError, "/path", "/etc/fstab has an entry for %s too, and only one of the two would count: "+
		"remove it there", path)
}

// InFstab returns whether /etc/fstab has an entry for a path or a source, by the number of its field.
func InFstab(m *access.Machine, field int, value string) (bool, error) {
	text, err := os.ReadFile(m.Path("/etc/fstab"))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	unescape := strings.NewReplacer(`\040`, " ", `\011`, "\t", `\134`, `\`)
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		if len(words) > field && !strings.HasPrefix(words[0], "#") && unescape.Replace(words[field]) == value {
			return true, err
		}
	}
	return false, err
}
