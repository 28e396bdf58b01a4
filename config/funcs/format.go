package funcs

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"

	"deployster/config/limits"
)

// formatFunctions build longer texts from shorter ones, and split them.
func formatFunctions() map[string]function.Function {
	return map[string]function.Function{
		"format":     limitFormat(stdlib.FormatFunc),
		"formatlist": limitFormat(stdlib.FormatListFunc),
		"indent":     limitIndent(stdlib.IndentFunc),
		"join":       limitJoin(stdlib.JoinFunc),
		"split":      limitSplit(stdlib.SplitFunc),
	}
}

// maxWidth is the largest width or precision of a verb of format.
const maxWidth = 9999

// verbs matches the verbs of a format with their widths, which may be arguments.
var verbs = regexp.MustCompile(`%(?:\[\d+\])?[-+ #0]*(\*|\d*)(?:\.(\*|\d*))?`)

// limitFormat limits the results of format and formatlist: the widths of all verbs,
// and the text of an argument for each verb, for each element of the longest list.
func limitFormat(f function.Function) function.Function {
	return guarded(f, func(args []cty.Value) error {
		format := textAt(args, 0)
		widths, count := 0, 0
		for _, m := range verbs.FindAllStringSubmatch(format, -1) {
			count++
			for _, digits := range m[1:] {
				n, err := strconv.Atoi(digits)
				if digits == "*" || n > maxWidth || err != nil && digits != "" {
					return function.NewArgErrorf(0, "the width in %q is too large: the limit is %d", m[0], maxWidth)
				}
				widths += n
			}
		}
		rows, longest := 1, 0
		for _, a := range args[1:] {
			switch {
			case a.Type() == cty.String:
				longest = max(longest, len(a.AsString()))
			case a.CanIterateElements():
				rows, longest = max(rows, a.LengthInt()), max(longest, limits.TextSize(a)/max(1, a.LengthInt()))
			}
		}
		// Verbs that name their arguments, %[1]s, may repeat one.
		if repeated := max(0, count-len(args)+1); rows*(len(format)+widths+repeated*longest) > limits.Text {
			return fmt.Errorf("the result could have more than %d bytes", limits.Text)
		}
		return nil
	})
}

// limitIndent limits the spaces before each line.
func limitIndent(f function.Function) function.Function {
	return guarded(f, func(args []cty.Value) error {
		n := number(args[0])
		if n > 1000 {
			return function.NewArgErrorf(0, "it must not be greater than 1000")
		}
		if text := textAt(args, 1); len(text)+int(max(n, 0))*strings.Count(text, "\n") > limits.Text {
			return fmt.Errorf("the result has more than %d bytes", limits.Text)
		}
		return nil
	})
}

// limitJoin limits the separators between all elements.
func limitJoin(f function.Function) function.Function {
	return guarded(f, func(args []cty.Value) error {
		size := 0
		for _, a := range args[1:] {
			if a.CanIterateElements() {
				size += len(textAt(args, 0))*a.LengthInt() + limits.TextSize(a)
			}
			if size > limits.Text+len(textAt(args, 0)) {
				return fmt.Errorf("the result has more than %d bytes", limits.Text)
			}
		}
		return nil
	})
}

func limitSplit(f function.Function) function.Function {
	return guarded(f, func(args []cty.Value) error {
		if strings.Count(textAt(args, 1), textAt(args, 0)) > limits.Elements {
			return fmt.Errorf("the result has more than %d elements", limits.Elements)
		}
		return nil
	})
}
