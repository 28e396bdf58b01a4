package apt

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"deployster/machine/internal/access"
)

// simulator simulates transactions.
type simulator struct {
	machine *access.Machine
	run     func(ctx context.Context, m *access.Machine, args ...string) (transaction, error)
	kept    remembered[transaction]
}

// simulate returns what an apt-get with these arguments would do now.
func (s *simulator) simulate(ctx context.Context, args ...string) (transaction, error) {
	return s.kept.find(s.machine, strings.Join(args, "\x00"), func() (transaction, error) { return s.run(ctx, s.machine, args...) })
}

// remembered has what apt has answered. A plan, the query before an action and the action itself all need the same, and a
// simulation takes apt longer than the installation: so a worker keeps answers until one of the files that apt decides by
// has changed.
type remembered[T any] struct {
	mu    sync.Mutex
	at    string // what the files were
	known map[string]T
}

// maxKnown is how many answers are kept.
const maxKnown = 1000

// decisive are the files and directories that apt decides by, with all that they hold.
var decisive = []string{"/etc/apt", listsDir, "/var/lib/apt/extended_states", statusFile, updatesDir, "/var/lib/dpkg/arch"}

// find returns the answer with a key: one that is kept, or a new one.
func (r *remembered[T]) find(m *access.Machine, key string, answer func() (T, error)) (t T, err error) {
	now, ok, err := fingerprint(m)
	if err != nil {
		return t, err
	}
	if ok {
		if t, found := r.recall(now, key); found {
			return t, nil
		}
	}
	t, err = answer()
	if ok && err == nil {
		r.keep(now, key, t) // from before the answer: a later change has another time
	}
	return t, err
}

func (r *remembered[T]) recall(at, key string) (t T, found bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.at != at {
		return t, false
	}
	t, found = r.known[key]
	return t, found
}

func (r *remembered[T]) keep(at, key string, t T) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.at != at || r.known == nil || len(r.known) >= maxKnown {
		r.at, r.known = at, map[string]T{}
	}
	r.known[key] = t
}

// elsewhere matches a setting of apt that names other files than the decisive ones.
var elsewhere = regexp.MustCompile(`(?i)#include|rootdir|\bdir\s*[{"]|\bdir::(etc|state)\b`)

// fingerprint returns a text that changes with each change of the decisive files; ok is false if
// apt is configured to decide by others.
func fingerprint(m *access.Machine) (text string, ok bool, err error) {
	files := map[string]unix.Stat_t{}
	for _, root := range decisive {
		err := filepath.WalkDir(m.Path(root), func(path string, d fs.DirEntry, err error) error {
			var is unix.Stat_t // of what a link leads to: apt links indexes of file: repositories
			if err == nil && d.Name() == "partial" {
				return fs.SkipDir
			}
			if err == nil {
				err = unix.Stat(path, &is)
			}
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			is.Atim = unix.Timespec{}
			files[path] = is
			return err
		})
		if err != nil {
			return "", false, fmt.Errorf("what apt decides by cannot be read: %w", err)
		}
	}
	for path := range files {
		if !strings.Contains(path, "/apt.conf") {
			continue
		}
		settings, err := os.ReadFile(path)
		if err == nil && elsewhere.Match(settings) {
			return "", false, nil
		}
	}
	return fmt.Sprint(files), true, nil
}
