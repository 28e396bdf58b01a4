package modules

import (
	"crypto/sha1" // git has no better hash of most trees
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io/fs"
	"iter"
	"maps"
	"path"
	"slices"
	"strings"

	"deployster/config"
)

// The limits on one package.
const (
	maxEntries = 10_000
	maxBytes   = 64 << 20
)

// The modes of the entries of a tree, as git writes them.
const (
	modeFile    = "100644"
	modeProgram = "100755"
	modeLink    = "120000"
	modeDir     = "40000"
)

// entry is a file or a symbolic link.
type entry struct {
	mode    string
	content []byte // of a link: where it leads
}

// tree is all that a package has, by the path in it.
type tree struct {
	entries map[string]entry
	below   map[string]int // how many entries are below each directory
	size    int
}

func newTree() *tree { return &tree{entries: map[string]entry{}, below: map[string]int{}} }

// add adds an entry, or replaces one.
func (t *tree) add(name string, e entry) error {
	if !fs.ValidPath(name) || name == "." || strings.ContainsAny(name, "\x00\\") {
		return fmt.Errorf("it has a file with the path %q, which is outside of its root", name)
	}
	for _, element := range strings.Split(name, "/") {
		if strings.EqualFold(element, ".git") {
			return fmt.Errorf("it has the path %q; files of a repository of git itself are not part of a module", name)
		}
	}
	t.remove(name)
	for dir := range above(name) {
		if _, is := t.entries[dir]; is {
			t.remove(dir)
		}
		t.below[dir]++
	}
	t.entries[name] = e
	t.size += len(e.content)
	return t.fits(len(t.entries), int64(t.size))
}

// fits returns an error if a package with that many entries and bytes is too large.
func (t *tree) fits(entries int, bytes int64) error {
	switch {
	case entries > maxEntries:
		return fmt.Errorf("it has more than %d files, the limit", maxEntries)
	case bytes > maxBytes:
		return fmt.Errorf("its files have more than %d MiB, the limit", maxBytes>>20)
	}
	return nil
}

// remove removes an entry, or all below a directory.
func (t *tree) remove(name string) {
	if e, is := t.entries[name]; is {
		t.size -= len(e.content)
		delete(t.entries, name)
		for dir := range above(name) {
			t.below[dir]--
		}
		return
	}
	if t.below[name] == 0 {
		return
	}
	for _, below := range slices.Collect(maps.Keys(t.entries)) {
		if strings.HasPrefix(below, name+"/") {
			t.remove(below)
		}
	}
}

// above returns the directories that a path is in, the deepest first.
func above(name string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for dir := path.Dir(name); dir != "." && dir != "/" && yield(dir); dir = path.Dir(dir) {
		}
	}
}

// checkLinks returns an error for a symbolic link that leads out of the tree.
func (t *tree) checkLinks() error {
	for _, name := range slices.Sorted(maps.Keys(t.entries)) {
		if t.entries[name].mode != modeLink {
			continue
		}
		target := string(t.entries[name].content)
		if inside := path.Join(path.Dir(name), target); path.IsAbs(target) || inside == ".." || strings.HasPrefix(inside, "../") ||
			target == "" || strings.ContainsRune(target, 0) {
			return fmt.Errorf("its symbolic link %s leads to %q, out of the module. Such a link is not followed, so replace it by a copy",
				name, target)
		}
	}
	return nil
}

// hash returns the hash that git gives a tree with these entries, of the length of like.
func (t *tree) hash(like string) string {
	begin := sha256.New
	if len(like) == 2*sha1.Size {
		begin = sha1.New
	}
	return hex.EncodeToString(hashDir(begin, t.children()))
}

// children returns the entries by directory: the names in each.
func (t *tree) children() *dir {
	root := &dir{files: map[string]entry{}, dirs: map[string]*dir{}}
	for name, e := range t.entries {
		at := root
		elements := strings.Split(name, "/")
		for _, element := range elements[:len(elements)-1] {
			if at.dirs[element] == nil {
				at.dirs[element] = &dir{files: map[string]entry{}, dirs: map[string]*dir{}}
			}
			at = at.dirs[element]
		}
		at.files[elements[len(elements)-1]] = e
	}
	return root
}

// dir is a directory of a tree.
type dir struct {
	files map[string]entry
	dirs  map[string]*dir
}

// hashDir returns git's hash of a directory.
func hashDir(begin func() hash.Hash, d *dir) []byte {
	type line struct{ key, head, sum string }
	var lines []line
	for name, e := range d.files {
		lines = append(lines, line{name, e.mode + " " + name, string(hashObject(begin, "blob", e.content))})
	}
	for name, below := range d.dirs {
		lines = append(lines, line{name + "/", modeDir + " " + name, string(hashDir(begin, below))}) // git sorts directories so
	}
	slices.SortFunc(lines, func(a, b line) int { return strings.Compare(a.key, b.key) })
	var text strings.Builder
	for _, l := range lines {
		text.WriteString(l.head + "\x00" + l.sum)
	}
	return hashObject(begin, "tree", []byte(text.String()))
}

func hashObject(begin func() hash.Hash, kind string, content []byte) []byte {
	h := begin()
	_, _ = fmt.Fprintf(h, "%s %d\x00", kind, len(content)) // a hash takes everything
	_, _ = h.Write(content)
	return h.Sum(nil)
}

// files returns the tree as manifests use it.
func (t *tree) files() config.Package {
	p := config.Package{Files: map[string][]byte{}, Links: map[string]string{}}
	for name, e := range t.entries {
		if e.mode == modeLink {
			p.Links[name] = string(e.content)
		} else {
			p.Files[name] = e.content
		}
	}
	return p
}
