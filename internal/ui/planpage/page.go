package planpage

import (
	"bufio"
	"html/template"
	"io"
	"iter"
	"slices"
	"strings"
	"time"

	"deployster/config"
	"deployster/internal/base/words"
	"deployster/internal/ui/jsondiff"
	"deployster/internal/ui/policylines"
	"deployster/internal/ui/render"
	"deployster/plan"
	"deployster/plan/order"
	"deployster/plan/reason"
)

// Page is the content of a page.
type Page struct {
	Plan     *plan.Plan
	File     string // the name of the plan file
	Digest   string
	SignedBy []string            // the ids of the keys
	Hide     func(string) string // hides secrets in a text; nil = there are none

	// Changes returns the diff of a step, and the image's remarks on the values, by the
	// pointers of the rows.
	Changes func(*plan.Step) (jsondiff.Diff, map[string][]string)
}

// The limits of a page.
const (
	maxPage  = 64 << 20 // bytes, from which on resources are listed without details
	openUpTo = 300      // resources: if there are more, all are collapsed
)

// view converts a plan to the document that page.html shows.
type view struct {
	page            Page
	plan            *plan.Plan
	hide            func(string) string
	out             *sizeWriter
	needs, neededBy map[string][]string
	changed, quiet  []string // addresses, in the order of the plan
	maxValue        int      // bytes of one whole value
}

// document is the data that page.html shows.
type document struct {
	Policy string
	Style  template.CSS
	Script template.JS

	File, Summary, Digest, Workspace, Lineage, Begins, Version text
	SignedBy                                                   []text

	Kinds, Traits            []chip
	Warnings                 []text
	Created                  time.Time
	Serial                   uint64
	Checks                   []check
	Graph                    *graphic // nil = there are no dependencies
	Modules                  *module  // nil = all resources are in the root module
	Artifacts                []artifactRow
	Hosts                    []hostRow
	ChangedCount, QuietCount int
	Changed, Quiet           iter.Seq[resource]
	Outputs, Variables       []row
}

// chip is a number with its word; the script makes a filter of it.
type chip struct {
	Class, Sign, Word, Hint text
	Count                   int
}

type check struct {
	Class, What, Name, Status text
	Messages                  []text
}

// Write writes the page.
func Write(out io.Writer, p Page) error {
	t, err := template.New("page").Funcs(template.FuncMap{"thousands": words.Thousands, "count": words.Count}).Parse(markup)
	if err != nil {
		return err
	}
	buffer := bufio.NewWriterSize(out, 1<<16)
	v := newView(p, &sizeWriter{out: buffer})
	if err := t.Execute(v.out, v.document()); err != nil {
		return err
	}
	return buffer.Flush()
}

func newView(p Page, out *sizeWriter) *view {
	v := &view{page: p, plan: p.Plan, hide: p.Hide, out: out, needs: map[string][]string{}, neededBy: map[string][]string{}, maxValue: 8000}
	if v.hide == nil {
		v.hide = func(s string) string { return s }
	}
	if n := len(p.Plan.Resources); n > 5000 {
		v.maxValue = 300
	} else if n > 500 {
		v.maxValue = 1500
	}
	for _, e := range p.Plan.Edges {
		if e.Origin == order.Removal { // a removal comes before its dependencies
			e.From, e.To = e.To, e.From
		}
		if !slices.Contains(v.needs[e.To], e.From) {
			v.needs[e.To], v.neededBy[e.From] = append(v.needs[e.To], e.From), append(v.neededBy[e.From], e.To)
		}
	}
	for _, addr := range p.Plan.Order() {
		if p.Plan.Resources[addr].Quiet() {
			v.quiet = append(v.quiet, addr)
		} else {
			v.changed = append(v.changed, addr)
		}
	}
	return v
}

// sizeWriter counts the bytes that it writes.
type sizeWriter struct {
	out  io.Writer
	size int // bytes
}

// Write implements io.Writer.
func (w *sizeWriter) Write(b []byte) (int, error) {
	n, err := w.out.Write(b)
	w.size += n
	return n, err
}

