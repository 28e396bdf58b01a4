package text

import "strings"

// line is one line of a file, with the end that it has there: "\n", "\r\n", or "" for a last
// line without one.
type line struct{ text, end string }

// document is the content of a file, in lines.
type document []line

// parse splits a content into lines; String is its reverse.
func parse(content string) (d document) {
	for one := range strings.Lines(content) {
		text := strings.TrimSuffix(one, "\n")
		if len(text) < len(one) {
			text = strings.TrimSuffix(text, "\r")
		}
		d = append(d, line{text, one[len(text):]})
	}
	return d
}

func (d document) String() string {
	var b strings.Builder
	for _, l := range d {
		b.WriteString(l.text)
		b.WriteString(l.end)
	}
	return b.String()
}

// end returns how lines of this file end.
func (d document) end() string {
	if len(d) > 0 && d[0].end == "\r\n" {
		return "\r\n"
	}
	return "\n"
}

// find returns the numbers, from 0, of the lines that fit.
func (d document) find(fits func(text string) bool) (at []int) {
	for i, l := range d {
		if fits(l.text) {
			at = append(at, i)
		}
	}
	return at
}

// splice returns the document with n lines at i replaced by texts. Whether the file ends with
// a newline is unchanged; one that had no lines gets one.
func (d document) splice(i, n int, texts ...string) document {
	open := len(d) > 0 && d[len(d)-1].end == "" // its last line has no newline
	out := make(document, 0, len(d)+len(texts))
	out = append(out, d[:i]...)
	for _, text := range texts {
		out = append(out, line{text, d.end()})
	}
	out = append(out, d[i+n:]...)
	for j := range out {
		if last := j == len(out)-1; last && open {
			out[j].end = ""
		} else if out[j].end == "" {
			out[j].end = d.end()
		}
	}
	return out
}
