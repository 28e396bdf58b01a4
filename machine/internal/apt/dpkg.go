package apt

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"deployster/machine/internal/access"
)

// installed is one package that dpkg knows.
type installed struct {
	name     string // without the architecture
	arch     string
	version  string
	want     string // install, hold, deinstall, purge, unknown
	flag     string // ok, reinstreq
	status   string // installed, unpacked, half-configured, config-files, ...
	provides []string
}

// there reports whether the package is installed and works.
func (p installed) there() bool { return p.status == "installed" && p.flag == "ok" }

// broken reports whether dpkg was interrupted while it changed the package.
func (p installed) broken() bool {
	switch p.status {
	case "installed", "not-installed", "config-files":
		return p.flag != "ok"
	}
	return true
}

// database is all that dpkg knows at a time.
type database struct {
	packages []installed
	native   string // the architecture of dpkg itself
}

// queryFormat has what parseDatabase reads: a package a line, its fields between tabs.
const queryFormat = `${Package}\t${Architecture}\t${Version}\t${db:Status-Want}\t${db:Status-Eflag}\t${db:Status-Status}\t${Provides}\n`

func parseDatabase(text string) (*database, error) {
	d := &database{}
	for line := range strings.Lines(text) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(f) != 7 {
			return nil, fmt.Errorf("dpkg-query printed %q, which is not a package", line)
		}
		p := installed{name: f[0], arch: f[1], version: f[2], want: f[3], flag: f[4], status: f[5]}
		for one := range strings.SplitSeq(f[6], ",") {
			if name, _, _ := strings.Cut(strings.TrimSpace(one), " "); name != "" {
				p.provides = append(p.provides, name)
			}
		}
		if p.name == "dpkg" {
			d.native = p.arch
		}
		d.packages = append(d.packages, p)
	}
	return d, nil
}

// find returns the package with a name, or name:architecture; nil = dpkg does not know it.
func (d *database) find(name string) *installed {
	bare, arch, exact := strings.Cut(name, ":")
	var found *installed
	for i, p := range d.packages {
		switch {
		case p.name != bare || exact && p.arch != arch && (arch != "native" || p.arch != d.native):
		case exact || p.arch == d.native || p.arch == "all":
			return &d.packages[i]
		case found == nil:
			found = &d.packages[i]
		}
	}
	return found
}

// providers returns the names of the installed packages that provide a virtual name.
func (d *database) providers(name string) (names []string) {
	for _, p := range d.packages {
		if p.there() && slices.Contains(p.provides, name) && !slices.Contains(names, p.name) {
			names = append(names, p.name)
		}
	}
	return names
}

// interrupted returns the names of all packages that dpkg has not finished.
func (d *database) interrupted() (names []string) {
	for _, p := range d.packages {
		if p.broken() {
			names = append(names, p.name)
		}
	}
	return names
}

// reader reads dpkg's database when it has changed, once for all queries of a worker.
type reader struct {
	machine *access.Machine

	mu   sync.Mutex
	at   [2]unix.Stat_t
	last *database
}

const (
	statusFile = "/var/lib/dpkg/status"
	updatesDir = "/var/lib/dpkg/updates" // has what dpkg has not yet written into the status file
)

func (r *reader) read(ctx context.Context) (*database, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var now [2]unix.Stat_t
	for i, path := range []string{statusFile, updatesDir} {
		if err := unix.Stat(r.machine.Path(path), &now[i]); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		now[i].Atim = unix.Timespec{}
	}
	if r.last != nil && now == r.at {
		return r.last, nil
	}
	text, err := output(ctx, r.machine, "dpkg-query", "-W", "-f", queryFormat)
	if err != nil {
		return nil, err
	}
	if r.last, err = parseDatabase(text); err == nil {
		r.at = now // from before the query: a later change has another time
	}
	return r.last, err
}

// journaled reports whether dpkg was killed before it wrote all into its status file: apt
// then refuses to work.
func journaled(m *access.Machine) (bool, error) {
	entries, err := os.ReadDir(m.Path(updatesDir))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return strings.Trim(e.Name(), "0123456789") == "" }), err
}

// output runs a command and returns what it printed.
func output(ctx context.Context, m *access.Machine, args ...string) (string, error) {
	var out bytes.Buffer
	err := m.Run(ctx, access.Command{Args: args, Stdout: &out})
	return out.String(), err
}