func (v *view) document() document {
	p := v.plan
	d := document{Policy: policy(), Style: template.CSS(style), Script: template.JS(script),
		File: v.text(v.page.File), Digest: v.text(v.page.Digest), Version: v.text(p.Deployster),
		Workspace: v.clipped(p.Workspace), Lineage: v.clipped(p.Lineage), Serial: p.Serial, Created: p.Created.UTC(),
		Warnings: v.warnings(),
		Checks:   append(v.policies(), v.checks()...), Artifacts: v.artifacts(), Hosts: v.hosts(),
		Graph: v.graph(), Modules: v.modules(), Outputs: v.outputs(), Variables: v.variables(),
		ChangedCount: len(v.changed), Changed: v.resources(v.changed), QuietCount: len(v.quiet), Quiet: v.resources(v.quiet)}
	for _, key := range v.page.SignedBy {
		d.SignedBy = append(d.SignedBy, v.text(key))
	}
	if p.Begins != nil {
		d.Begins = v.text(p.Begins.String())
	}
	for _, k := range kinds {
		if n := v.count(func(s *plan.Step) bool { return kindOf(s).Class == k.Class }); n > 0 {
			d.Kinds = append(d.Kinds, chip{Class: k.Class, Sign: k.Sign, Word: k.many, Hint: k.hint, Count: n})
		}
	}
	for _, t := range traits {
		if n := v.count(t.is); n > 0 && !t.quiet {
			d.Traits = append(d.Traits, chip{Class: t.Class, Word: t.Word, Hint: t.Hint, Count: n})
		}
	}
	switch d.Summary = v.text(render.Counts(p)); {
	case len(p.Resources) == 0:
		d.Summary = "no resources"
	case !p.HasChanges() && len(v.changed) == 0:
		d.Summary = v.text("no changes, " + words.Count(p.Summary.Valid, "unchanged resource"))
	}
	return d
}

func (v *view) count(is func(*plan.Step) bool) (n int) {
	for _, s := range v.plan.Resources {
		if is(s) {
			n++
		}
	}
	return n
}

// warnings returns what a reader must know first.
func (v *view) warnings() []text {
	p := v.plan
	var list []string
	if p.Errored {
		list = append(list, "This plan is incomplete, because of errors: it can be reviewed, and not be applied.")
	}
	for _, w := range []struct {
		about string
		names []string
	}{
		{"It is limited to the manifests on its command line: ", p.Selection.Only},
		{"It is limited to the -target resources and their dependencies: ", p.Selection.Targets},
		{"It skips the -exclude resources and their dependants: ", p.Selection.Excludes},
		{"It replaces the -replace resources: ", p.Selection.Replace},
	} {
		if len(w.names) > 0 {
			list = append(list, w.about+strings.Join(w.names, ", ")+".")
		}
	}
	if p.Selection.NoRefresh {
		list = append(list, "It uses the recorded state (-refresh=false): only the state of changed configs was read.")
	}
	if p.Selection.RefreshOnly {
		list = append(list, "It records the current state, and changes nothing else (-refresh-only).")
	}
	if left := slices.DeleteFunc(slices.Clone(p.LeftOut), func(addr string) bool { return p.Unreached[addr] != nil }); len(left) > 0 {
		list = append(list, words.Count(len(left), "resource")+" left out: "+strings.Join(left, ", ")+".")
	}
	if left := len(p.Unreached) - len(reason.Awaited(p.Unreached)); left > 0 {
		list = append(list, "An apply of it is incomplete: "+words.Count(left, "resource")+" skipped, because of unreachable hosts.")
	}
	for _, line := range reason.Lines(p.Unreached, len(p.Unreached)) {
		list = append(list, "Left: "+line+".")
	}
	later, kept := render.Later(p, len(p.Later))
	for _, line := range later {
		list = append(list, line+".")
	}
	if kept != "" {
		list = append(list, "Until then these keep what is recorded: "+kept+".")
	}
	for _, line := range append(render.Transfers(p), render.Remotes(p)...) {
		list = append(list, line+".")
	}
	for i := range p.Exclusive {
		list = append(list, p.Exclusive[i].Head()+".")
		for _, line := range p.Exclusive[i].Lines(100) {
			list = append(list, "exclusive."+p.Exclusive[i].Name+": "+line+".")
		}
	}
	return v.clippedAll(list)
}

func (v *view) checks() (list []check) {
	for _, c := range v.plan.Checks {
		class := text("warn")
		if c.Status == config.CheckPass {
			class = "pass"
		}
		status := string(c.Status)
		if c.Gate {
			status += ", a gate between waves of hosts"
		}
		list = append(list, check{class, "check", v.text(c.Name), v.text(status), v.clippedAll(c.Messages)})
	}
	return list
}

// policies returns what the policies found, in the form of checks.
func (v *view) policies() (list []check) {
	for _, p := range v.plan.Policies {
		class := text("pass")
		switch {
		case p.Denies:
			class = "deny"
		case p.Failed():
			class = "warn"
		}
		list = append(list, check{class, "policy", v.text(p.Name), v.text(policylines.Status(p)), v.clippedAll(policylines.Messages(p))})
	}
	return list
}
