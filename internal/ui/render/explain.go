package render

import (
	"fmt"
	"strings"
	"time"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/base/jsondoc"
	"deployster/internal/base/words"
	"deployster/internal/ui/jsondiff"
	"deployster/internal/ui/paint"
	"deployster/plan"
	"deployster/plan/explain"
	"deployster/plan/inputs"
	"deployster/plan/reason"
	"deployster/state"
)

// maxExplained is the maximum number of values of a config that are explained.
const maxExplained = 20

// ToExplain returns the pointers to the values of a config to explain: those that the
// manifest has changed since the last apply, or if there are none, those that differ from
// the present state.
func ToExplain(s *plan.Step, prior *state.Entry) []string {
	var rows []jsondiff.Row
	if prior != nil {
		rows = configChanges(s, prior, nil).Rows
	}
	if len(rows) == 0 {
		d, _ := Changes(s, nil)
		rows = d.Rows
	}
	if len(rows) == 0 && s.Certainty == plan.MayChange {
		rows = jsondiff.List(jsondiff.Value{JSON: s.Config, Sensitive: s.Sensitive, Unknown: s.Unknown, MayChange: s.MayChangeAt},
			jsondiff.Options{}).Rows
	}
	var pointers []string
	for _, r := range rows {
		if len(pointers) < maxExplained && r.Op != jsondiff.Remove && declares(s, r.Pointer) {
			pointers = append(pointers, r.Pointer)
		}
	}
	return pointers
}

// declares reports whether the config has a value at a pointer: a value that only the
// image has comes from no source.
func declares(s *plan.Step, pointer string) bool {
	if _, unknown := s.Unknown[pointer]; unknown {
		return true
	}
	tree, err := jsondoc.Value(s.Config)
	return err == nil && jsondoc.At(tree, jsondoc.Pointer(pointer)) != nil
}

// configChanges returns the changes of the config since the last apply.
func configChanges(s *plan.Step, prior *state.Entry, hide func(string) string) jsondiff.Diff {
	return jsondiff.Compare(jsondiff.Value{JSON: prior.Config, Sensitive: append(prior.Sensitive.Config, s.Sensitive...)},
		jsondiff.Value{JSON: s.Config, Sensitive: append(s.Sensitive, prior.Sensitive.Config...),
			Unknown: s.Unknown, MayChange: s.MayChangeAt}, jsondiff.Options{Hide: hide, Missing: true, Extra: true})
}

// Explain returns a text that explains which inputs, and from where, cause the change of one resource.
func Explain(e *explain.Explanation, o Options) string {
	var b strings.Builder
	symbol, words := mark(e.Step)
	source := ""
	if e.Step.Source != "" {
		source = "  " + paint.Dim("("+diag.Visible(e.Step.Source)+")")
	}
	fmt.Fprintf(&b, "%s %s %s%s\n", symbol, paint.Bold(diag.Visible(e.Address)), words, source)
	for _, line := range reasons(e.Step, false) {
		fmt.Fprintf(&b, "    %s\n", line)
	}
	for _, note := range reason.Words(e.Step.Notes) {
		fmt.Fprintf(&b, "    %s\n", paint.Yellow(diag.Visible(note)))
	}
	writeReasons(&b, e, o)
	compareRecorded(&b, e, o)
	writeNeeds(&b, e, o)
	for _, x := range e.Config {
		explainValue(&b, e.Step, x, o)
	}
	b.WriteByte('\n')
	return b.String()
}

// writeReasons prints the reasons that the image gives.
func writeReasons(b *strings.Builder, e *explain.Explanation, o Options) {
	for i, r := range e.Step.Answer().Reasons {
		if i == maxExplained {
			fmt.Fprintf(b, "    and %s\n", words.Count(len(e.Step.Answer().Reasons)-i, "more reason"))
			return
		}
		text := oneLine(clean(o.Hide, r.Message))
		if text == "" {
			text = "it differs"
		}
		fmt.Fprintf(b, "  Reason of its image for %s: %s\n", pathOrWhole(jsondiff.Path(r.Path)), text)
	}
}

func pathOrWhole(path string) string {
	if path == "" {
		return "the whole"
	}
	return path
}

