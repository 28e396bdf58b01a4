package project

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"deployster/config"
)

// The limits of a search for manifests.
const (
	maxDirs  = 5000            // that are searched in all folders
	maxLevel = 12              // below a folder
	maxAge   = 5 * time.Second // after which a search is repeated
)

// Project is what is open in an editor. Its methods are safe for concurrent use.
type Project struct {
	*Files
	packages packages

	mu      sync.Mutex
	folders []string
	dirs    []string // with manifests
	found   time.Time
}

// New returns a project without folders. Fetched modules are kept in the cache; "" = there are none.
func New(cache string) *Project { return &Project{Files: NewFiles(), packages: packages{cache}} }

// Folders sets the folders that are open in the editor.
func (p *Project) Folders(change func([]string) []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.folders, p.found = change(p.folders), time.Time{}
}

// Search makes the next question about directories search for manifests again.
func (p *Project) Search() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.found = time.Time{}
}

// Dirs returns the directories with manifests: those in the folders, and those of open files.
func (p *Project) Dirs() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if time.Since(p.found) > maxAge {
		p.dirs, p.found = search(p.folders), time.Now()
	}
	dirs := slices.Clone(p.dirs)
	for path, file := range p.Edited() {
		if file != nil && p.isManifest(path) {
			dirs = append(dirs, filepath.Dir(path))
		}
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}

func (p *Project) isManifest(path string) bool {
	file := p.Opened(path)
	return file != nil && file.Manifest
}

// search returns the directories with manifests in folders. It enters none whose name begins with a dot.
func search(folders []string) (dirs []string) {
	searched := 0
	for _, folder := range folders {
		_ = filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
			switch {
			case err != nil && e == nil:
				return err
			case err != nil:
				return fs.SkipDir // it cannot be read
			case !e.IsDir():
				if config.IsManifest(e.Name()) {
					dirs = append(dirs, filepath.Dir(path))
				}
				return nil
			}
			level := strings.Count(strings.TrimPrefix(path, folder), string(filepath.Separator))
			if searched++; searched > maxDirs {
				return fs.SkipAll
			}
			if path != folder && (strings.HasPrefix(e.Name(), ".") || e.Name() == "node_modules") || level > maxLevel {
				return fs.SkipDir
			}
			return nil
		})
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}
