package results

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

// Result is the newest run of a row, in a file of its own: ROW.json.
type Result struct {
	Row string `json:"row"`
	Head
	Lines []Cells `json:"lines"`
}

// Cells are a line as the table has it, with each single measurement.
type Cells struct {
	What       string        `json:"what"`
	Deployster string        `json:"deployster"`
	Beside     string        `json:"beside,omitempty"`
	Faster     string        `json:"faster,omitempty"`
	Goal       string        `json:"goal,omitempty"`
	Reached    string        `json:"reached,omitempty"`
	Ours       []meter.Usage `json:"ours,omitempty"`
	Theirs     []meter.Usage `json:"theirs,omitempty"`
}

// Keep writes the result of its row into a directory.
func (r Result) Keep(dir string) error {
	text, err := json.MarshalIndent(r, "", "  ")
	return errors.Join(err, os.MkdirAll(dir, 0o755), os.WriteFile(filepath.Join(dir, r.Row+".json"), append(text, '\n'), 0o644))
}

// Read reads the results of a directory, by the numbers of the rows; those without a
// number follow.
func Read(dir string) (results []Result, err error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	for _, file := range files {
		text, rerr := os.ReadFile(file)
		var r Result
		if err = errors.Join(err, rerr, json.Unmarshal(text, &r)); r.Row+".json" != filepath.Base(file) {
			err = errors.Join(err, errors.New(file+" has another row: "+r.Row))
		}
		results = append(results, r)
	}
	slices.SortFunc(results, func(a, b Result) int { return cmp.Or(cmp.Compare(a.order(), b.order()), cmp.Compare(a.Row, b.Row)) })
	return results, err
}

func (r Result) order() int {
	n, err := strconv.Atoi(strings.TrimRight(r.Row, "abcdefghijklmnopqrstuvwxyz"))
	if err != nil {
		return 1000
	}
	return n
}

// Rows are the rows of the page: the newest medians of each row beside its goal. Figures without a goal are in the files only.
func Rows(results []Result) (rows [][]string) {
	for _, r := range results {
		day, _, _ := strings.Cut(r.Date, " ")
		for _, l := range r.Lines {
			if l.Goal == "" {
				continue
			}
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
