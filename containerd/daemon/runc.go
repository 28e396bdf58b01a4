package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/containerd/containerd/v2/version"
	"golang.org/x/sys/unix"

	"deployster/containerd/layout"
	"deployster/internal/base/diag"
	"deployster/internal/base/durable"
	"deployster/internal/base/programs"
)

// runcMinimum is the oldest safe version of each release line: older ones let an image
// break out (CVE-2026-41579, CVE-2025-31133, CVE-2024-21626 and others).
const runcMinimum = "1.3.6 / 1.4.3 / 1.5.0"

var runcVersion = regexp.MustCompile(`(?m)^runc version (\d+)\.(\d+)\.(\d+)(-rc[^\s+]*)?`)

// AskRunc returns the version that a runc reports, and whether it is safe.
func AskRunc(ctx context.Context, path string) (version string, safe bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, path, "--version").Output()
	if err != nil {
		return "", false, err
	}
	return parseRunc(string(out))
}

func parseRunc(out string) (version string, safe bool, err error) {
	m := runcVersion.FindStringSubmatch(out)
	if m == nil {
		return "", false, fmt.Errorf("its version is not printed as by runc: %.80q", out)
	}
	var v [3]int
	for i := range v {
		if v[i], err = strconv.Atoi(m[i+1]); err != nil {
			return "", false, err
		}
	}
	version = strings.TrimPrefix(m[0], "runc version ")
	// A release candidate comes before its release.
	if m[4] != "" {
		v[2]--
	}
	switch {
	case v[0] != 1:
		safe = v[0] > 1
	case v[1] == 3:
		safe = v[2] >= 6
	case v[1] == 4:
		safe = v[2] >= 3
	default:
		safe = v[1] > 5 || v[1] == 5 && v[2] >= 0
	}
	return version, safe, nil
}

// findRunc chooses the runc of the embedded containerd: the first safe one of the runc
// from the options, the one that is installed with this program, and the one on PATH.
func findRunc(ctx context.Context, o Options) (string, error) {
	if o.Runc != "" {
		// A runc from the options must exist; no other replaces it.
		if path := runcPath(o.Runc); !executable(path) {
			return "", errNamedRunc(path)
		}
	}
	var looked, found []string
	var old, oldVersion string
	for _, path := range runcCandidates(o) {
		looked = append(looked, path)
		if _, err := os.Stat(path); err != nil {
			continue
		}
		version, safe, err := checkRunc(ctx, o.DataDir, path)
		switch {
		case err != nil:
			found = append(found, fmt.Sprintf("%s (%v)", path, err))
		case safe:
			return path, nil
		default:
			found = append(found, fmt.Sprintf("%s (%s)", path, version))
			if old == "" {
				old, oldVersion = path, version
			}
		}
	}
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case old != "" && o.AllowOldRunc:
		o.Warn(warnOldRunc(old, oldVersion, ""))
		return old, nil
	case len(found) > 0:
		return "", errOldRunc(found)
	}
	return "", errNoRunc(append(looked, "runc on PATH"))
}

func executable(path string) bool {
	i, err := os.Stat(path)
	return err == nil && i.Mode().IsRegular() && i.Mode()&0o111 != 0
}

func runcCandidates(o Options) (paths []string) {
	if o.Runc != "" {
		paths = append(paths, runcPath(o.Runc))
	}
	for _, dir := range programs.Dirs() {
		paths = append(paths, filepath.Join(dir, "runc"))
	}
	if path := runcPath("runc"); filepath.IsAbs(path) {
		paths = append(paths, path)
	}
	return paths
}

// runcPath returns the full path of a runc that a user has named, as a shell would find
// it, because processes with other working directories use it.
func runcPath(name string) string {
	if path, err := exec.LookPath(name); err == nil {
		name = path
	} else if filepath.Base(name) == name {
		return name
	}
	if path, err := filepath.Abs(name); err == nil {
		return path
	}
	return name
}

// Versions returns the version of the containerd that is linked in, and the version and the
// path of the runc that it would use, "" if there is none.
func Versions(ctx context.Context, dataDir, named string) (containerd, runc, path string) {
	containerd, _, _ = strings.Cut(version.Version, "+")
	quiet := func(*diag.Diagnostic) {} // the version shows that it is old
	o := Options{Config: layout.Config{DataDir: dataDir}, Runc: named, AllowOldRunc: true, Warn: quiet}
	if path, err := findRunc(ctx, o); err == nil {
		runc, _, _ = checkRunc(ctx, dataDir, path) // "" = unknown
		return containerd, runc, path
	}
	return containerd, "", ""
}

