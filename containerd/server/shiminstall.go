package server

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"deployster/containerd/layout"
	"deployster/containerd/shim"
)

// ShimProgram is the program that is only the shim, beside the executable.
const ShimProgram = "deployster-shim"

// lightShim returns the path of the program in a directory that is only the
// shim, or "" when there is none that fits.
func lightShim(dir string) string {
	path := filepath.Join(dir, ShimProgram)
	if !layout.Exists(path) {
		return ""
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, shim.LayoutFlag)
	cmd.Env = []string{} // it asks nothing
	said, err := cmd.Output()
	if err != nil || string(said) != shim.Layout+"\n" {
		return ""
	}
	return path
}

// shimProgram returns the program that shims are: the light one beside this
// executable, or else this executable.
func shimProgram() string {
	const self = "/proc/self/exe"
	if real, err := os.Readlink(self); err == nil {
		if light := lightShim(filepath.Dir(real)); light != "" {
			return light
		}
	}
	return self
}

// installShim puts a program into dir under the shim's name. A shim starts
// itself again through os.Executable, which resolves symbolic links and would
// come back as the main program: so it is a hard link, or else a copy. It also
// stays what it is when the binary is replaced while the server runs.
func installShim(dir, program string) error {
	target := filepath.Join(dir, shim.Name)
	have, err := os.Stat(program)
	if err != nil {
		return err
	}
	if layout.IsInstalled(target, have) {
		return nil
	}
	tmp := target + ".new"
	_ = os.Remove(tmp)
	if unix.Linkat(unix.AT_FDCWD, program, unix.AT_FDCWD, tmp, unix.AT_SYMLINK_FOLLOW) != nil {
		return layout.InstallProgram(target, program)
	}
	return os.Rename(tmp, target)
}
