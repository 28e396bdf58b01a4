package planpage

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"deployster/internal/ui/jsondiff"
)

// row is one value: a difference, an output or a variable.
type row struct {
	Class, Sign, Word text
	Path              text
	Have, Want        text
	Lines             []line // instead of Have and Want
	Notes             []text // the image's remarks on it
}

// Steps returns the parts of the path: a line may break between them, not within one.
func (r row) Steps() (steps []text) {
	from := 0
	for i, c := range r.Path {
		if i > from && (c == '.' || c == '[') {
			steps, from = append(steps, r.Path[from:i]), i
		}
	}
	return append(steps, r.Path[from:])
}

// line is a line of the difference of two texts.
type line struct{ Class, Text text }

// opClasses are the classes of the operations in page.html and page.css.
var opClasses = map[jsondiff.Op]text{jsondiff.Add: "add", jsondiff.Remove: "remove", jsondiff.Change: "change", jsondiff.Same: "same",
	jsondiff.Gap: "gap"}

// row converts a row of a diff.
func (v *view) row(r jsondiff.Row, notes []string) row {
	out := row{Class: opClasses[r.Op], Path: v.text(r.Path), Have: v.text(dedent(r.Have)), Want: v.text(dedent(r.Want)),
		Notes: v.clippedAll(notes)}
	switch r.Op {
	case jsondiff.Add:
		out.Sign, out.Word = "+", "new: "
	case jsondiff.Remove:
		out.Sign, out.Word = "−", "gone: "
	case jsondiff.Change:
		out.Sign, out.Word = "~", "changed: "
	}
	for _, l := range r.Lines {
		out.Lines = append(out.Lines, line{opClasses[l.Op], v.text(l.Text)})
	}
	return out
}

// dedent removes the eight columns by which the further lines of a value are indented.
func dedent(s string) string { return strings.ReplaceAll(s, "\n        ", "\n") }

// valueText renders a value for a row.
func (v *view) valueText(value jsondiff.Value) string {
	return jsondiff.TextWithin(value, 8, v.maxValue, v.hide)
}

// outputs returns the expected values of the outputs.
func (v *view) outputs() (rows []row) {
	for _, name := range slices.Sorted(maps.Keys(v.plan.Outputs)) {
		o := v.plan.Outputs[name]
		value := jsondiff.Value{JSON: o.Value, Unknown: o.Unknown}
		if o.Sensitive {
			value.Sensitive = []string{""}
		}
		r := jsondiff.Row{Op: jsondiff.Same, Path: name}
		switch {
		case o.Removed:
			r.Op, r.Want = jsondiff.Remove, "(output removed)"
		case len(o.Value) > 0:
			r.Want = v.valueText(value)
		}
		if o.Changed && !o.Removed {
			r.Op = jsondiff.Change
		}
		rows = append(rows, v.row(r, nil))
	}
	return rows
}

// variables returns the variables with which the manifests were evaluated.
func (v *view) variables() (rows []row) {
	for _, name := range slices.Sorted(maps.Keys(v.plan.Variables)) {
		var variable struct{ Value json.RawMessage }
		r := jsondiff.Row{Op: jsondiff.Same, Path: name}
		if slices.Contains(v.plan.SensitiveVariables, name) {
			r.Want = v.valueText(jsondiff.Value{JSON: []byte("null"), Sensitive: []string{""}})
		} else if err := json.Unmarshal(v.plan.Variables[name], &variable); err == nil && len(variable.Value) > 0 {
			r.Want = v.valueText(jsondiff.Value{JSON: variable.Value})
		}
		rows = append(rows, v.row(r, nil))
	}
	return rows
}
