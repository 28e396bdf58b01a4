package planpage

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"deployster/internal/ui/jsondiff"
	"deployster/plan"
	"deployster/protocol"
)

// The most that is written of one text, in bytes.
const (
	maxWords = 2000 // a sentence of an image, an argument
	maxLinks = 24   // neighbours that are named
)

// resource writes one resource: a line, and below it all that is known.
func (v *view) resource(addr string, s *plan.Step) {
	w, k := v.w, kindOf(s.Change)
	group, name := SplitModules(addr)
	w.put(html(`<details class="res `), k.class, html(`" id="`), addr, html(`" data-k="`), k.class, html(`" data-m="`), strings.Join(group, "."), html(`" data-f="`))
	for _, f := range traits {
		if f.is(s) {
			w.put(f.name, html(" "))
		}
	}
	w.put(html(`"`))
	if !quiet(s) && len(v.plan.Resources) <= openUpTo {
		w.put(html(` open`))
	}
	w.put(html("><summary><span class=\"sign\" aria-hidden=\"true\">"), k.sign, html(`</span><h3>`))
	if len(group) > 0 {
		w.put(html(`<span class="in">`), strings.Join(group, ".")+".", html(`</span>`))
	}
	w.put(name, html(`</h3><span class="type">`), clip(s.Type, maxWords), html(`</span><span class="tags"><span class="tag kind">`), k.word, html(`</span>`))
	for _, f := range traits {
		if f.is(s) {
			w.put(html(`<span class="tag" title="`), f.hint, html(`">`), f.word, html(`</span>`))
		}
	}
	w.put(html("</span></summary><div class=\"body\">\n"))
	if w.written < maxPage {
		v.body(addr, s)
	} else {
		w.put(html(`<p class="why">This page has become too large to say more. `), "`deployster show` and `deployster show -json` do.", html(`</p>`))
	}
	w.put(html("</div></details>\n"))
}

func (v *view) body(addr string, s *plan.Step) {
	v.why(s)
	v.changes(s)
	v.actions(s)
	v.whole(s)
	v.facts(addr, s)
}

// why says in sentences why a step is what it is.
func (v *view) why(s *plan.Step) {
	say := func(class html, text string) {
		v.w.put(html(`<p class="`), class, html(`">`), clip(text, maxWords), html("</p>\n"))
	}
	if s.MovedFrom != "" {
		say("why", "Its address in the state file is "+s.MovedFrom+".")
	}
	if s.Reason != "" {
		say("why", "Because "+s.Reason+".")
	}
	switch {
	case s.Drifted && s.Change == plan.Create:
		say("why", "It was there at the last apply, and is gone.")
	case s.Drifted:
		say("why", "It was right at the last apply, and was changed since by something else.")
	}
	if s.Adopted {
		say("why", "It exists already, and is adopted.")
	}
	if s.MayChange {
		say("why", "Something that it depends on changes: what is shown is an expectation, and apply may do something else.")
	}
	if len(s.Ignored) > 0 {
		say("why", "The manifest says something else here, which ignore_changes leaves alone: "+strings.Join(s.Ignored, ", ")+".")
	}
	for _, note := range s.Notes {
		say("warn", note)
	}
	if more := s.Settings.Widened(); len(more) > 0 {
		say("warn", "It runs with more than the defaults: "+strings.Join(more, ", ")+".")
	}
}

// changes writes the diff, with what the image says of each value beside it.
func (v *view) changes(s *plan.Step) {
	diff, notes := v.page.Changes(s)
	w := v.w
	if len(diff.Rows) > 0 {
		w.put(html("<table class=\"diff\"><caption>Changes</caption><tbody>\n"))
		for _, r := range diff.Rows {
			v.row(r, notes[r.Pointer])
			delete(notes, r.Pointer)
		}
		w.put(html("</tbody></table>\n"))
		if diff.More > 0 {
			w.put(html(`<p class="dim">`), counted(diff.More, "more value"), html(" that change.</p>\n"))
		}
		if diff.Unchanged > 0 {
			w.put(html(`<p class="dim">`), counted(diff.Unchanged, "value"), html(" unchanged.</p>\n"))
		}
	}
	for _, r := range s.Reasons { // what belongs to no row, in its order
		for _, note := range notes[r.Path] {
			w.put(html(`<p class="said">`), clip(note, maxWords), html("</p>\n"))
		}
		delete(notes, r.Path)
	}
}