// CheckDaemonRunc warns of an old runc of a running daemon, as far as it can find it out:
// the daemon is the peer of its socket, and searches for runc on its own PATH. It only
// warns, since the daemon's owner chooses the daemon's runc.
func CheckDaemonRunc(ctx context.Context, socket string, warn func(*diag.Diagnostic)) {
	pid, err := peer(socket)
	if err != nil {
		return
	}
	// In another mount namespace the same path would be another file.
	mine, err1 := os.Readlink("/proc/self/ns/mnt")
	theirs, err2 := os.Readlink(fmt.Sprintf("/proc/%d/ns/mnt", pid))
	env, err3 := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	if errors.Join(err1, err2, err3) != nil || mine != theirs {
		return
	}
	for _, kv := range strings.Split(string(env), "\x00") {
		list, ok := strings.CutPrefix(kv, "PATH=")
		if !ok {
			continue
		}
		for _, dir := range filepath.SplitList(list) {
			path := filepath.Join(dir, "runc")
			if i, err := os.Stat(path); err != nil || !i.Mode().IsRegular() || !filepath.IsAbs(path) {
				continue
			}
			if version, safe, err := AskRunc(ctx, path); err == nil && !safe {
				warn(warnOldRunc(path, version, " and is what the containerd at "+socket+" uses"))
			}
			return
		}
	}
}

// peer returns the id of the process that listens at a Unix socket.
func peer(socket string) (int, error) {
	c, err := net.DialUnix("unix", nil, &net.UnixAddr{Net: "unix", Name: socket})
	if err != nil {
		return 0, err
	}
	defer c.Close()
	cred, err := layout.Peer(c)
	if err != nil {
		return 0, err
	}
	return int(cred.Pid), nil
}

// runcFile identifies the file of a runc that has reported a safe version. Querying a runc
// takes longer than everything else that a command does before its first container, so
// the version is cached until the file changes.
type runcFile struct {
	Path   string   `json:"path"`
	Device uint64   `json:"device"`
	Inode  uint64   `json:"inode"`
	Size   int64    `json:"size"`
	Ctime  [2]int64 `json:"ctime"` // seconds, nanoseconds: every change of the file changes it
}

func statRunc(path string) (s runcFile, err error) {
	var stat unix.Stat_t
	if err := unix.Stat(path, &stat); err != nil {
		return s, err
	}
	return runcFile{Path: path, Device: stat.Dev, Inode: stat.Ino, Size: stat.Size, Ctime: [2]int64{stat.Ctim.Sec, stat.Ctim.Nsec}}, nil
}

// keptRunc is the cached version of a safe runc.
type keptRunc struct {
	runcFile
	Version string `json:"version"`
}

// RuncVersion returns the version of the runc in use; "" = it is a daemon's own, or its
// version is unknown.
func (c *Conn) RuncVersion(ctx context.Context) string {
	if !c.Embedded {
		return ""
	}
	version, _, _ := checkRunc(ctx, c.Config.DataDir, c.Runc)
	return version
}

// checkRunc is AskRunc with a cache for the last safe runc. The cache is in the data
// directory, where only root can write.
func checkRunc(ctx context.Context, dataDir, path string) (version string, safe bool, err error) {
	if dataDir == "" {
		return AskRunc(ctx, path)
	}
	kept := filepath.Join(dataDir, "runc.json")
	now, err := statRunc(path)
	if err != nil {
		return "", false, err
	}
	var before keptRunc
	content, err := os.ReadFile(kept)
	if err == nil && json.Unmarshal(content, &before) == nil && before.runcFile == now && before.Version != "" {
		return before.Version, true, nil
	}
	if version, safe, err = AskRunc(ctx, path); err != nil || !safe {
		return version, safe, err
	}
	if after, err := statRunc(path); err == nil && after == now {
		if content, err := json.Marshal(keptRunc{now, version}); err == nil {
			_ = durable.WriteUnsynced(kept, content, 0o600) // on failure it is queried again
		}
	}
	return version, safe, nil
}
