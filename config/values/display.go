package values

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"deployster/config/funcs"
)

// Display returns a value as an expression with that value, if there is one, as a
// console prints it. Its format is Terraform's to the byte, so that it stays what
// people know and scripts expect.
func Display(v cty.Value) string {
	if v.HasMark(funcs.TypeText{}) {
		text, _ := v.Unmark()
		return text.AsString()
	}
	return displayAt(v, 0)
}

// displayAt formats a value whose lines after the first are indented.
func displayAt(v cty.Value, indent int) string {
	if v.IsKnown() && v.HasMark(Sensitive{}) {
		return "(sensitive value)"
	}
	v, _ = v.Unmark()
	switch t := v.Type(); {
	case !v.IsKnown():
		return "(known after apply)"
	case v.IsNull():
		return displayNull(t)
	case t == cty.String:
		return displayText(v.AsString(), indent)
	case t == cty.Number:
		return v.AsBigFloat().Text('f', -1)
	case t == cty.Bool:
		return strconv.FormatBool(v.True())
	case t.IsListType():
		return wrapped("tolist([", displayItems(v, indent), "])", indent)
	case t.IsSetType():
		return wrapped("toset([", displayItems(v, indent), "])", indent)
	case t.IsTupleType():
		return wrapped("[", displayItems(v, indent), "]", indent)
	case t.IsMapType():
		return wrapped("tomap({", displayPairs(v, indent), "})", indent)
	case t.IsObjectType():
		return wrapped("{", displayPairs(v, indent), "}", indent)
	}
	return "(" + v.Type().FriendlyName() + ")"
}

// displayNull returns a null with its type, where the type matters.
func displayNull(t cty.Type) string {
	switch {
	case t == cty.String:
		return "tostring(null)"
	case t == cty.Number:
		return "tonumber(null)"
	case t == cty.Bool:
		return "tobool(null)"
	case t.IsListType():
		return "tolist(null) /* of " + t.ElementType().FriendlyName() + " */"
	case t.IsSetType():
		return "toset(null) /* of " + t.ElementType().FriendlyName() + " */"
	case t.IsMapType():
		return "tomap(null) /* of " + t.ElementType().FriendlyName() + " */"
	case t.IsObjectType():
		return "null /* object */"
	case t.IsTupleType():
		return "null /* tuple */"
	}
	return "null"
}

// wrapped returns lines in brackets.
func wrapped(open string, lines []string, end string, indent int) string {
	if len(lines) == 0 {
		return open + end
	}
	pad := "\n" + strings.Repeat(" ", indent)
	return open + pad + "  " + strings.Join(lines, pad+"  ") + pad + end
}

func displayItems(v cty.Value, indent int) []string {
	var lines []string
	for it := v.ElementIterator(); it.Next(); {
		_, item := it.Element()
		lines = append(lines, displayAt(item, indent+2)+",")
	}
	return lines
}

func displayPairs(v cty.Value, indent int) []string {
	pairs := v.AsValueMap()
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(pairs)) {
		lines = append(lines, displayText(name, indent+2)+" = "+displayAt(pairs[name], indent+2))
	}
	return lines
}

// displayText quotes a text of one line, and formats one of several lines as a heredoc.
func displayText(text string, indent int) string {
	if !strings.Contains(text, "\n") {
		return strconv.Quote(text)
	}
	lines := strings.Split(text, "\n")
	end := "EOT"
	for slices.ContainsFunc(lines, func(line string) bool { return strings.TrimSpace(line) == end }) {
		end += "_"
	}
	if indent == 0 {
		return "<<" + end + "\n" + text + "\n" + end
	}
	pad := "\n" + strings.Repeat(" ", indent)
	return "<<-" + end + pad + strings.Join(append(lines, end), pad)
}
