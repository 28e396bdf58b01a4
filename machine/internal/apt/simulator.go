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

// simulator simulates transactions. A plan, the query before an action and the action itself all need
// the same one, and a simulation takes apt longer than the installation: so a worker keeps what it
// has simulated, until one of the files that apt decides by has changed.
type simulator struct {
	machine *access.Machine
	run     func(ctx context.Context, m *access.Machine, args ...string) (transaction, error)

	mu    sync.Mutex
	at    string // what the files were
	known map[string]transaction
}

// maxKnown is how many simulations are kept.
const maxKnown = 1000

// decisive are the files and directories that apt decides by, with all that they hold.
var decisive = []string{"/etc/apt", listsDir, "/var/lib/apt/extended_states", statusFile, updatesDir, "/var/lib/dpkg/arch"}

// simulate returns what an apt-get with these arguments would do now.
func (s *simulator) simulate(ctx context.Context, args ...string) (transaction, error) {
	now, ok, err := fingerprint(s.machine)
	if err != nil {
		return nil, err
	}
	key := strings.Join(args, "\x00")
	if ok {
		if t, found := s.recall(now, key); found {
			return t, nil
		}
	}
	t, err := s.run(ctx, s.machine, args...)
	if ok && err == nil {
		s.keep(now, key, t) // from before the simulation: a later change has another time
	}
	return t, err
}

func (s *simulator) recall(at, key string) (transaction, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.at != at {
		return nil, false
	}
	t, found := s.known[key]
	return t, found
}

func (s *simulator) keep(at, key string, t transaction) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.at != at || s.known == nil || len(s.known) >= maxKnown {
		s.at, s.known = at, map[string]transaction{}
	}
	s.known[key] = t
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
