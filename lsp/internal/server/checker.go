package server

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/lsp/internal/check"
	"deployster/lsp/internal/project"
	"deployster/lsp/internal/text"
	"deployster/lsp/internal/wire"
)

// source is what editors show as the origin of diagnostics.
const source = "deployster"

// checker checks roots after changes, one after the other, and publishes what it finds.
type checker struct {
	o       Options
	project *project.Project
	publish func(wire.Diagnostics)
	wake    chan struct{}

	mu      sync.Mutex
	dirs    map[string]bool               // have changed
	types   map[string]*check.Types       // of the roots that were checked
	found   map[string]map[string][]found // by root, and by the path of the file
	visible map[string]bool               // files with diagnostics in the editor
}

// found is a diagnostic, and how it can be mended.
type found struct {
	wire.Diagnostic
	fix *fix
}

func newChecker(o Options, p *project.Project) *checker {
	return &checker{o: o, project: p, wake: make(chan struct{}, 1), dirs: map[string]bool{}, types: map[string]*check.Types{},
		found: map[string]map[string][]found{}, visible: map[string]bool{}}
}

// changed has the roots of a file checked.
func (c *checker) changed(path string) { c.want(filepath.Dir(path)) }

// all has the roots of all open files checked.
func (c *checker) all() {
	for path := range c.project.Edited() {
		c.want(filepath.Dir(path))
	}
}

func (c *checker) want(dir string) {
	c.mu.Lock()
	c.dirs[dir] = true
	c.mu.Unlock()
	select {
	case c.wake <- struct{}{}:
	default: // it will be awake
	}
}

// run checks until the context ends.
func (c *checker) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.wake:
		}
		select { // further letters of the same word
		case <-ctx.Done():
			return
		case <-time.After(c.o.Delay):
		}
		c.mu.Lock()
		dirs := slices.Sorted(maps.Keys(c.dirs))
		clear(c.dirs)
		c.mu.Unlock()
		c.check(ctx, dirs)
	}
}

// check checks the roots of directories. Those of which no file is open are forgotten.
func (c *checker) check(ctx context.Context, dirs []string) {
	v, edited := c.project.View(), c.project.Edited()
	roots, used := map[string]bool{}, map[string]bool{}
	for _, dir := range dirs {
		for _, root := range v.Roots(dir) {
			roots[root] = true
		}
	}
	for path := range edited {
		for _, root := range v.Roots(filepath.Dir(path)) {
			used[root] = true
		}
	}
	for _, root := range slices.Sorted(maps.Keys(roots)) {
		if !used[root] || ctx.Err() != nil {
			continue
		}
		result := check.Run(ctx, c.o.Env, root, edited)
		c.mu.Lock()
		if before := c.types[root]; before == nil || result.Types != nil && (result.Types.Valid || !before.Valid) {
			c.types[root] = result.Types
		}
		c.found[root] = c.located(result, edited)
		c.mu.Unlock()
	}
	c.mu.Lock()
	for root := range c.found {
		if !used[root] {
			delete(c.found, root)
			delete(c.types, root)
		}
	}
	changes := c.changes(edited)
	c.mu.Unlock()
	if ctx.Err() == nil {
		for _, d := range changes {
			c.publish(d)
		}
	}
}

// located returns the diagnostics of a result, by file.
func (c *checker) located(r *check.Result, edited config.Edited) map[string][]found {
	all, lines := map[string][]found{}, map[string]*text.Lines{}
	of := func(path string) *text.Lines {
		if lines[path] == nil {
			src, open := edited[path]
			if !open {
				src, _ = config.ReadSource(path) // without a text, the place is its begin
			}
			lines[path] = text.New(src)
		}
		return lines[path]
	}
	for _, p := range r.Problems {
		d := found{Diagnostic: wire.Diagnostic{Severity: wire.SeverityError, Source: source, Message: p.Text}}
		if p.Warning {
			d.Severity = wire.SeverityWarning
		}
		path := p.Path
		if path == "" && len(r.Files) > 0 {
			path = r.Files[0]
		}
		if path == "" {
			path = first(r.Root, edited)
		}
		if path == "" {
			continue
		}
		if p.Range != nil {
			d.Range = of(path).Bytes(p.Range.Start.Byte, p.Range.End.Byte)
			d.fix = fixOf(p.Text, of(path), *p.Range)
		}
		all[path] = append(all[path], d)
	}
	return all
}

// first returns the first open file of a directory, for problems of none.
func first(root string, edited config.Edited) string {
	for _, path := range slices.Sorted(maps.Keys(edited)) {
		if filepath.Dir(path) == root {
			return path
		}
	}
	return ""
}

// changes returns what the editor does not show yet.
func (c *checker) changes(edited config.Edited) (list []wire.Diagnostics) {
	files := map[string][]wire.Diagnostic{}
	for path := range c.visible {
		files[path] = nil
	}
	for path := range edited {
		files[path] = c.alone(path, edited[path])
	}
	for _, root := range slices.Sorted(maps.Keys(c.found)) {
		for path, all := range c.found[root] {
			for _, d := range all {
				if !slices.Contains(files[path], d.Diagnostic) { // it is of two roots
					files[path] = append(files[path], d.Diagnostic)
				}
			}
		}
	}
	clear(c.visible)
	for _, path := range slices.Sorted(maps.Keys(files)) {
		if len(files[path]) > 0 {
			c.visible[path] = true
		}
		list = append(list, wire.Diagnostics{URI: wire.URI(path), Diagnostics: append([]wire.Diagnostic{}, files[path]...)})
	}
	return list
}

// alone returns the mistakes in the syntax of a file that no check reads, such as tests.
func (c *checker) alone(path string, src []byte) (list []wire.Diagnostic) {
	name := filepath.Base(path)
	if !strings.HasSuffix(name, ".hcl") || config.IsManifest(name) || config.IsVariableFile(name) || config.IsNested(src) {
		return nil
	}
	_, diags := config.Format(name, src)
	lines := text.New(src)
	for _, d := range diags {
		one := wire.Diagnostic{Severity: wire.SeverityError, Source: source, Message: d.Summary + ": " + d.Detail}
		if d.Range != nil {
			one.Range = lines.Bytes(d.Range.Start.Byte, d.Range.End.Byte)
		}
		if d.Severity == diag.Error {
			list = append(list, one)
		}
	}
	return list
}

// typesFor returns the types of the roots of a directory.
func (c *checker) typesFor(v *project.View, dir string) []*check.Types {
	c.mu.Lock()
	defer c.mu.Unlock()
	var list []*check.Types
	for _, root := range v.Roots(dir) {
		if t := c.types[root]; t != nil {
			list = append(list, t)
		}
	}
	return list
}

// fixes returns the diagnostics of a file that can be mended.
func (c *checker) fixes(path string) (list []found) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, root := range slices.Sorted(maps.Keys(c.found)) {
		for _, d := range c.found[root][path] {
			if d.fix != nil {
				list = append(list, d)
			}
		}
	}
	return list
}
