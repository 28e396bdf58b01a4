package render

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"deployster/apply/guarding"
	"deployster/internal/base/diag"
	"deployster/internal/base/secret"
	"deployster/internal/ui/artifactlines"
	"deployster/internal/ui/jsondiff"
	"deployster/internal/ui/paint"
	"deployster/plan"
	"deployster/plan/inputs"
	"deployster/protocol"
)

// row is a difference with the image's remarks on it.
type row struct {
	jsondiff.Row
	notes []string
}

// detail is the display of a step below its header.
type detail struct {
	why        []string // lines about the whole step
	rows       []row
	unchanged  int
	more       int      // the number of rows that are not shown
	remarks    []string // remarks of the image that belong to no row
	first      string   // the shutdown_first action
	actions    []string
	destroying int // how many of the first actions destroy the old resource
}

// Changes returns the changes of a step as the rows of its diff: the whole config of a
// resource to be created, only the differences of one that exists. notes are the image's
// remarks on the rows, by their pointers.
func Changes(s *plan.Step, hide func(string) string) (d jsondiff.Diff, notes map[string][]string) {
	notes = map[string][]string{}
	want := jsondiff.Value{JSON: s.Config, Sensitive: s.Sensitive, Unknown: s.Unknown, MayChange: s.MayChangeAt}
	o := jsondiff.Options{Hide: hide}
	switch s.Change() {
	case plan.Deferred, plan.Publish:
		if s.Was() != nil {
			d = artifactlines.FoldVersions(s, compareToWas(s.Was(), want, o), hide)
		} else if s.Expected() == plan.Create || s.Change() == plan.Publish {
			d = jsondiff.List(want, o)
		}
	case plan.Create, plan.Replace:
		d = jsondiff.List(want, o)
	case plan.Valid:
		d.Rows = valuesThatMayChange(want, hide)
	case plan.Record:
		d = compareToRecord(s, o)
	case plan.Update:
		if d = diffOfReasons(s, o); len(d.Rows) == 0 {
			d = compareToConfig(s, want, o)
		}
	}
	for _, r := range s.Answer().Reasons {
		if r.Message != "" {
			notes[r.Path] = append(notes[r.Path], clean(hide, r.Message))
		}
	}
	return d, notes
}

// compareToWas compares a config with the recorded one.
func compareToWas(was *plan.Was, want jsondiff.Value, o jsondiff.Options) jsondiff.Diff {
	want.Sensitive, o.Missing, o.Extra = slices.Concat(want.Sensitive, was.Sensitive), true, true
	return jsondiff.Compare(jsondiff.Value{JSON: was.State, Sensitive: want.Sensitive}, want, o)
}

// valuesThatMayChange returns the values of a config that are only expected to stay.
func valuesThatMayChange(v jsondiff.Value, hide func(string) string) (rows []jsondiff.Row) {
	for _, pointer := range v.MayChange {
		rows = append(rows, jsondiff.Row{Op: jsondiff.Change, Pointer: pointer, Path: jsondiff.Path(pointer),
			Want: jsondiff.At(v, pointer, 8, hide)})
	}
	return rows
}

// compareToRecord compares the state that was read with the one in the state file.
func compareToRecord(s *plan.Step, o jsondiff.Options) jsondiff.Diff {
	found := jsondiff.Value{JSON: s.Answer().State, Sensitive: slices.Concat(s.Sensitive, s.Answer().Hidden)}
	if s.Answer().State == nil {
		found.JSON = s.Answer().Stale
	}
	if s.Was() == nil {
		return jsondiff.List(found, o)
	}
	o.Missing, o.Extra = true, true
	return jsondiff.Compare(jsondiff.Value{JSON: s.Was().State, Sensitive: slices.Concat(found.Sensitive, s.Was().Sensitive)}, found, o)
}

// diffOfReasons returns the diff of the values in the image's reasons: only the image
// knows which values are equal though they are written differently.
func diffOfReasons(s *plan.Step, o jsondiff.Options) jsondiff.Diff {
	secrets, places := secret.Values(s.Config, s.Sensitive), slices.Concat(s.Sensitive, s.Answer().Hidden)
	var all jsondiff.Diff
	for _, r := range s.Answer().Reasons {
		if len(r.Have) == 0 && len(r.Want) == 0 {
			continue
		}
		o.Path, o.Pointer = jsondiff.Path(r.Path), r.Path
		var d jsondiff.Diff
		switch {
		case secret.Touches(places, r.Path):
			d.Rows = []jsondiff.Row{{Op: jsondiff.Change, Pointer: r.Path, Path: o.Path, Want: secret.Masked}}
		case len(r.Want) == 0:
			d.Rows = []jsondiff.Row{{Op: jsondiff.Remove, Pointer: r.Path, Path: o.Path,
				Have: jsondiff.Text(maskedValue(r.Have, secrets), 8,
					o.Hide)}}
		case len(r.Have) == 0:
			d.Rows = []jsondiff.Row{{Op: jsondiff.Add, Pointer: r.Path, Path: o.Path,
				Want: jsondiff.Text(maskedValue(r.Want, secrets), 8, o.Hide)}}
		default:
			d = jsondiff.Compare(maskedValue(r.Have, secrets), maskedValue(r.Want, secrets), o)
		}
		all.Rows, all.More, all.Unchanged = append(all.Rows, d.Rows...), all.More+d.More, all.Unchanged+d.Unchanged
	}
	return all
}