// row writes one value that differs.
func (v *view) row(r jsondiff.Row, notes []string) {
	w := v.w
	class, sign, word := html("change"), html("~"), html("changed: ")
	switch r.Op {
	case jsondiff.Add:
		class, sign, word = "add", "+", "new: "
	case jsondiff.Remove:
		class, sign, word = "remove", "−", "gone: "
	}
	w.put(html(`<tr class="`), class, html(`"><th scope="row"><span class="op" aria-hidden="true">`), sign, html(`</span><span class="hear">`), word, html(`</span>`), r.Path, html(`</th><td>`))
	switch {
	case len(r.Lines) > 0:
		w.put(html(`<pre class="lines">`))
		for _, l := range r.Lines {
			v.line(l)
		}
		w.put(html(`</pre>`))
	default:
		if r.Have != "" {
			w.put(html(`<del>`), dedent(r.Have), html(`</del>`))
		}
		if r.Have != "" && r.Want != "" {
			w.put(html(` <span class="to" aria-label="becomes">→</span> `))
		}
		if r.Want != "" {
			w.put(html(`<ins>`), dedent(r.Want), html(`</ins>`))
		}
	}
	for _, note := range notes {
		w.put(html(`<p class="said">`), clip(note, maxWords), html(`</p>`))
	}
	w.put(html("</td></tr>\n"))
}

func (v *view) line(l jsondiff.Line) {
	w := v.w
	switch l.Op {
	case jsondiff.Add:
		w.put(html(`<ins><span aria-hidden="true">+ </span>`), l.Text, html("</ins>\n"))
	case jsondiff.Remove:
		w.put(html(`<del><span aria-hidden="true">− </span>`), l.Text, html("</del>\n"))
	case jsondiff.Gap:
		w.put(html(`<span class="dim">`), l.Text, html("</span>\n"))
	default:
		w.put(html("  "), l.Text, html("\n"))
	}
}

// dedent takes the eight columns off, in which the lines of a value stand that
// are not its first.
func dedent(text string) string { return strings.ReplaceAll(text, "\n        ", "\n") }

// actions lists what would be run.
func (v *view) actions(s *plan.Step) {
	w := v.w
	list := func(title html, actions ...protocol.Action) {
		if len(actions) == 0 {
			return
		}
		w.put(html(`<h4>`), title, html(`</h4><ol class="actions">`))
		for _, a := range actions {
			w.put(html(`<li><code>`), clip(a.Name, maxWords), html(`</code>`))
			if a.Description != "" && a.Description != a.Name {
				w.put(html(` <span>`), clip(a.Description, maxWords), html(`</span>`))
			}
			if text := commandText(a.Command); text != "" {
				w.put(html(` <span class="run">`), clip(text, maxWords), html(`</span>`))
			}
			w.put(html(`</li>`))
		}
		w.put(html("</ol>\n"))
	}
	if s.Shutdown != nil {
		list("First, before everything else", *s.Shutdown)
	}
	if s.Old != nil {
		list("To destroy what is there", s.Old.Actions...)
	}
	list("Actions", s.Actions...)
}

// commandText says what is run where it is not simply the image.
func commandText(c protocol.Command) string {
	var parts []string
	if c.Image != "" {
		parts = append(parts, "image "+c.Image)
	}
	if c.Entrypoint != "" {
		parts = append(parts, "entrypoint "+strconv.Quote(c.Entrypoint))
	}
	if len(c.Args) > 0 {
		quoted := make([]string, len(c.Args))
		for i, a := range c.Args {
			quoted[i] = strconv.Quote(a)
		}
		parts = append(parts, "args "+strings.Join(quoted, " "))
	}
	return strings.Join(parts, ", ")
}

