package planpage

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"deployster/internal/base/diag"
)

// html is markup. Only constants of this package become html; everything else
// is a string, and is escaped: to forget that is not possible.
type html string

// writer writes a page, and remembers the first error.
type writer struct {
	out     *bufio.Writer
	hide    func(string) string // takes secrets out of a text
	written int                 // bytes
	err     error
}

func newWriter(out io.Writer, hide func(string) string) *writer {
	if hide == nil {
		hide = func(s string) string { return s }
	}
	return &writer{out: bufio.NewWriterSize(out, 1<<16), hide: hide}
}

// put writes markup as it is, and numbers and strings as text, which may stand
// between tags and within the double quotes of an attribute.
func (w *writer) put(parts ...any) {
	for _, part := range parts {
		switch part := part.(type) {
		case html:
			w.raw(string(part))
		case string:
			w.raw(escaper.Replace(w.plain(part)))
		case int:
			w.raw(strconv.Itoa(part))
		default:
			w.fail(fmt.Errorf("a %T is no part of a page", part))
		}
	}
}

// plain makes a text fit to be shown: no secrets, nothing that is not seen.
func (w *writer) plain(text string) string { return diag.Visible(w.hide(text)) }

func (w *writer) raw(text string) {
	n, err := w.out.WriteString(text)
	w.written += n
	w.fail(err)
}

func (w *writer) fail(err error) {
	if w.err == nil {
		w.err = err
	}
}

func (w *writer) end() error {
	w.fail(w.out.Flush())
	return w.err
}

// escaper serves text and double quoted attributes alike.
var escaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "'", "&#39;")

// clip cuts a text that nobody would read to its end.
func clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + fmt.Sprintf("... (%d bytes in all)", len(text))
}

// counted is a number with its noun.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return thousands(n) + " " + noun + "s"
}

// thousands writes a number so that its size is seen.
func thousands(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
