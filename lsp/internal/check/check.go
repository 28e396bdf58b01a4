package check

import (
	"context"
	"path/filepath"
	"runtime/debug"

	"deployster/config"
	"deployster/internal/app/typecache"
	"deployster/internal/app/workspace"
	"deployster/internal/base/diag"
)

// Env is what a check takes from the process.
type Env struct {
	Environ []string
	Home    string
	Cache   string // where fetched modules are kept; "" = nowhere
	Version string // of the deployster whose schemas count
}

// Problem is an error or a warning.
type Problem struct {
	Path    string      // absolute; "" = it is of no file
	Range   *diag.Range // in the text that the path has; nil = none
	Warning bool
	Text    string // what happened, and what to do
}

// Result is what a check of a root has found.
type Result struct {
	Root     string
	Problems []Problem
	Files    []string // absolute: that were read
	Types    *Types   // nil = what is kept of them cannot be read
}

// Run checks the manifests of a root. A panic in it is a problem of the root, since the editor must live on.
func Run(ctx context.Context, env Env, root string, edited config.Edited) (r *Result) {
	r = &Result{Root: root}
	defer func() {
		if p := recover(); p != nil {
			fault := diag.Crash(p, debug.Stack(), "The manifests were not checked.")
			r = &Result{Root: root, Problems: problems(root, diag.Diagnostics{fault})}
		}
	}()
	w := workspace.New(workspace.Options{Dir: root, Home: env.Home, CacheDir: env.Cache, Environ: env.Environ, Version: env.Version})
	m, diags := w.Check(ctx, workspace.Inputs{Edited: edited})
	if !diags.HasErrors() {
		diags = append(diags, typecache.Check(w, m)...)
		r.Types = typesOf(w, m)
	} else {
		r.Types = typesOf(w, nil)
	}
	r.Problems = problems(root, w.Secrets.Diagnostics(diags))
	if m != nil {
		r.Files = files(root, m.Sources())
	}
	return r
}

// problems converts diagnostics, whose paths are relative to the root.
func problems(root string, diags diag.Diagnostics) []Problem {
	list := make([]Problem, 0, len(diags))
	for _, d := range diags {
		p := Problem{Warning: d.Severity == diag.Warning, Text: d.Summary, Range: d.Range}
		if d.Detail != "" {
			p.Text += ": " + d.Detail
		}
		if d.Range != nil {
			if p.Path = d.Range.Filename; !filepath.IsAbs(p.Path) {
				p.Path = filepath.Join(root, p.Path)
			}
		}
		list = append(list, p)
	}
	return list
}

func files(root string, s config.Sources) (list []string) {
	add := func(files []config.File) {
		for _, f := range files {
			path := f.Path
			if !filepath.IsAbs(path) {
				path = filepath.Join(root, path)
			}
			list = append(list, path)
		}
	}
	add(s.Manifests)
	for _, module := range s.Modules {
		add(module)
	}
	return list
}
