package main

import (
	"strings"

	"deployster/internal/testkit/bench/results"
)

const tableHead = "| row | what | deployster | beside it | times faster | goal | reached |\n|---|---|---|---|---|---|---|\n"

// markdown is the line in the table. whole: the numbers of resources are those
// of the goals.
func (l line) markdown(whole bool) string {
	c := l.cells(whole)
	return joined(l.Row, c.What, c.Deployster, c.Beside, c.Faster, c.Goal, c.Reached)
}

// cells are the texts of the line.
func (l line) cells(whole bool) results.Cells {
	if l.Error != "" {
		return results.Cells{What: l.What, Deployster: "failed: " + shorten(l.Error)}
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
	return results.Cells{What: l.What, Deployster: describe(l.Ours), Beside: beside, Faster: times, Goal: want, Reached: got,
		Ours: l.Ours, Theirs: l.Theirs}
}

// joined makes a row of a Markdown table of texts that may have anything in them.
func joined(texts ...string) string {
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
