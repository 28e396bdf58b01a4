package states

import (
	"fmt"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"deployster/internal/app/stateedit"
	"deployster/internal/cli/flagvalues"
)

// history prints the runs that the state names.
func history(c *cli.Context, s Session) error {
	if err := flagvalues.AtMost(c, 0); err != nil {
		return err
	}
	snapshot, err := Recorded(c.Context, s.Engine.Workspace)
	if err != nil {
		return err
	}
	runs := stateedit.History(snapshot)
	if c.Bool("json") {
		return s.Out.Document(runs)
	}
	if len(runs) == 0 {
		s.Out.Printf("Nothing was applied yet.\n")
		return nil
	}
	rows := [][]string{{"WHEN", "SERIAL", "STATUS", "BY", "COMMAND", "PLAN"}}
	for _, r := range runs {
		rows = append(rows, []string{r.At.Format(time.RFC3339), fmt.Sprint(r.Serial), r.Status, byWhom(r), dash(r.By.Command), r.Plan})
	}
	s.Out.Table("", rows)
	for _, r := range runs {
		var more []string
		if len(r.By.SignedBy) > 0 {
			more = append(more, "signed by "+strings.Join(r.By.SignedBy, ", "))
		}
		if r.By.CI != "" {
			more = append(more, r.By.CI)
		}
		if len(more) > 0 {
			s.Out.Printf("\nSerial %d: %s\n", r.Serial, strings.Join(more, "; "))
		}
	}
	return nil
}

// byWhom returns the user and the machine of a run.
func byWhom(r stateedit.HistoryRun) string {
	if r.By.Host == "" {
		return "-"
	}
	return dash(r.By.User) + " on " + r.By.Host
}

// dash returns a text, or a dash where there is none.
func dash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}
