package containerd

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// runcSeen is a runc that was asked for its version and is safe. Asking costs
// more than all else that a command does before its first container, so the
// answer is kept for as long as the file stays the very same.
type runcSeen struct {
	Path   string   `json:"path"`
	Device uint64   `json:"device"`
	Inode  uint64   `json:"inode"`
	Size   int64    `json:"size"`
	Ctime  [2]int64 `json:"ctime"` // seconds, nanoseconds: no change of the file leaves it as it was
}

func lookAtRunc(path string) (s runcSeen, err error) {
	var stat unix.Stat_t
	if err := unix.Stat(path, &stat); err != nil {
		return s, err
	}
	return runcSeen{Path: path, Device: stat.Dev, Inode: stat.Ino, Size: stat.Size, Ctime: [2]int64{stat.Ctim.Sec, stat.Ctim.Nsec}}, nil
}

// askRuncOnce is askRunc, and asks a safe one of this path only once. What it
// knows is in the data directory, where only root can write.
func askRuncOnce(ctx context.Context, dataDir, path string) (version string, safe bool, err error) {
	if dataDir == "" {
		return askRunc(ctx, path)
	}
	kept := filepath.Join(dataDir, "runc.json")
	now, err := lookAtRunc(path)
	if err != nil {
		return "", false, err
	}
	var before runcSeen
	if content, err := os.ReadFile(kept); err == nil && json.Unmarshal(content, &before) == nil && before == now {
		return "", true, nil
	}
	if version, safe, err = askRunc(ctx, path); err != nil || !safe {
		return version, safe, err
	}
	if after, err := lookAtRunc(path); err == nil && after == now {
		keepFile(kept, now)
	}
	return version, safe, nil
}