// compareRecorded prints what has changed since the last apply: the manifest, the
// image or the world.
func compareRecorded(b *strings.Builder, e *explain.Explanation, o Options) {
	s, prior := e.Step, e.Prior
	switch {
	case e.Lost:
		b.WriteString("  The state file has changed since this plan was made: its previous content is unknown.\n")
		return
	case prior == nil:
		b.WriteString("  The state has no record of it: it was never applied from here.\n")
		return
	}
	if prior.Incomplete() {
		b.WriteString("  An apply began to create it and did not finish: it was never valid.\n")
		return
	}
	at := prior.ValidAt.Format(time.RFC3339)
	if len(s.Config) > 0 && s.Change() != plan.Destroy && s.Change() != plan.Forget {
		d := configChanges(s, prior, o.Hide)
		writeDifferences(b, d, "The configuration changed since the last apply ("+at+"):", o)
		if len(d.Rows) == 0 {
			fmt.Fprintf(b, "  The configuration is the same as at the last apply (%s).\n", at)
		}
	}
	if prior.Type != s.Type {
		fmt.Fprintf(b, "  Its type was %s and is %s now.\n", diag.Visible(prior.Type), diag.Visible(s.Type))
	}
	if s.Init.Digest != "" && prior.Digest != s.Init.Digest {
		fmt.Fprintf(b, "  Its image is another one: %s then, %s now.\n", shortDigest(prior.Digest), shortDigest(s.Init.Digest))
	}
	for _, text := range inputs.Words(inputs.Without(s.Inputs(), inputs.Config, inputs.Image)) {
		fmt.Fprintf(b, "  %s.\n", diag.Visible(strings.ToUpper(text[:1])+text[1:]))
	}
	there := s.Answer().Stale
	if there == nil {
		there = s.Answer().State
	}
	switch {
	case s.Change() == plan.Create && s.Drifted() && len(s.Inputs()) == 0:
		b.WriteString("  Deleted outside of deployster since the last apply.\n")
	case s.Change() == plan.Create:
		b.WriteString("  It does not exist any more.\n")
	case len(there) > 0 && len(prior.State) > 0:
		hidden := append(append([]string{}, prior.Sensitive.State...), s.Answer().Hidden...)
		d := jsondiff.Compare(jsondiff.Value{JSON: prior.State, Sensitive: hidden}, jsondiff.Value{JSON: there, Sensitive: hidden},
			jsondiff.Options{Hide: o.Hide, Missing: true, Extra: true})
		title, same := "Its state is not the recorded one:", "Its state is the recorded one."
		if s.Drifted() && len(s.Inputs()) == 0 {
			title, same = "Changed outside of deployster since the last apply:",
				"Its state is the recorded one, and its image does not accept that any more."
		}
		writeDifferences(b, d, title, o)
		if len(d.Rows) == 0 {
			fmt.Fprintf(b, "  %s\n", same)
		}
	}
}

// shortDigest returns the beginning of a digest.
func shortDigest(digest string) string {
	if len(digest) > 19 {
		return diag.Visible(digest[:19])
	}
	return diag.Visible(digest)
}

func writeDifferences(b *strings.Builder, d jsondiff.Diff, title string, o Options) {
	if len(d.Rows) == 0 {
		return
	}
	fmt.Fprintf(b, "  %s\n", title)
	rows := detail{unchanged: d.Unchanged, more: d.More}
	for _, r := range d.Rows {
		rows.rows = append(rows.rows, row{Row: r})
	}
	rows.write(b, o)
}

// writeNeeds prints the dependencies of the resource that change or may change.
func writeNeeds(b *strings.Builder, e *explain.Explanation, o Options) {
	shown := 0
	for _, n := range e.Needs {
		if n.Step == nil || n.Step.Change() == plan.Valid && n.Step.Certainty != plan.MayChange {
			continue
		}
		if shown++; shown > maxExplained && !o.All() {
			continue
		}
		_, words := mark(n.Step)
		fmt.Fprintf(b, "  It waits for %s, which %s.\n", paint.Bold(diag.Visible(n.Address)), words)
	}
	if shown > maxExplained && !o.All() {
		fmt.Fprintf(b, "  and for %d more\n", shown-maxExplained)
	}
}

// explainValue prints where a value of the config comes from.
func explainValue(b *strings.Builder, s *plan.Step, x explain.ConfigValue, o Options) {
	if len(x.Inputs) == 0 {
		return
	}
	value := jsondiff.Value{JSON: s.Config, Sensitive: s.Sensitive, Unknown: s.Unknown, MayChange: s.MayChangeAt}
	fmt.Fprintf(b, "\n  %s = %s\n", paint.Bold(pathOrWhole(jsondiff.Path(x.Pointer))), jsondiff.At(value, x.Pointer, 4, o.Hide))
	for _, in := range x.Inputs {
		writeInput(b, in, o)
	}
}

// writeInput prints one input of a value.
func writeInput(b *strings.Builder, in config.Input, o Options) {
	pad := strings.Repeat("  ", in.Depth+2)
	if in.Depth > 0 {
		fmt.Fprintf(b, "%s%s", pad, diag.Visible(in.What))
		if in.Value != "" {
			fmt.Fprintf(b, " = %s", oneLine(clean(o.Hide, in.Value)))
		}
		if in.Given != "" {
			fmt.Fprintf(b, "  from %s", paint.Yellow(diag.Visible(in.Given)))
		}
		b.WriteByte('\n')
		pad += "  "
	}
	if in.Range != nil {
		where := fmt.Sprintf("%s:%d", diag.Visible(in.Range.Filename), in.Range.Start.Line)
		text := ""
		if in.Line != "" {
			text = "  " + oneLine(clean(o.Hide, in.Line))
		}
		fmt.Fprintf(b, "%s%s%s\n", pad, paint.Dim(where), text)
	}
}
