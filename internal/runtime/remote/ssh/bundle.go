package ssh

import (
	"archive/tar"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"deployster/internal/base/durable"
	"deployster/internal/base/packed"
)

// Bundle is the programs that a host needs, as one archive.
type Bundle struct {
	Path     string
	SHA256   string // of the archive, in hex
	Size     int64  // bytes
	Gzip     bool   // the archive is compressed as a whole, as make and releases do for other architectures
	Restorer string // the checksum of the program that restores the others, in hex
	First    int64  // bytes of the archive until the end of that program
}

// Host is the name of the program that runs on a host: see deployster/internal/onhost.
const Host = "deployster-host"

// Programs maps the names of the programs in a bundle to their files: programs, or what packed.Pack made of them. It must
// have Host, and packed.Restorer as it is.
type Programs map[string]string

// bundleOrder is the order of the programs in the archive: the one that restores the others is the first.
var bundleOrder = [...]string{packed.Restorer, Host, "deployster-shim", "runc"}

// MakeBundle returns the bundle of the given programs. It writes the bundle once and keeps
// it in dir until it was not used for 30 days. Concurrent calls, as for many hosts, wait for
// the first one, which writes it.
func MakeBundle(ctx context.Context, programs Programs, dir string) (b Bundle, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return Bundle{}, err
	}
	lock, err := durable.WaitLock(ctx, filepath.Join(dir, "lock"), true, "making a bundle")
	if err != nil {
		return Bundle{}, err
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	key := sha256.New()
	for _, name := range bundleOrder {
		if programs[name] == "" {
			continue
		}
		info, err := os.Stat(programs[name])
		if err != nil {
			return Bundle{}, err
		}
		fmt.Fprintf(key, "%s %s %d %d\n", name, programs[name], info.Size(), info.ModTime().UnixNano())
	}
	path := filepath.Join(dir, "far-"+hex.EncodeToString(key.Sum(nil))[:16]+".bundle")
	sum, err := os.ReadFile(path + ".sha256")
	if errors.Is(err, os.ErrNotExist) {
		removeUnused(dir)
		sum, err = writeBundle(path, programs)
	}
	if err != nil {
		return Bundle{}, err
	}
	now := time.Now()
	_ = os.Chtimes(path, now, now) // at worst the bundle is removed and written again
	info, err := os.Stat(path)
	if err != nil {
		return Bundle{}, err
	}
	b = Bundle{Path: path, Size: info.Size()}
	if _, err := fmt.Sscan(string(sum), &b.SHA256, &b.First, &b.Restorer); err != nil || len(b.SHA256) != hex.EncodedLen(sha256.Size) {
		return Bundle{}, fmt.Errorf("%s.sha256 is damaged: remove it", path)
	}
	return b, nil
}

// How long an unused bundle is kept, and the partial one that a killed command has left.
const (
	keepBundle  = 30 * 24 * time.Hour
	keepPartial = 24 * time.Hour
)

// removeUnused removes bundles that were not used for long, and partial ones. It leaves
// those that it cannot remove for the next call.
func removeUnused(dir string) {
	for pattern, keep := range map[string]time.Duration{"far-*.bundle": keepBundle, partial: keepPartial} {
		found, _ := filepath.Glob(filepath.Join(dir, pattern)) // the pattern is valid
		for _, path := range found {
			if info, err := os.Lstat(path); err == nil && time.Since(info.ModTime()) > keep {
				_ = os.Remove(path + ".sha256") // first: without it the bundle is written again
				_ = os.Remove(path)
			}
		}
	}
}

// partial is the pattern for the names of incomplete bundles.
const partial = ".bundle-*"

// restorerOf returns where the program that restores the others ends in the archive, and its checksum.
func restorerOf(programs Programs) (string, error) {
	content, err := os.ReadFile(programs[packed.Restorer])
	sum := sha256.Sum256(content)
	return fmt.Sprint(packed.HeadSize+len(content), " ", hex.EncodeToString(sum[:])), err
}

