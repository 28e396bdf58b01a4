package daemon

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"deployster/internal/base/durable"
)

// runcFile is a runc that was asked for its version and is safe. Asking costs
// more than all else that a command does before its first container, so the
// answer is kept for as long as the file stays the very same.
type runcFile struct {
	Path   string   `json:"path"`
	Device uint64   `json:"device"`
	Inode  uint64   `json:"inode"`
	Size   int64    `json:"size"`
	Ctime  [2]int64 `json:"ctime"` // seconds, nanoseconds: no change of the file leaves it as it was
}

func statRunc(path string) (s runcFile, err error) {
	var stat unix.Stat_t
	if err := unix.Stat(path, &stat); err != nil {
		return s, err
	}
	return runcFile{Path: path, Device: stat.Dev, Inode: stat.Ino, Size: stat.Size, Ctime: [2]int64{stat.Ctim.Sec, stat.Ctim.Nsec}}, nil
}

// checkRunc is askRunc, and asks a safe one of this path only once. What it
// knows is in the data directory, where only root can write.
func checkRunc(ctx context.Context, dataDir, path string) (version string, safe bool, err error) {
	if dataDir == "" {
		return AskRunc(ctx, path)
	}
	kept := filepath.Join(dataDir, "runc.json")
	now, err := statRunc(path)
	if err != nil {
		return "", false, err
	}
	var before runcFile
	if content, err := os.ReadFile(kept); err == nil && json.Unmarshal(content, &before) == nil && before == now {
		return "", true, nil
	}
	if version, safe, err = AskRunc(ctx, path); err != nil || !safe {
		return version, safe, err
	}
	if after, err := statRunc(path); err == nil && after == now {
		if content, err := json.Marshal(now); err == nil {
			_ = durable.WriteUnsynced(kept, content, 0o600) // else it is asked again
		}
	}
	return version, safe, nil
}
