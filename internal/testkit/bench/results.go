package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"deployster/internal/testkit/bench/meter"
)

// result is the newest run of a row, in a file of its own: ROW.json.
type result struct {
	Row string `json:"row"`
	head
	Lines []cells `json:"lines"`
}

// cells are a line as the table has it, with each single measurement.
type cells struct {
	What       string        `json:"what"`
	Deployster string        `json:"deployster"`
	Beside     string        `json:"beside,omitempty"`
	Faster     string        `json:"faster,omitempty"`
	Goal       string        `json:"goal,omitempty"`
	Reached    string        `json:"reached,omitempty"`
	Ours       []meter.Usage `json:"ours,omitempty"`
	Theirs     []meter.Usage `json:"theirs,omitempty"`
}

// keep writes the result of a row into a directory.
func (h head) keep(dir, row string, lines []line, whole bool) error {
	r := result{Row: row, head: h}
	for _, l := range lines {
		r.Lines = append(r.Lines, l.cells(whole))
	}
	text, err := json.MarshalIndent(r, "", "  ")
	return errors.Join(err, os.MkdirAll(dir, 0o755), os.WriteFile(filepath.Join(dir, row+".json"), append(text, '\n'), 0o644))
}

// kept reads the results of a directory, by the numbers of the rows; those without a
// number follow.
func kept(dir string) (results []result, err error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	for _, file := range files {
		text, rerr := os.ReadFile(file)
		var r result
		if err = errors.Join(err, rerr, json.Unmarshal(text, &r)); r.Row+".json" != filepath.Base(file) {
			err = errors.Join(err, errors.New(file+" has another row: "+r.Row))
		}
		results = append(results, r)
	}
	slices.SortFunc(results, func(a, b result) int { return cmp.Or(cmp.Compare(a.order(), b.order()), cmp.Compare(a.Row, b.Row)) })
	return results, err
}

func (r result) order() int {
	n, err := strconv.Atoi(strings.TrimRight(r.Row, "abcdefghijklmnopqrstuvwxyz"))
	if err != nil {
		return 1000
	}
	return n
}

// pageRows are the rows of the page: the newest medians of each row beside its goal.
func pageRows(results []result) (rows [][]string) {
	for _, r := range results {
		day, _, _ := strings.Cut(r.Date, " ")
		for _, l := range r.Lines {
			figures, _, _ := strings.Cut(l.Deployster, ", processor ")
			faster, _, _ := strings.Cut(l.Faster, " (")
			if median, _, spread := strings.Cut(figures, " ("); spread {
				figures = median
			}
			rows = append(rows, []string{r.Row, l.What, figures, faster, l.Goal, l.Reached, day})
		}
	}
	return rows
}
