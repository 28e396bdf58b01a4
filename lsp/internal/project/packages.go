package project

import (
	"os"
	"path/filepath"
	"strings"

	"deployster/config"
	"deployster/internal/runtime/modsource"
)

// packages are the modules that init has fetched from registries and repositories, by the hashes of their trees.
type packages struct {
	cache string // of deployster; "" = there are none
}

// root returns where they are kept; "" = nowhere.
func (p packages) root() string {
	if p.cache == "" {
		return ""
	}
	return filepath.Join(p.cache, "modules")
}

// dir returns the directory of the module that a source names in a directory of manifests; "" = it is not pinned, or not
// kept here. The lock file is the nearest one above.
func (p packages) dir(from, source string) string {
	address, err := modsource.Parse(source)
	if err != nil || p.root() == "" {
		return ""
	}
	for {
		if lock, diags := config.ReadLock(from); lock != nil && !diags.HasErrors() {
			pin, pinned := lock.Modules[address.Package()]
			dir := filepath.Join(p.root(), filepath.Base(pin.Tree), filepath.FromSlash(address.Dir))
			if info, err := os.Stat(dir); !pinned || pin.Tree == "" || err != nil || !info.IsDir() {
				return ""
			}
			return dir
		}
		above := filepath.Dir(from)
		if above == from {
			return ""
		}
		from = above
	}
}

// Fetched reports whether a directory is of a module that was fetched: its files are pinned, and not changed here.
func (v *View) Fetched(dir string) bool {
	root := v.p.packages.root()
	return root != "" && strings.HasPrefix(dir, root+string(filepath.Separator))
}
