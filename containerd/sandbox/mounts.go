package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/opencontainers/runtime-spec/specs-go"
	"golang.org/x/sys/unix"

	"deployster/containerd/failure"
	"deployster/internal/base/diag"
	"deployster/internal/runtime/artifact/tree"
	"deployster/internal/runtime/runner"
)

// Grant is a mount with the file that it must show. The file is held open from before the
// container is created until it is checked that this file, and no replacement, is
// mounted: see CheckGrants.
type Grant struct {
	runner.Mount
	file *os.File
	stat unix.Stat_t
}

// openGrants opens the sources of the mounts of an invocation, parents before the mounts
// below them. After an error it returns the grants that are open already, for the caller
// to close.
func (k *Maker) openGrants(s runner.Spec) (grants []Grant, err error) {
	mounts := slices.Clone(s.Mounts)
	if dir := s.Settings.Workdir; dir != "" {
		// The working directory may be reached through links: they are the user's own,
		// and the container shows their target there.
		real, err := filepath.EvalSymlinks(dir)
		if err != nil {
			return grants, errNoSource(runner.Mount{Source: dir, Target: dir}, err)
		}
		mounts = append(mounts, runner.Mount{Source: real, Target: dir})
	}
	for _, m := range mounts {
		g, err := k.openGrant(m)
		if err != nil {
			return grants, err
		}
		grants = append(grants, g)
	}
	slices.SortStableFunc(grants, func(a, b Grant) int { return depth(a.Target) - depth(b.Target) })
	return grants, nil
}

func depth(target string) int { return strings.Count(target, "/") }

// openGrant checks both ends of a mount, as far as they are known before the container
// exists.
func (k *Maker) openGrant(m runner.Mount) (g Grant, err error) {
	if !filepath.IsAbs(m.Source) {
		return g, diag.Errorf("A mount is not usable", "Its source %q is not an absolute path.", m.Source)
	}
	if !path.IsAbs(m.Target) {
		return g, diag.Errorf("A mount is not usable", "Its path in the container, %q, is not an absolute path below /.", m.Target)
	}
	m.Source, m.Target = filepath.Clean(m.Source), path.Clean(m.Target)
	if KernelPath(m.Target) {
		return g, ErrKernelTarget(m.Target, m.Target)
	}
	if why := k.Withheld(m.Source); why != "" && !(m.Own && (m.Content != "" || k.keeps(m.Source))) {
		return g, diag.Errorf("A container cannot be given "+m.Source, "It was to be mounted at %s, but it %s. Name a file or directory "+
			"of its own.", m.Target, why)
	}
	g.Mount = m
	if g.file, err = tree.OpenNoLinks(m.Source); err != nil {
		return g, errNoSource(m, err)
	}
	if err := unix.Fstat(int(g.file.Fd()), &g.stat); err != nil {
		return g, errors.Join(errNoSource(m, err), g.file.Close())
	}
	return g, nil
}

// KernelPath reports whether a path in a container is the root or belongs to the kernel:
// a mount there would hide what the sandbox masks, or deceive the programs inside about
// it.
func KernelPath(target string) bool {
	if target == "/" {
		return true
	}
	for _, dir := range []string{"/proc", "/sys", "/dev"} {
		if Within(target, dir) {
			return true
		}
	}
	return false
}

// Within reports whether a clean path equals a directory or is below it.
func Within(p, dir string) bool {
	return p == dir || dir == "/" || strings.HasPrefix(p, dir+"/")
}

// Withheld returns why a path of this host is never mounted into a container, or "".
func (k *Maker) Withheld(source string) string {
	if KernelPath(source) {
		return "is the whole host, or belongs to its kernel"
	}
	for _, dir := range k.options.Own {
		if Within(source, dir) || Within(dir, source) {
			return "holds the images and sockets of deployster itself (" + dir + "), with which a container could make others"
		}
	}
	return ""
}

// keeps reports whether a path is below a directory in which the runner and the store of
// artifacts create directories for containers.
func (k *Maker) keeps(source string) bool {
	return slices.ContainsFunc(k.options.Kept, func(dir string) bool { return source != dir && Within(source, dir) })
}

func errNoSource(m runner.Mount, err error) error {
	if errors.Is(err, unix.ELOOP) {
		return diag.Errorf("The path of a mount changed",
			"%s, for %s in the container, has become a symbolic link, or goes through one, since it was planned. If that is intended, "+
				"plan again.", m.Source, m.Target)
	}
	return diag.Because(&runner.NoSourceError{Target: m.Target, Source: m.Source, Err: err}, "A plug's file or directory does not exist",
		"%s, for %s in the container: %s. Create it, or name another file or directory.", m.Source, m.Target, err)
}

func ErrKernelTarget(target, real string) error {
	if target != real {
		target += ", which the image makes a link to " + real + ","
	}
	return diag.Errorf("An image mounts something over the kernel's own files",
		"%s is the root of the container, or in its /proc, /sys or /dev. This is a fault of the image: report it to its author.", target)
}

