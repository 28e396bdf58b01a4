package jsondiff

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/aymanbagabas/go-udiff/lcs"

	"deployster/internal/base/diag"
	"deployster/internal/base/jsondoc"
	"deployster/internal/base/words"
)

// strings compares two texts: JSON documents by key, texts of several lines line by line,
// and of long lines the part that differs.
func (c *comparer) strings(have, want string, at place) {
	if c.documents(have, want, at) {
		return
	}
	have, want = c.have.clean(have), c.want.clean(want)
	if strings.Count(have, "\n") > 1 || strings.Count(want, "\n") > 1 {
		c.add(Row{Op: Change, Pointer: at.want, Path: at.path, Lines: textLines(have, want)})
		return
	}
	r := Row{Op: Change, Pointer: at.want, Path: at.path}
	r.Have, r.Want = quoteBoth(have, want)
	c.add(r)
}

// documents compares two texts as JSON documents, and reports whether it did.
func (c *comparer) documents(have, want string, at place) bool {
	const most = 1 << 20
	if len(have) > most || len(want) > most || !isJSONDocument(have) || !isJSONDocument(want) {
		return false
	}
	h, err := jsondoc.Value([]byte(have))
	if err != nil {
		return false
	}
	w, err := jsondoc.Value([]byte(want))
	if err != nil || equal(h, w) {
		return false
	}
	inner := &comparer{options: c.options, have: side{hide: c.have.hide}, want: side{hide: c.want.hide}}
	inner.options.Extra = true
	inner.compare(h, w, place{path: "jsondecode(" + at.path + ")"})
	for _, r := range inner.diff.Rows {
		r.Pointer = at.want
		c.add(r)
	}
	c.diff.More += inner.diff.More
	return true
}

func isJSONDocument(text string) bool {
	text = strings.TrimSpace(text)
	return len(text) > 1 && (text[0] == '{' || text[0] == '[') && json.Valid([]byte(text))
}

// quoteBoth quotes two texts of one line; of long ones only the part that differs.
func quoteBoth(have, want string) (string, string) {
	const long, around = 200, 30
	if len(have) <= long && len(want) <= long {
		return quote(have), quote(want)
	}
	head := 0
	for head < len(have) && head < len(want) && have[head] == want[head] {
		head++
	}
	tail := 0
	for tail < len(have)-head && tail < len(want)-head && have[len(have)-1-tail] == want[len(want)-1-tail] {
		tail++
	}
	part := func(text string) string {
		from, to := max(0, head-around), min(len(text), len(text)-tail+around)
		shown := text[from:to]
		if len(shown) > MaxText/2 {
			shown = wholeRunes(shown[:MaxText/4])
			to = from + len(shown)
		}
		shown = quote(strings.ToValidUTF8(shown, ""))
		if from > 0 {
			shown = "..." + shown
		}
		if to < len(text) {
			shown += "..."
		}
		return shown + fmt.Sprintf(" (%s bytes in all)", words.Thousands(len(text)))
	}
	return part(have), part(want)
}

// body returns the lines of a text that is new.
func body(text string) []Line {
	lines := split(text)
	var out []Line
	for i, line := range lines {
		if i == maxBody/3 {
			return append(out, gap(len(lines)-i, "line", fmt.Sprintf("%s bytes in all", words.Thousands(len(text)))))
		}
		out = append(out, Line{Add, cleanLine(line)})
	}
	return out
}

// split returns the lines of a text. It marks a last line without a newline.
func split(text string) []string {
	lines := strings.Split(text, "\n")
	if last := len(lines) - 1; lines[last] == "" {
		return lines[:last]
	}
	lines[len(lines)-1] += noEnd
	return lines
}

// noEnd marks a last line without a newline; no text contains it, because NUL is not
// shown.
const noEnd = "\x00"

func cleanLine(line string) string {
	line, open := strings.CutSuffix(line, noEnd)
	if len(line) > maxLine {
		line = wholeRunes(line[:maxLine]) + fmt.Sprintf("... (%s bytes)", words.Thousands(len(line)))
	}
	line = diag.Visible(strings.ReplaceAll(line, "\t", "    "))
	if open {
		line += "  (no newline at its end)"
	}
	return line
}

// textLines returns the lines of the difference between two texts.
func textLines(have, want string) []Line {
	h, w := split(have), split(want)
	return fold(script(h, w), "line", cleanLine, func(i int, _ bool) string { return h[i] }, func(j int) string { return w[j] })
}

// edit is one step from one list to another: an element that stays, is removed or added.
// have and want are indexes, where they apply.
type edit struct {
	op         Op
	have, want int
}

// script returns the edits from one list of texts to another. They are few, but not
// always the fewest: for lists that have little in common, finding these would take too
// long.
func script(have, want []string) []edit {
	out, h, w := []edit(nil), 0, 0
	same := func(until int) {
		for ; h < until; h, w = h+1, w+1 {
			out = append(out, edit{Same, h, w})
		}
	}
	for _, d := range lcs.DiffLines(have, want) {
		same(d.Start)
		for ; h < d.End; h++ {
			out = append(out, edit{Remove, h, w})
		}
		for ; w < d.ReplEnd; w++ {
			out = append(out, edit{Add, h, w})
		}
	}
	same(len(have))
	return out
}

// fold keeps the changed lines and a few around them, and counts the others.
func fold(edits []edit, what string, show func(string) string, have func(i int, alone bool) string, want func(j int) string) []Line {
	near := make([]bool, len(edits))
	for i, e := range edits {
		if e.op != Same {
			for j := max(0, i-context); j <= min(len(edits)-1, i+context); j++ {
				near[j] = true
			}
		}
	}
	var out []Line
	skipped := 0
	flush := func() {
		if skipped > 0 {
			out = append(out, gap(skipped, "unchanged "+what, ""))
		}
		skipped = 0
	}
	for i, e := range edits {
		if !near[i] {
			skipped++
			continue
		}
		flush()
		if len(out) >= maxBody {
			return append(out, gap(countChanges(edits[i:]), "changed "+what, ""))
		}
		if e.op == Add {
			out = append(out, Line{Add, show(want(e.want))})
		} else {
			out = append(out, Line{e.op, show(have(e.have, e.op == Remove))})
		}
	}
	flush()
	return out
}

func countChanges(edits []edit) int {
	n := 0
	for _, e := range edits {
		if e.op != Same {
			n++
		}
	}
	return n
}

// gap returns the line that replaces n items that are not shown.
func gap(n int, what, note string) Line {
	text := words.Count(n, what)
	if note != "" {
		text += ", " + note
	}
	return Line{Gap, "(" + text + ")"}
}
