package cli

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"deployster/internal/diag"
	"deployster/internal/typeclient"
)

// keepRuns is how many runs' records are kept.
const keepRuns = 20

// recorder keeps what went into each container and what came out of it, for
// the person who has to find out later: .deployster/runs/<time>-<id>/<resource>/<step>/.
// Records are a convenience: failing to write one never fails a run, it is said
// once at the end.
type recorder struct {
	dir   string // of this run; made with the first record
	hide  func(string) string
	mu    sync.Mutex
	count map[string]int // steps of one name
	first error
}

// newRecorder prepares the records of one run of the tool.
func newRecorder(workdir string, now time.Time, hide func(string) string) *recorder {
	name := fmt.Sprintf("%s-%d", now.UTC().Format("20060102T150405.000Z"), os.Getpid())
	return &recorder{dir: filepath.Join(workdir, ".deployster", "runs", name), hide: hide, count: map[string]int{}}
}

// add records one invocation.
func (r *recorder) add(i typeclient.Invocation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	step := fileName(i.Address) + string(filepath.Separator) + fileName(i.Step)
	if r.count[step]++; r.count[step] > 1 {
		step += fmt.Sprintf("-%d", r.count[step])
	}
	dir := filepath.Join(r.dir, step)
	err := os.MkdirAll(dir, 0o700)
	if len(r.count) == 1 && err == nil {
		// Records belong to one machine: version control leaves them alone.
		err = os.WriteFile(filepath.Join(r.dir, "..", "..", ".gitignore"), []byte("*\n"), 0o600)
	}
	for name, data := range map[string][]byte{"stdin.json": i.Stdin, "stdout": i.Result.Stdout, "stderr": i.Result.Stderr} {
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), []byte(r.hide(string(data))), 0o600)
		}
	}
	if err != nil && r.first == nil {
		r.first = err
	}
}

// finish points `latest` to this run and removes the oldest ones.
func (r *recorder) finish() *diag.Diagnostic {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.count) == 0 {
		return nil
	}
	runs := filepath.Dir(r.dir)
	link := filepath.Join(runs, "latest")
	temp := link + "." + filepath.Base(r.dir)
	err := errors.Join(r.first, os.Symlink(filepath.Base(r.dir), temp), os.Rename(temp, link), prune(runs))
	if err != nil {
		return diag.Warningf("Records are not complete", "What the images were sent and what they answered could not be kept under %s: %s.", runs, err)
	}
	return nil
}

// prune keeps the newest runs; their names sort by time.
func prune(runs string) error {
	entries, err := os.ReadDir(runs)
	if err != nil {
		return err
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	for len(names) > keepRuns {
		if err := os.RemoveAll(filepath.Join(runs, names[0])); err != nil {
			return err
		}
		names = names[1:]
	}
	return nil
}

// fileName makes a name from an address or an action, which an image or a key
// of for_each chose. Two that are not the same have names that are not.
func fileName(name string) string {
	safe := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.[]", r) {
			return r
		}
		return '_'
	}, strings.ReplaceAll(name, `"`, ""))
	safe = strings.TrimLeft(safe, ".")
	if len(safe) > 100 {
		safe = safe[:100]
	}
	if safe != name {
		sum := sha256.Sum256([]byte(name))
		safe += "-" + hex.EncodeToString(sum[:4])
	}
	return safe
}