// Bind returns a mount of a path of this host, including the mounts below it.
func (k *Maker) Bind(source, target string, writable bool) specs.Mount {
	return k.host.bind(source, target, writable)
}

// mount adds the mounts of an invocation to a spec.
func (h host) mount(spec *specs.Spec, s runner.Settings, grants []Grant, ids *IDRange) {
	taken := map[string]bool{}
	for _, g := range grants {
		taken[g.Target] = true
	}
	if s.Network != runner.NoNetwork {
		for _, file := range h.names {
			if !taken[file] {
				spec.Mounts = append(spec.Mounts, h.bind(file, file, false))
			}
		}
	}
	for _, g := range grants {
		m := h.bind(g.Source, g.Target, g.Writable)
		ids.mapMount(&m, g.stat, spec.Process.User)
		spec.Mounts = append(spec.Mounts, m)
	}
	if s.Workdir != "" {
		spec.Process.Cwd = path.Clean(s.Workdir)
	}
}

// bind returns a mount of a path of this host, including the mounts below it. Its options
// apply to those too, if the kernel supports that.
func (h host) bind(source, target string, writable bool) specs.Mount {
	options := []string{"rbind", "rprivate", "nosuid", "nodev"}
	if h.recursive {
		options = append(options, "rnosuid", "rnodev")
	}
	switch {
	case writable:
		options = append(options, "rw")
	case h.recursive:
		options = append(options, "ro", "rro")
	default:
		options = append(options, "ro")
	}
	return specs.Mount{Type: "bind", Source: source, Destination: target, Options: options}
}

// CheckGrants checks, before the program starts, that its container shows the granted
// files: whoever can write to a parent directory could have replaced a source while the
// container was created. It also checks where links in the image have led the mounts.
func CheckGrants(pid uint32, grants []Grant) error {
	if len(grants) == 0 || os.Geteuid() != 0 {
		return nil // only root may read another user's container
	}
	root, err := unix.Open(fmt.Sprintf("/proc/%d/root", pid), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return errUnchecked(err)
	}
	defer unix.Close(root)
	for _, g := range grants {
		if err := checkGrant(root, g); err != nil {
			return err
		}
	}
	return nil
}

func checkGrant(root int, g Grant) error {
	fd, err := openInRoot(root, g.Target)
	if err != nil {
		return errUnchecked(fmt.Errorf("%s: %w", g.Target, err))
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return errUnchecked(fmt.Errorf("%s: %w", g.Target, err))
	}
	if st.Dev != g.stat.Dev || st.Ino != g.stat.Ino {
		return diag.Errorf("Something else was mounted than was granted",
			"%s was replaced while the container was created, so that %s in it shows something else. The program was not started. Find "+
				"the writer of the directories above it, and try again.", g.Source, g.Target)
	}
	real, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd))
	if err == nil && KernelPath(real) {
		return ErrKernelTarget(g.Target, real)
	}
	return nil
}

// openInRoot opens a path as a process with the given root directory sees it. The kernel
// fails with EAGAIN if a path goes up through ".." while something is renamed or mounted
// anywhere on this host, and leaves retrying to the caller (openat2(2)).
func openInRoot(root int, target string) (fd int, err error) {
	for range 1000 {
		fd, err = unix.Openat2(root, target, &unix.OpenHow{
			Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_IN_ROOT | unix.RESOLVE_NO_MAGICLINKS,
		})
		if !errors.Is(err, unix.EAGAIN) && !errors.Is(err, unix.EINTR) {
			break
		}
		time.Sleep(time.Millisecond)
	}
	if errors.Is(err, unix.ENOSYS) {
		return unix.Openat(root, strings.TrimPrefix(target, "/"), unix.O_PATH|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0)
	}
	return fd, err
}

func errUnchecked(err error) error {
	return diag.Because(err, "Cannot check the mounts of a container",
		"%s. Its program was not started. Run deployster on the host that the containerd daemon runs on, and not in a container of its "+
			"own.",
		failure.Sentence(err))
}

// Fingerprint identifies the files that mounts show, to notice when others have replaced
// them: a running container continues showing the old ones.
func (k *Maker) Fingerprint(grants []Grant) string {
	var b strings.Builder
	for _, g := range grants {
		fmt.Fprintf(&b, "%s %s %d %d\n", g.Source, g.Target, g.stat.Dev, g.stat.Ino)
	}
	for _, name := range k.host.names {
		if i, err := os.Stat(name); err == nil {
			if st, ok := i.Sys().(*syscall.Stat_t); ok {
				fmt.Fprintf(&b, "%s %d %d\n", name, st.Dev, st.Ino)
			}
		}
	}
	return b.String()
}

// Shows returns the fingerprint of the files that the mounts of an invocation would show.
func (k *Maker) Shows(s runner.Spec) (fingerprint string, ok bool) {
	grants, err := k.openGrants(s)
	defer closeGrants(grants)
	return k.Fingerprint(grants), err == nil
}