func maskedValue(raw json.RawMessage, secrets []string) jsondiff.Value {
	return jsondiff.Value{JSON: raw, Sensitive: secret.Find(raw, secrets)}
}

// compareToConfig compares the present state with the config, and with the forecast.
func compareToConfig(s *plan.Step, want jsondiff.Value, o jsondiff.Options) jsondiff.Diff {
	there := jsondiff.Value{JSON: s.Answer().Stale, Sensitive: slices.Concat(s.Sensitive, s.Answer().Hidden)}
	want.Sensitive = there.Sensitive
	d := jsondiff.Compare(there, want, o)
	if len(s.Answer().Forecast) == 0 {
		return d
	}
	o.Missing = true
	ahead := jsondiff.Compare(there, jsondiff.Value{JSON: s.Answer().Forecast, Sensitive: there.Sensitive,
		Open: s.Answer().UnknownNew}, o)
	for _, r := range ahead.Rows {
		if !slices.ContainsFunc(d.Rows, func(have jsondiff.Row) bool { return have.Path == r.Path }) {
			d.Rows = append(d.Rows, r)
		}
	}
	return d
}

// detailOf returns the detail of a step.
func detailOf(s *plan.Step, o Options) detail {
	d := detail{why: reasons(s, false)}
	if more := s.Settings.Widened(); len(more) > 0 {
		d.why = append(d.why, paint.Yellow("runs with: "+diag.Visible(strings.Join(more, ", "))))
	}
	if words := guarding.Words(s); words != "" {
		d.why = append(d.why, paint.Yellow(words))
	}
	for _, note := range s.Notes {
		d.why = append(d.why, paint.Yellow(diag.Visible(note.Words())))
	}
	if s.Old() != nil {
		for _, a := range s.Old().Answer().Actions {
			d.actions, d.destroying = append(d.actions, action(a, o.Hide)), d.destroying+1
		}
	}
	diff, notes := Changes(s, o.Hide)
	d.unchanged, d.more = diff.Unchanged, diff.More
	for _, r := range diff.Rows {
		d.rows = append(d.rows, row{r, notes[r.Pointer]})
		delete(notes, r.Pointer)
	}
	for _, r := range s.Answer().Reasons {
		d.remarks = append(d.remarks, notes[r.Path]...)
		delete(notes, r.Path)
	}
	if s.Answer().Shutdown != nil {
		d.first = action(*s.Answer().Shutdown, o.Hide)
	}
	for _, a := range s.Answer().Actions {
		d.actions = append(d.actions, action(a, o.Hide))
	}
	return d
}

// notMade marks what is destroyed and existed before it was recorded.
const notMade = "not created by deployster"

// reasons returns lines that explain a step, or many equal ones.
func reasons(s *plan.Step, many bool) []string {
	var parts []string
	why, adopted := s.Reason.Words(), "it exists already and is adopted"
	if many {
		why, adopted = s.Reason.OfMany(), "they exist already and are adopted"
	}
	if s.MovedFrom != "" {
		parts = append(parts, MovedFrom(s))
	}
	switch {
	case why == "" || s.Change() == plan.ReadFailed:
	case s.Certainty == plan.Early:
		parts = append(parts, "queried early: "+diag.Visible(why))
	default:
		parts = append(parts, "because "+diag.Visible(why))
	}
	switch {
	case s.Drifted() && len(s.Inputs()) == 0 && s.Change() == plan.Create:
		parts = append(parts, "deleted outside of deployster since the last apply")
	case s.Drifted() && len(s.Inputs()) == 0:
		parts = append(parts, "changed outside of deployster since the last apply")
	}
	parts = append(parts, InputsChanged(s)...)
	if s.Adopted() && !s.Adopts() {
		parts = append(parts, adopted)
	}
	if len(s.Edited()) > 0 && !onlyEdited(s) {
		parts = append(parts, "its config "+Edited(s))
	}
	var lines []string
	if s.DestroysAdopted() {
		lines = append(lines, paint.Yellow(notMade))
	}
	if len(parts) == 0 {
		return lines
	}
	return append(lines, paint.Dim(strings.Join(parts, "; ")))
}

