// Package planpage writes a plan as one page of HTML, for people who decide
// upon it: it needs no network and no other file, can be read without scripts,
// and cannot be made to run anything by what stands in the plan.
package planpage

import (
	"io"
	"slices"
	"strings"
	"time"

	"deployster/internal/ui/jsondiff"
	"deployster/plan"
)

// Page is what is to be shown.
type Page struct {
	Plan     *plan.Plan
	File     string // the name of the plan file
	Digest   string
	SignedBy string              // the key; "" = nobody
	Hide     func(string) string // takes secrets out of a text; nil = there are none

	// Changes gives the diff of a step, and what its image says of the values, by
	// the pointers of the rows.
	Changes func(*plan.Step) (jsondiff.Diff, map[string][]string)
}

// The limits of a page.
const (
	maxPage  = 64 << 20 // bytes, from which on resources are only named
	openUpTo = 300      // resources: of more, all are folded
)

// view is a page that is being written.
type view struct {
	w               *writer
	page            Page
	plan            *plan.Plan
	needs, neededBy map[string][]string
	changed, quiet  []string // addresses, in the order of the plan
	most            int      // bytes of one whole value
}

// Write writes the page.
func Write(out io.Writer, p Page) error {
	v := &view{w: newWriter(out, p.Hide), page: p, plan: p.Plan, needs: map[string][]string{}, neededBy: map[string][]string{}, most: 8000}
	if n := len(p.Plan.Resources); n > 5000 {
		v.most = 300
	} else if n > 500 {
		v.most = 1500
	}
	for _, e := range p.Plan.Edges {
		if !slices.Contains(v.needs[e.To], e.From) {
			v.needs[e.To], v.neededBy[e.From] = append(v.needs[e.To], e.From), append(v.neededBy[e.From], e.To)
		}
	}
	for _, addr := range p.Plan.Order() {
		if quiet(p.Plan.Resources[addr]) {
			v.quiet = append(v.quiet, addr)
		} else {
			v.changed = append(v.changed, addr)
		}
	}
	v.document()
	return v.w.end()
}

func (v *view) document() {
	w := v.w
	w.put(html("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"))
	w.put(html(`<meta http-equiv="Content-Security-Policy" content="`), html(policy()), html("\">\n"))
	w.put(html("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"referrer\" content=\"no-referrer\">\n"))
	w.put(html(`<title>`), v.page.File+": "+v.sentence(), html("</title>\n<link rel=\"icon\" href=\""), html(icon), html("\">\n"))
	w.put(html("<style>"), html(style), html("</style>\n</head>\n<body>\n"))
	v.bar()
	w.put(html("<div id=\"_page\">\n"))
	v.side()
	w.put(html("<main id=\"_main\" tabindex=\"-1\">\n"))
	v.head()
	v.graph()
	v.list()
	v.outputs()
	v.variables()
	w.put(html("<footer>deployster "), v.plan.Deployster, html(". Sensitive values are not on this page.</footer>\n</main>\n</div>\n"), html(help), html("<script>"), html(script), html("</script>\n</body>\n</html>\n"))
}

// bar is what stays at the top. Its controls are for scripts, which show them.
func (v *view) bar() {
	v.w.put(html("<a class=\"skip\" href=\"#_main\">To the resources</a>\n<header id=\"_bar\">\n<span class=\"brand\">"), v.page.File,
		html("</span>\n<div id=\"_controls\" hidden>\n<input id=\"_search\" type=\"search\" placeholder=\"Search addresses, types, values  (/)\" aria-label=\"Search addresses, types and values\" autocomplete=\"off\" spellcheck=\"false\">\n<output id=\"_shown\" for=\"_search\" aria-live=\"polite\"></output>\n"),
		html("<button type=\"button\" id=\"_fold\">Open all</button>\n<button type=\"button\" id=\"_theme\" title=\"Light, dark, or as the system says\"><span class=\"wide\">Theme: </span><span id=\"_themeName\">system</span></button>\n<button type=\"button\" id=\"_help\" aria-label=\"Keys\" title=\"Keys (?)\">?</button>\n</div>\n</header>\n"))
}

// sentence sums the plan up.
func (v *view) sentence() string {
	counts := v.counts()
	var parts []string
	for _, k := range kinds {
		if n := counts[k.change]; n > 0 {
			parts = append(parts, thousands(n)+" "+k.many)
		}
	}
	switch {
	case len(v.plan.Resources) == 0:
		return "no resources"
	case !v.plan.HasChanges() && len(v.changed) == 0:
		return "no changes, " + strings.Join(parts, ", ")
	}
	return strings.Join(parts, ", ")
}

func (v *view) counts() map[plan.Change]int {
	counts := map[plan.Change]int{}
	for _, s := range v.plan.Resources {
		counts[s.Change]++
	}
	return counts
}

