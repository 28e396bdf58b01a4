package source

import (
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	hcljson "github.com/hashicorp/hcl/v2/json"
	"golang.org/x/sync/errgroup"

	"deployster/config/limits"
)

// Parse parses files, except those beyond the limits.
func (s *Set) Parse(files []File) ([]hcl.Body, hcl.Diagnostics) {
	var bodies []hcl.Body
	var diags hcl.Diagnostics
	fit := 0
	for _, f := range files {
		s.Text[f.Path] = f.Bytes
		r := hcl.Range{Filename: f.Path, Start: hcl.InitialPos, End: hcl.InitialPos}
		if s.size += len(f.Bytes); len(f.Bytes) > MaxFileSize || s.size > maxTotalSize || len(s.Text) > MaxFiles {
			diags = append(diags, limits.Exceeded(r, fmt.Sprintf("bytes (in all files %d) or files (%d)", maxTotalSize, MaxFiles),
				MaxFileSize))
			break
		}
		fit++
	}
	parsed := make([]*hcl.File, fit)
	found := make([]hcl.Diagnostics, fit)
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := range parsed {
		group.Go(func() error {
			if p := limits.GuardIn(s.Pool, func() { parsed[i], found[i] = parseFile(files[i]) }); p != nil {
				found[i] = hcl.Diagnostics{Failure(fileStart(files[i].Path), p.Summary, "%s", p.Detail)}
			}
			return nil
		})
	}
	_ = group.Wait() // errors are in found
	for i, file := range parsed {
		s.Broken[files[i].Path] = found[i].HasErrors()
		diags = append(diags, FirstOfEach(found[i])...)
		if file != nil && file.Body != nil {
			bodies = append(bodies, file.Body)
			s.files[files[i].Path] = withoutBody(file)
		}
	}
	return bodies, diags
}

// FirstOfEach removes the diagnostics that repeat the error which the parser has just
// reported, at the same place or in other words on the next line.
func FirstOfEach(diags hcl.Diagnostics) hcl.Diagnostics {
	var out hcl.Diagnostics
	for _, d := range diags {
		again := slices.ContainsFunc(out, func(o *hcl.Diagnostic) bool {
			if o.Subject == nil || d.Subject == nil {
				return false
			}
			return o.Subject.Start == d.Subject.Start || o.Summary == d.Summary && d.Subject.Start.Line-o.Subject.Start.Line <= 1
		})
		if !again {
			out = append(out, d)
		}
		if len(out) > maxDiagnostics {
			break
		}
	}
	return out
}

// parseFile parses one file within the limits, in the syntax of its file name.
func parseFile(f File) (*hcl.File, hcl.Diagnostics) {
	if strings.HasSuffix(f.Path, ".json") {
		if d := limits.JSON(f.Bytes, f.Path); d != nil {
			return nil, hcl.Diagnostics{d}
		}
		return hcljson.Parse(f.Bytes, f.Path)
	}
	return parseNative(f.Bytes, f.Path)
}

// Shown returns a directory as the user would write it.
func (s *Set) Shown(dir string) string {
	if rel, err := filepath.Rel(s.Src.Workspace, dir); err == nil {
		return rel
	}
	return dir
}

// ModuleBodies parses the files of a module's directory, once.
func (s *Set) ModuleBodies(dir string, at hcl.Range) ([]hcl.Body, hcl.Diagnostics) {
	if bodies, ok := s.bodies[dir]; ok {
		return bodies, nil
	}
	files, problem := s.moduleFiles(dir, at)
	if problem != nil {
		return nil, hcl.Diagnostics{problem}
	}
	bodies, diags := s.Parse(files)
	if !diags.HasErrors() {
		s.bodies[dir] = bodies
	}
	return bodies, diags
}

// moduleFiles reads the files of a module, or returns those stored in a plan.
func (s *Set) moduleFiles(dir string, at hcl.Range) ([]File, *hcl.Diagnostic) {
	rel := s.Shown(dir)
	if files, ok := s.Src.Modules[rel]; ok {
		return files, nil
	}
	if s.Src.Replay {
		return nil, Failure(at, "The module is not in the plan", "The directory %s was not read when the plan was made, so it is not in "+
			"it. Make the plan again.", rel)
	}
	if p, _, inside := s.Reads.packageOf(dir); p != nil {
		files, why := p.manifests(inside)
		if why != "" {
			return nil, Failure(at, "No manifest", "%s", why)
		}
		s.Src.Modules[rel] = files
		return files, nil
	}
	f := finder{workspace: s.Src.Workspace, edited: s.Src.Edited, seen: map[string]bool{}}
	f.directory(rel)
	if len(f.diags) > 0 {
		return nil, Failure(at, "Unreadable module", "%s", f.diags[0].Detail)
	}
	if len(f.files) == 0 {
		return nil, Failure(at, "No manifest", "There is no manifest in the directory %s: no file whose name ends in .hcl or .hcl.json. "+
			"Correct the source, or write the module.", rel)
	}
	s.Src.Modules[rel] = f.files
	return f.files, nil
}
