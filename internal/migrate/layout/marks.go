package layout

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
)

// Place reports where the text from one line of a new file on was in Terraform's file.
type Place struct {
	Line       int // in the new file
	First, End int // lines in the old file
}

var marks = regexp.MustCompile("\x00([0-9]+) ([0-9]+)\x00")

// mark returns a mark in the text of a new file: what follows was at this range. Unmark
// removes it.
func mark(at hcl.Range) string { return fmt.Sprintf("\x00%d %d\x00", at.Start.Line, at.End.Line) }

// Unmark removes all marks from a text, and returns what they report.
func Unmark(text string) (clean string, places []Place) {
	var b strings.Builder
	line, at := 1, 0
	for _, m := range marks.FindAllStringSubmatchIndex(text, -1) {
		line += strings.Count(text[at:m[0]], "\n")
		b.WriteString(text[at:m[0]])
		first, err1 := strconv.Atoi(text[m[2]:m[3]])
		end, err2 := strconv.Atoi(text[m[4]:m[5]])
		if at = m[1]; cmp.Or(err1, err2) == nil {
			places = append(places, Place{line, first, end})
		}
	}
	b.WriteString(text[at:])
	return b.String(), places
}

// Find returns the line of the old file from which a line of the new file comes; false = it is not known.
func Find(places []Place, line int) (old int, ok bool) {
	i, found := slices.BinarySearchFunc(places, line, func(p Place, line int) int { return p.Line - line })
	for found && i+1 < len(places) && places[i+1].Line == line {
		i++ // the innermost of several
	}
	if !found {
		i--
	}
	if i < 0 {
		return 0, false
	}
	p := places[i]
	return min(p.First+line-p.Line, p.End), true
}