// head sums the plan up, and says where it comes from.
func (v *view) head() {
	w, p := v.w, v.plan
	w.put(html("<section id=\"_summary\" aria-label=\"Summary\">\n<h1>Plan: "), v.sentence(), html("</h1>\n<ul id=\"_kinds\" aria-label=\"Resources by change\">\n"))
	counts := v.counts()
	for _, k := range kinds {
		if n := counts[k.change]; n > 0 {
			v.chip("k", k.class, k.sign, n, k.many, k.hint)
		}
	}
	for _, f := range traits {
		n := 0
		for _, s := range p.Resources {
			if f.is(s) {
				n++
			}
		}
		if n > 0 {
			v.chip("f", f.name, "", n, f.word, f.hint)
		}
	}
	w.put(html("</ul>\n"))
	v.warnings()
	w.put(html("<dl class=\"facts\">\n<dt>Made</dt><dd><time datetime=\""), p.Created.UTC().Format(time.RFC3339), html("\">"), p.Created.UTC().Format("2 January 2006, 15:04:05 UTC"), html("</time></dd>\n<dt>Digest</dt><dd><code id=\"_digest\">"), v.page.Digest, html("</code></dd>\n<dt>Signature</dt><dd>"))
	if v.page.SignedBy != "" {
		w.put(html("with the key <code>"), v.page.SignedBy, html("</code>"))
	} else {
		w.put(html("none"))
	}
	w.put(html("</dd>\n<dt>Made in</dt><dd><code>"), clip(p.Workspace, maxWords), html("</code></dd>\n<dt>State</dt><dd>"))
	if p.Lineage == "" {
		w.put(html("there was none"))
	} else {
		w.put(html("lineage <code>"), clip(p.Lineage, maxWords), html("</code>, serial "), int(p.Serial))
	}
	w.put(html("</dd>\n</dl>\n"))
	v.checks()
	w.put(html("</section>\n"))
}

// chip is a number with its word; scripts make a filter of it.
func (v *view) chip(attribute, name, sign html, n int, word, hint string) {
	v.w.put(html(`<li class="`), name, html(`" data-`), attribute, html(`="`), name, html(`" title="`), hint, html(`"><span class="sign" aria-hidden="true">`), sign, html(`</span><b>`), thousands(n), html(`</b> `), word, html("</li>\n"))
}

// warnings say what a person must know before reading on.
func (v *view) warnings() {
	say := func(text string) { v.w.put(html(`<p class="warn">`), clip(text, maxWords), html("</p>\n")) }
	p := v.plan
	if p.Errored {
		say("This plan is not whole, because of errors: it can be looked at, and not be applied.")
	}
	if len(p.Selection.Targets) > 0 {
		say("It is limited to what -target names, and to what that depends on: " + strings.Join(p.Selection.Targets, ", ") + ".")
	}
	if len(p.Selection.Excludes) > 0 {
		say("It leaves out what -exclude names, and what depends on that: " + strings.Join(p.Selection.Excludes, ", ") + ".")
	}
	if len(p.Selection.Replace) > 0 {
		say("It destroys and makes again what -replace names: " + strings.Join(p.Selection.Replace, ", ") + ".")
	}
	if p.Selection.NoRefresh {
		say("It believes what was last recorded (-refresh=false): only what the manifest has changed since was asked.")
	}
	if p.Selection.RefreshOnly {
		say("It records what is real, and does nothing (-refresh-only).")
	}
	if len(p.LeftOut) > 0 {
		say(counted(len(p.LeftOut), "resource") + " left out: " + strings.Join(p.LeftOut, ", ") + ".")
	}
}

func (v *view) checks() {
	for _, c := range v.plan.Checks {
		v.w.put(html(`<p class="check `), html(checkClass(string(c.Status))), html(`"><b>check `), c.Name, html(`</b>: `), string(c.Status))
		for _, m := range c.Messages {
			v.w.put(html(`<br>`), clip(m, maxWords))
		}
		v.w.put(html("</p>\n"))
	}
}

func checkClass(status string) string {
	if status == "pass" {
		return "pass"
	}
	return "warn"
}

func (v *view) graph() {
	if len(v.plan.Edges) == 0 {
		return
	}
	d := v.draw()
	w := v.w
	w.put(html(`<details id="_graph"`))
	if len(v.plan.Resources) <= 30 {
		w.put(html(` open`))
	}
	w.put(html("><summary><h2>Dependencies</h2></summary>\n"))
	if d.svg == "" {
		w.put(html("<p>There are too many modules to draw. Each resource names its neighbours.</p></details>\n"))
		return
	}
	w.put(html(`<p class="dim">An arrow points at what is needed. A box is a `), d.boxes, html(".</p>\n<div class=\"graph\" role=\"group\" aria-label=\"Graph of dependencies\" tabindex=\"0\">\n"), html(d.svg), html("</div></details>\n"))
}

// list writes the resources: first those to which something happens.
func (v *view) list() {
	w := v.w
	w.put(html("<section id=\"_changes\" aria-label=\"Changes\"><h2>Changes <span class=\"dim\">"), thousands(len(v.changed)), html(", in the order of the plan</span></h2>\n"))
	if len(v.changed) == 0 {
		w.put(html("<p>Nothing would be changed.</p>\n"))
	}
	for _, addr := range v.changed {
		v.resource(addr, v.plan.Resources[addr])
	}
	w.put(html("<p id=\"_none\" hidden>Nothing matches. Esc clears the search.</p></section>\n"))
	if len(v.quiet) == 0 {
		return
	}
	w.put(html("<details id=\"_quiet\"><summary><h2>As declared <span class=\"dim\">"), thousands(len(v.quiet)), html("</span></h2></summary>\n"))
	for _, addr := range v.quiet {
		v.resource(addr, v.plan.Resources[addr])
	}
	w.put(html("</details>\n"))
}