// InputsChanged returns sentences about what the type of a step is given that has changed.
// The diff shows a changed config, and a note reports about what it is notified.
func InputsChanged(s *plan.Step) []string {
	list := inputs.Words(inputs.Without(s.Inputs(), inputs.Config, inputs.Pending, inputs.Notified))
	for i, text := range list {
		list[i] = diag.Visible(text)
	}
	return list
}

// action returns the name of an action, and its description.
func action(a protocol.Action, hide func(string) string) string {
	text := oneLine(clean(hide, a.Name))
	if a.Description != "" && a.Description != a.Name {
		text += " - " + oneLine(clean(hide, a.Description))
	}
	return text
}

// maxWords is the maximum length, in bytes, of a text of an image.
const maxWords = 400

// oneLine joins a text to one line, and shortens it to maxWords.
func oneLine(text string) string {
	text = diag.Visible(strings.Join(strings.Fields(text), " "))
	if len(text) > maxWords {
		text = strings.ToValidUTF8(text[:maxWords], "") + "..."
	}
	return text
}

func clean(hide func(string) string, text string) string {
	if hide == nil {
		return text
	}
	return hide(text)
}

// write prints the detail, indented below the header.
func (d detail) write(b *strings.Builder, o Options) {
	for _, line := range d.why {
		fmt.Fprintf(b, "    %s\n", line)
	}
	width := 0
	for _, r := range d.rows {
		width = max(width, paint.Width(r.Path))
	}
	for _, r := range d.rows {
		r.write(b, min(width, 40), o)
	}
	for _, text := range d.remarks {
		fmt.Fprintf(b, "      %s\n", oneLine(text))
	}
	if d.more > 0 {
		fmt.Fprintf(b, "      %s\n", paint.Dim(fmt.Sprintf("(%d more changed)", d.more)))
	}
	if d.unchanged > 0 && len(d.rows) > 0 {
		fmt.Fprintf(b, "      %s\n", paint.Dim(fmt.Sprintf("(%d unchanged)", d.unchanged)))
	}
	if d.first != "" {
		fmt.Fprintf(b, "      %s %s\n", paint.Dim("first, before everything else:"), d.first)
	}
	for i, a := range d.actions {
		what := ""
		if i < d.destroying {
			what = " (destroy)"
		}
		fmt.Fprintf(b, "      %s %s\n", paint.Dim(fmt.Sprintf("action %d%s:", i+1, what)), a)
	}
}

// usualWidth is the width of lines without a terminal.
const usualWidth = 100

// write prints one difference: both values on one line, or below each other if that line
// would be too long, or the lines that differ.
func (r row) write(b *strings.Builder, width int, o Options) {
	path := paint.Fill(r.Path, width)
	notes := ""
	for _, note := range r.notes {
		notes += "  " + paint.Dim("# "+oneLine(note))
	}
	most := o.Width
	if most <= 0 {
		most = usualWidth
	}
	switch {
	case len(r.Lines) > 0:
		fmt.Fprintf(b, "      %s %s:%s\n", sign(r.Op), r.Path, notes)
		for _, l := range r.Lines {
			writeLine(b, l)
		}
	case r.Op == jsondiff.Change && r.Have != "" && r.Want != "":
		if 8+width+3+paint.Width(r.Have)+4+paint.Width(r.Want) <= most && !strings.Contains(r.Have+r.Want, "\n") {
			fmt.Fprintf(b, "      %s %s = %s %s %s%s\n", sign(r.Op), path, r.Have, paint.Bold("->"), r.Want, notes)
			return
		}
		fmt.Fprintf(b, "      %s %s = %s\n        %s %s %s%s\n", sign(r.Op), path, r.Have, strings.Repeat(" ", max(0, width-1)),
			paint.Bold("->"),
			r.Want, notes)
	case r.Op == jsondiff.Remove:
		fmt.Fprintf(b, "      %s %s = %s%s\n", sign(r.Op), path, r.Have, notes)
	default:
		fmt.Fprintf(b, "      %s %s = %s%s\n", sign(r.Op), path, r.Want, notes)
	}
}

func writeLine(b *strings.Builder, l jsondiff.Line) {
	switch l.Op {
	case jsondiff.Gap:
		fmt.Fprintf(b, "            %s\n", paint.Dim(l.Text))
	case jsondiff.Add, jsondiff.Remove:
		fmt.Fprintf(b, "          %s %s\n", sign(l.Op), l.Text)
	default:
		fmt.Fprintf(b, "            %s\n", l.Text)
	}
}