// writeBundle writes the archive, and then its checksum, with what restorerOf returns.
func writeBundle(path string, programs Programs) (sum []byte, err error) {
	temporary, err := os.CreateTemp(filepath.Dir(path), partial)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, temporary.Close(), os.Remove(temporary.Name()))
		}
	}()
	hash := sha256.New()
	restorer, err := restorerOf(programs)
	archive := tar.NewWriter(io.MultiWriter(temporary, hash))
	for _, name := range bundleOrder {
		if err == nil && programs[name] != "" {
			err = addProgram(archive, name, programs)
		}
	}
	if err := errors.Join(err, archive.Close(), temporary.Sync()); err != nil {
		return nil, err
	}
	if err := os.Rename(temporary.Name(), path); err != nil {
		return nil, err
	}
	sum = fmt.Appendln(nil, hex.EncodeToString(hash.Sum(nil)), restorer)
	return sum, errors.Join(temporary.Close(), durable.WriteFile(path+".sha256", sum, 0o600))
}

// machines maps Go's names of architectures to the names that uname -m prints, where these differ.
var machines = map[string]string{"amd64": "x86_64", "arm64": "aarch64"}

// Machine returns the name that uname -m prints for an architecture of Go.
func Machine(arch string) string { return cmp.Or(machines[arch], arch) }

// otherName returns the name of the file with the bundle for another architecture.
func otherName(arch string) string { return "deployster-linux-" + arch + ".bundle" }

// others returns the bundles for other architectures that find knows, by the name that
// uname -m prints. Each bundle has a file with its checksum next to it.
func others(find func(name string) string) (map[string]Bundle, error) {
	found := map[string]Bundle{}
	for arch, machine := range machines {
		path := ""
		if find != nil {
			path = find(otherName(arch))
		}
		if path == "" {
			continue
		}
		info, err := os.Stat(path)
		sum, sumErr := os.ReadFile(path + ".sha256")
		if err := errors.Join(err, sumErr); err != nil {
			return nil, err
		}
		hash, _, _ := strings.Cut(strings.TrimSpace(string(sum)), " ")
		if raw, err := hex.DecodeString(hash); err != nil || len(raw) != sha256.Size {
			return nil, fmt.Errorf("%s.sha256 has no checksum of SHA-256", path)
		}
		found[machine] = Bundle{Path: path, SHA256: hash, Size: info.Size(), Gzip: true}
	}
	return found, nil
}

// choice returns the part of the script that selects the bundle for the host's architecture.
func choice(bundles map[string]Bundle, own string) string {
	if len(bundles) == 1 {
		for _, only := range bundles {
			return only.choose()
		}
	}
	var text strings.Builder
	text.WriteString("case $(uname -m) in")
	for _, machine := range slices.Sorted(maps.Keys(bundles)) {
		fmt.Fprintf(&text, " %s) %s;;", machine, bundles[machine].choose())
	}
	return text.String() + " *) " + bundles[own].choose() + ";; esac"
}

// choose returns the part of the script that selects a bundle.
func (b Bundle) choose() string {
	if b.Gzip {
		return "S=" + b.SHA256
	}
	return fmt.Sprintf("S=%s A=%s L=%d", b.SHA256, b.Restorer, b.First)
}

// addProgram adds a program: the one that restores the others as it is, the others compressed.
func addProgram(archive *tar.Writer, name string, programs Programs) error {
	path := programs[name]
	content, err := os.ReadFile(path)
	if name != packed.Restorer {
		if name += packed.Ending; !strings.HasSuffix(path, packed.Ending) {
			content, err = packed.Pack(path, false)
		}
	}
	if err != nil {
		return err
	}
	header := tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o755, Size: int64(len(content)), ModTime: time.Unix(0, 0)}
	if err := archive.WriteHeader(&header); err != nil {
		return err
	}
	_, err = archive.Write(content)
	return err
}
