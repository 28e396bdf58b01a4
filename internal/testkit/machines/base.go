package machines

import (
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// suites are the Debians that machines may have, the usual one first. TEST_MACHINE_SUITE chooses another.
var suites = [...]string{"bookworm", "trixie"}

const suiteVariable = "TEST_MACHINE_SUITE"

// chosen returns the suite of the machines.
func chosen() (string, error) {
	suite := cmp.Or(os.Getenv(suiteVariable), suites[0])
	if !slices.Contains(suites[:], suite) {
		return "", fmt.Errorf("%s is %q, and must be one of %q", suiteVariable, suite, suites)
	}
	return suite, nil
}

//go:embed base.sh
var baseScript string

// base is a Debian that machines share, and a key that they accept.
type base struct{ dir string }

func (b base) root() string { return filepath.Join(b.dir, "root") }
func (b base) key() string  { return filepath.Join(b.dir, "key") }

// hostKey returns the public key of every machine, as known_hosts has it.
func (b base) hostKey() (string, error) {
	text, err := os.ReadFile(filepath.Join(b.root(), "etc/ssh/ssh_host_ed25519_key.pub"))
	return strings.TrimSpace(string(text)), err
}

// openBase returns the base in the cache directory. The first run makes it, which takes half a
// minute, and others wait for it. Another recipe or mirror is another base.
func openBase() (base, error) {
	suite, failed := chosen()
	mirror, err := mirror()
	if err := errors.Join(failed, err); err != nil {
		return base{}, err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return base{}, err
	}
	cache = filepath.Join(cache, "deployster-machines")
	if err := os.MkdirAll(cache, 0o700); err != nil {
		return base{}, err
	}
	sum := sha256.Sum256([]byte(baseScript + "\n" + mirror + "\n" + suite))
	b := base{filepath.Join(cache, suite+"-"+hex.EncodeToString(sum[:6]))}
	unlock, err := lock(b.dir+".lock", syscall.LOCK_EX)
	if err != nil {
		return base{}, err
	}
	defer unlock()
	if _, err := os.Stat(b.dir); !errors.Is(err, fs.ErrNotExist) {
		return b, err
	}
	return b, b.make(mirror, suite)
}

// make makes the base beside its place, and renames it. Its mounts are in a namespace.
func (b base) make(mirror, suite string) error {
	part := b.dir + ".part"
	if err := os.RemoveAll(part); err != nil {
		return err
	}
	if err := os.Mkdir(part, 0o700); err != nil {
		return err
	}
	c := exec.Command("sh", "-c", baseScript, "base.sh", part, mirror, suite)
	c.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
	c.Env = append(os.Environ(), "LC_ALL=C", "DEBIAN_FRONTEND=noninteractive")
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("making a Debian by mmdebstrap: %w\n%s", err, tail(out))
	}
	return os.Rename(part, b.dir)
}

// mirror returns where this machine gets its Debian from.
func mirror() (string, error) {
	files, err := filepath.Glob("/etc/apt/sources.list.d/*.sources")
	if err != nil {
		return "", err
	}
	for _, file := range append(files, "/etc/apt/sources.list") {
		text, err := os.ReadFile(file)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		if m := mirrorIn(string(text)); m != "" {
			return m, nil
		}
	}
	return "", errors.New("neither /etc/apt/sources.list nor a file in /etc/apt/sources.list.d has a repository of Debian")
}

// mirrorIn returns the first repository in a file of apt's sources that has one of the suites, and so all of them, "" for none.
func mirrorIn(text string) string {
	for block := range strings.SplitSeq(text, "\n\n") {
		uri, has := "", false
		for line := range strings.Lines(block) {
			fields := strings.Fields(line)
			switch {
			case len(fields) < 2:
			case fields[0] == "URIs:":
				uri = fields[1]
			case fields[0] == "Suites:":
				has = slices.ContainsFunc(fields[1:], debian)
			case fields[0] == "deb" && len(fields) > 3:
				if fields[1][0] != '[' && debian(fields[2]) {
					return fields[1]
				}
			}
		}
		if uri != "" && has {
			return uri
		}
	}
	return ""
}

func debian(suite string) bool { return slices.Contains(suites[:], suite) }

// lock takes a lock on a file, which ends with this process at the latest.
func lock(file string, how int) (unlock func(), err error) {
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		if err = syscall.Flock(int(f.Fd()), how); !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() { _ = f.Close() }, nil
}

// tail returns the end of what a program printed.
func tail(out []byte) string {
	return string(out[max(0, len(out)-2000):])
}
