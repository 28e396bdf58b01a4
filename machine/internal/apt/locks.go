package apt

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"deployster/machine/internal/access"
)

// The locks that apt and dpkg take. DPkg::Lock::Timeout makes apt-get wait for the first two alone.
var locks = []string{"/var/lib/dpkg/lock-frontend", "/var/lib/dpkg/lock", "/var/lib/apt/lists/lock", "/var/cache/apt/archives/lock"}

const (
	lockPoll = 250 * time.Millisecond
	lockSays = 30 * time.Second // how often the log reports what is waited for
)

// holder is a process that has a lock.
type holder struct {
	pid  int
	name string
	file string
}

func (h holder) String() string {
	return fmt.Sprintf("process %d (%s), which holds %s", h.pid, h.name, h.file)
}

// heldBy returns who has one of the locks; nil = nobody.
func heldBy(m *access.Machine) (*holder, error) {
	for _, path := range locks {
		file, err := os.OpenFile(m.Path(path), os.O_RDWR, 0)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		lock := unix.Flock_t{Type: unix.F_WRLCK}
		err = unix.FcntlFlock(file.Fd(), unix.F_GETLK, &lock)
		if err := errors.Join(err, file.Close()); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if lock.Type != unix.F_UNLCK {
			return &holder{pid: int(lock.Pid), name: nameOf(int(lock.Pid)), file: path}, nil
		}
	}
	return nil, nil
}

func nameOf(pid int) string {
	name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(name))
}

// free waits until nobody has one of the locks, and reports in the log for whom it waits.
func free(ctx context.Context, m *access.Machine, log io.Writer) error {
	var last time.Time
	for {
		h, err := heldBy(m)
		if h == nil || err != nil {
			return err
		}
		if time.Since(last) > lockSays {
			last = time.Now()
			_, _ = fmt.Fprintf(log, "waiting for %s\n", h)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w while waiting for %s", context.Cause(ctx), h)
		case <-time.After(lockPoll):
		}
	}
}

// quiet has no program prompt for an answer.
var quiet = []string{"DEBIAN_FRONTEND=noninteractive", "DEBIAN_PRIORITY=critical", "NEEDRESTART_MODE=l", "NEEDRESTART_SUSPEND=1",
	"APT_LISTCHANGES_FRONTEND=none", "APT_LISTBUGS_FRONTEND=none", "UCF_FORCE_CONFFOLD=1"}

// unkept has apt read what dpkg knows. It keeps that, and takes what it has kept for new if the file has the same size and was
// written in the same second: then a version that somebody has just installed by dpkg is missed.
const unkept = "Dir::Cache::pkgcache="

// aptGet runs apt-get when its locks are free. Somebody may take one between the check and the
// start: then it waits again.
func aptGet(ctx context.Context, m *access.Machine, log io.Writer, args ...string) error {
	all := append([]string{"apt-get", "-q", "-y", "-o", unkept, "-o", "DPkg::Lock::Timeout=-1",
		"-o", "Dpkg::Options::=--force-confdef", "-o", "Dpkg::Options::=--force-confold", "-o", "Dpkg::Use-Pty=0",
		"-o", "APT::Get::AutomaticRemove=false"}, args...)
	return locked(ctx, m, log, all...)
}

// locked runs a command that takes a lock.
func locked(ctx context.Context, m *access.Machine, log io.Writer, args ...string) error {
	for {
		if err := free(ctx, m, log); err != nil {
			return err
		}
		said := &ending{}
		to := io.MultiWriter(log, said)
		err := m.Run(ctx, access.Command{Args: args, Env: quiet, Stdout: to, Stderr: to})
		exit, ended := errors.AsType[*access.ExitError](err)
		if !ended {
			return err
		}
		if said.has("Could not get lock") || said.has("locked by another process") {
			select {
			case <-ctx.Done():
				return fmt.Errorf("%w while waiting for the locks of apt", context.Cause(ctx))
			case <-time.After(lockPoll):
				continue
			}
		}
		exit.Output = said.tail()
		return err
	}
}

// ending keeps the end of what a command prints: a diskful of it is in the log.
type ending struct{ text []byte }

const endingSize = 8 << 10

// Write implements io.Writer.
func (e *ending) Write(p []byte) (int, error) {
	e.text = append(e.text, p...)
	e.text = e.text[max(0, len(e.text)-endingSize):]
	return len(p), nil
}

func (e *ending) has(text string) bool { return strings.Contains(string(e.text), text) }

// tail returns the last lines.
func (e *ending) tail() string {
	lines := strings.Split(strings.TrimSpace(string(e.text)), "\n")
	return strings.Join(lines[max(0, len(lines)-20):], "\n")
}
