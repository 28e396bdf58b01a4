package markdown

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"deployster/internal/base/words"
)

// MaxComment is the maximum length of a comment, in bytes. GitHub takes 65,536 characters.
const MaxComment = 60_000

// maxUrgent is the maximum number of lines above the folded text, and maxLine of bytes in one.
const (
	maxUrgent = 20
	maxLine   = 300
)

// Comment is a saved plan as a comment on a request.
type Comment struct {
	Summary string   // one line
	Urgent  []Urgent // what a reader must see without unfolding anything
	Text    string   // the whole plan, as people read it
	Keys    []string // the ids of the keys that signed it
	Digest  string   // what an approval names
}

// Urgent is a resource with a change that must not be overlooked.
type Urgent struct{ Address, Change string }

// Markdown returns the comment. Its last line is the digest. A text that is too long is cut at the
// end of a line, with a note.
func (c Comment) Markdown() string {
	var head strings.Builder
	head.WriteString("### Deployster plan\n\n" + escaped(c.Summary) + "\n\n")
	for i, u := range c.Urgent {
		if i == maxUrgent {
			fmt.Fprintf(&head, "- and %s more\n", words.Thousands(len(c.Urgent)-i))
			break
		}
		fmt.Fprintf(&head, "- **%s** %s\n", escaped(u.Change), code(u.Address))
	}
	if len(c.Urgent) > 0 {
		head.WriteByte('\n')
	}
	foot := "To apply exactly this plan, approve its digest"
	for i, key := range c.Keys[:min(len(c.Keys), maxUrgent)] {
		if i == 0 {
			foot += ". It is signed with the key " + code(key)
		} else {
			foot += ", and " + code(key)
		}
	}
	foot += ":\n\n" + code(c.Digest) + "\n"
	return head.String() + folded(c.Text, MaxComment-head.Len()-len(foot)) + foot
}

// folded returns a text that a reader unfolds, in at most limit bytes.
func folded(text string, limit int) string {
	const open, shut = "<details><summary>All changes</summary>\n\n", "\n</details>\n\n"
	const cut = "The rest is cut: `deployster show` prints the whole plan.\n"
	text = strings.TrimRight(text, "\n") + "\n"
	fence := strings.Repeat("`", max(3, longestRun(text)+1))
	room := limit - len(open) - len(shut) - 2*len(fence) - len("text\n\n")
	note := ""
	if len(text) > room {
		note = cut
		text = firstLines(text, room-len("\n"+cut))
	}
	block := fence + "text\n" + text + fence + "\n"
	if note != "" {
		block += "\n" + note
	}
	return open + block + shut
}

// firstLines returns the first lines of a text, in at most limit bytes; of a line that is longer than
// all of them, its beginning.
func firstLines(text string, limit int) string {
	text = text[:max(limit-1, 0)]
	if end := strings.LastIndexByte(text, '\n'); end >= 0 {
		return text[:end+1]
	}
	for len(text) > 0 && !utf8.ValidString(text) {
		text = text[:len(text)-1]
	}
	return text + "\n"
}

// code returns a text as code within a line. Runs of backticks in it are shorter than its fence.
func code(text string) string {
	text = strings.ReplaceAll(shortened(text), "\n", " ")
	fence := strings.Repeat("`", longestRun(text)+1)
	if strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") {
		text = " " + text + " "
	}
	return fence + text + fence
}

// escaped returns a text in which nothing has a meaning in Markdown or HTML.
func escaped(text string) string {
	var b strings.Builder
	for _, r := range strings.ReplaceAll(shortened(text), "\n", " ") {
		switch {
		case r == '<':
			b.WriteString("&lt;")
			continue
		case r == '&':
			b.WriteString("&amp;")
			continue
		case r == '@': // it would notify a person of that name
			b.WriteString("@\u200b")
			continue
		case strings.ContainsRune("\\`*_[]#|~>!", r):
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// shortened returns at most maxLine bytes of a text.
func shortened(text string) string {
	if len(text) <= maxLine {
		return text
	}
	text = text[:maxLine]
	for !utf8.ValidString(text) {
		text = text[:len(text)-1]
	}
	return text + "..."
}

// longestRun returns the length of the longest run of backticks in a text.
func longestRun(text string) int {
	longest, run := 0, 0
	for i := range len(text) {
		if run++; text[i] != '`' {
			run = 0
		}
		longest = max(longest, run)
	}
	return longest
}