// whole writes the config and what is there, folded.
func (v *view) whole(s *plan.Step) {
	fold := func(title html, raw json.RawMessage, sensitive []string, unknown map[string]string) {
		if len(raw) == 0 || string(raw) == "{}" {
			return
		}
		text := jsondiff.TextWithin(jsondiff.Value{JSON: raw, Sensitive: sensitive, Unknown: unknown}, 0, v.most, v.w.hide)
		v.w.put(html(`<details class="whole"><summary>`), title, html(`</summary><pre>`), text, html("</pre></details>\n"))
	}
	if s.Change != plan.Create && s.Change != plan.Deferred { // there it is the diff
		fold("Config", s.Config, s.Sensitive, s.Unknown)
	}
	if s.Was != nil {
		fold("State that was recorded", s.Was.State, s.Was.Sensitive, nil)
	}
	fold("State that was found", s.State, s.Hidden, nil)
	fold("State that was found", s.Stale, slices.Concat(s.Sensitive, s.Hidden), nil)
}

// facts writes where a resource comes from, and what it is connected to.
func (v *view) facts(addr string, s *plan.Step) {
	w := v.w
	w.put(html(`<dl class="facts">`))
	fact := func(name html, values ...string) {
		if len(values) == 0 || values[0] == "" {
			return
		}
		w.put(html(`<dt>`), name, html(`</dt><dd>`))
		for i, value := range values {
			if i > 0 {
				w.put(html(`<br>`))
			}
			w.put(clip(value, maxWords))
		}
		w.put(html(`</dd>`))
	}
	fact("Label", s.Init.Label)
	fact("Image", s.Init.Digest)
	if s.Verify != nil {
		fact("Signed with", s.Verify.KeyName)
	}
	fact("Declared at", s.Source)
	var mounts []string
	for _, m := range s.Mounts {
		mode := "read-only"
		if m.Writable {
			mode = "writable"
		}
		mounts = append(mounts, fmt.Sprintf("%s at %s, %s", m.Source, m.Target, mode))
	}
	fact("Mounts", mounts...)
	if t := timeouts(s); t != "" {
		fact("Timeouts", t)
	}
	fact("When removed", s.OnRemove)
	w.put(html("</dl>\n"))
	if len(v.needs[addr])+len(v.neededBy[addr]) > 0 {
		w.put(html(`<dl class="facts near">`)) // by itself: what is said of others is not searched
		v.neighbours("Depends on", v.needs[addr])
		v.neighbours("Needed by", v.neededBy[addr])
		w.put(html("</dl>\n"))
	}
	w.put(html(`<p class="perma"><a href="`), v.link(addr), html("\">Link to this resource</a></p>\n"))
}

func timeouts(s *plan.Step) string {
	var parts []string
	if s.Timeouts.State > 0 {
		parts = append(parts, "state "+time.Duration(s.Timeouts.State).String())
	}
	if s.Timeouts.Action > 0 {
		parts = append(parts, "actions "+time.Duration(s.Timeouts.Action).String())
	}
	return strings.Join(parts, ", ")
}

// neighbours links to the resources at the other ends of edges.
func (v *view) neighbours(title html, list []string) {
	if len(list) == 0 {
		return
	}
	w := v.w
	w.put(html(`<dt>`), title, html(`</dt><dd>`))
	for _, other := range list[:min(len(list), maxLinks)] {
		k := kindOf(v.plan.Resources[other].Change)
		w.put(html(`<a class="`), k.class, html(`" href="`), v.link(other), html(`"><span class="sign" aria-label="`), k.word, html(`">`), k.sign, html(`</span>`), other, html(`</a> `))
	}
	if more := len(list) - maxLinks; more > 0 {
		w.put(html(`<span class="dim">and `), thousands(more), html(` more</span>`))
	}
	w.put(html(`</dd>`))
}
