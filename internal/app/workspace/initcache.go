package workspace

import (
	"os"
	"path/filepath"
	"slices"
	"time"

	"deployster/internal/base/durable"
)

// keepInits is how many init answers are kept: hardly a project has more types.
const keepInits = 256

// InitCache keeps the init answers of images, in a file each, so that the next command
// need not run them. It only saves time: an answer that cannot be read or written counts
// as not kept.
type InitCache struct{ dir string }

// NewInitCache returns the InitCache of a directory.
func NewInitCache(workdir string) InitCache {
	return InitCache{filepath.Join(workdir, ".deployster", "types")}
}

// Get implements typeclient.InitCache.
func (c InitCache) Get(key string) ([]byte, bool) {
	answer, err := os.ReadFile(filepath.Join(c.dir, key+".json"))
	return answer, err == nil
}

// Put implements typeclient.InitCache. All users may read the answers: validate needs
// them, and runs without root.
func (c InitCache) Put(key string, answer []byte) {
	if os.MkdirAll(c.dir, 0o755) != nil || durable.WriteFile(filepath.Join(c.dir, key+".json"), answer, 0o644) != nil {
		return
	}
	_ = os.WriteFile(filepath.Join(c.dir, "..", ".gitignore"), []byte("*\n"), 0o644) // the cache belongs to this machine only
	c.prune()
}

// prune removes the oldest answers.
func (c InitCache) prune() {
	entries, err := os.ReadDir(c.dir)
	if err != nil || len(entries) <= keepInits {
		return
	}
	age := func(e os.DirEntry) time.Time {
		info, err := e.Info()
		if err != nil {
			return time.Time{}
		}
		return info.ModTime()
	}
	slices.SortFunc(entries, func(a, b os.DirEntry) int { return age(a).Compare(age(b)) })
	for _, e := range entries[:len(entries)-keepInits] {
		_ = os.Remove(filepath.Join(c.dir, e.Name())) // the next prune tries again
	}
}
