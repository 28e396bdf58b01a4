package main

import (
	"strings"
)

const tableHead = "| row | what | deployster | beside it | times faster | goal | reached |\n|---|---|---|---|---|---|---|\n"

// markdown is the line in the table. whole: the numbers of resources are those
// of the goals.
func (l line) markdown(whole bool) string {
	if l.Error != "" {
		return cells(l.Row, l.What, "failed: "+shorten(l.Error), "", "", "", "")
	}
	beside := describe(l.Theirs)
	if beside != "" {
		beside = l.Beside + ": " + beside
	}
	times := ""
	if f := l.faster(); len(f) > 0 {
		times = spreadOf(f).ratio()
	}
	if l.Note != "" {
		beside = strings.TrimPrefix(beside+"; "+l.Note, "; ")
	}
	want, got := l.goals(whole)
	return cells(l.Row, l.What, describe(l.Ours), beside, times, want, got)
}

// cells makes a row of a Markdown table of texts that may have anything in them.
func cells(texts ...string) string {
	for i, text := range texts {
		text = strings.Join(strings.Fields(text), " ")
		texts[i] = strings.ReplaceAll(text, "|", "\\|")
	}
	return "| " + strings.Join(texts, " | ") + " |"
}

// shorten keeps the beginning, where the reason is; the rest is told on stderr.
func shorten(text string) string {
	const most = 200
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "..."
	}
	return text
}
