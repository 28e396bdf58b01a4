package page

import (
	"fmt"
	"os"
	"strings"
)

// Table is a table in a page of the documentation.
type Table struct {
	Path   string   // of the page
	Header []string // the titles of the columns, which find the table
	Rows   [][]string
}

// Check compares the table of the page with its rows. With update it writes them, unless
// they are there.
func (t Table) Check(update bool) error {
	text, err := os.ReadFile(t.Path)
	if err != nil {
		return err
	}
	head := line(t.Header) + "|" + strings.Repeat("---|", len(t.Header)) + "\n"
	before, rest, found := strings.Cut(string(text), head)
	if !found {
		return fmt.Errorf("%s has no table with the header %s", t.Path, line(t.Header))
	}
	have, after, more := strings.Cut(rest, "\n\n")
	if more {
		have, after = have+"\n", "\n"+after
	}
	var want strings.Builder
	for _, row := range t.Rows {
		want.WriteString(line(row))
	}
	if have == want.String() {
		return nil
	}
	if !update {
		return fmt.Errorf("%s: the table differs from its test, which writes it with -update:\n%s", t.Path, want.String())
	}
	return os.WriteFile(t.Path, []byte(before+head+want.String()+after), 0o644)
}

// line is a row of a table of texts that may have anything in them.
func line(cells []string) string {
	safe := make([]string, len(cells))
	for i, cell := range cells {
		cell = strings.Join(strings.Fields(cell), " ")
		safe[i] = strings.NewReplacer(`\`, `\\`, "|", `\|`).Replace(cell)
	}
	return "| " + strings.Join(safe, " | ") + " |\n"
}

// Group joins rows that are equal but for their last cell into one, in the order of the
// first of them.
func Group(rows [][]string) (grouped [][]string) {
	at := map[string]int{}
	for _, row := range rows {
		last := len(row) - 1
		key := strings.Join(row[:last], "\x00")
		if i, seen := at[key]; seen {
			grouped[i][last] += "; " + row[last]
			continue
		}
		at[key] = len(grouped)
		grouped = append(grouped, append([]string{}, row...))
	}
	return grouped
}
