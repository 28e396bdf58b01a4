package schedule

import (
	"fmt"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

// Schedule is when something is due.
type Schedule struct{ next cron.Schedule }

// Parse reads five fields, such as 0 2 * * *, or a word, such as @daily.
func Parse(text string) (Schedule, error) {
	if strings.Contains(text, "TZ=") {
		return Schedule{}, fmt.Errorf("%q names a time zone: all times are in UTC", text)
	}
	next, err := cron.ParseStandard(text)
	if err != nil {
		return Schedule{}, fmt.Errorf("%q is not a schedule: write five fields, minute (0 to 59), hour (0 to 23), day of the "+
			"month (1 to 31), month (1 to 12) and day of the week (0 to 6), such as \"0 2 * * *\" for each day at 02:00", text)
	}
	if _, constant := next.(cron.ConstantDelaySchedule); constant {
		return Schedule{}, fmt.Errorf("%q has no times of its own: write fields, such as \"*/10 * * * *\" for each ten minutes", text)
	}
	if next.Next(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)).IsZero() {
		return Schedule{}, fmt.Errorf("%q is never due", text)
	}
	return Schedule{next}, nil
}

// Due returns the last time that is due since a time and until now; false = none is. Several that were missed count as one.
func (s Schedule) Due(since, now time.Time) (turn time.Time, due bool) {
	since, now = since.UTC(), now.UTC()
	if far := now.AddDate(-5, 0, 0); since.Before(far) { // no schedule has a longer pause, and a clock may have been wrong
		since = far
	}
	first := s.next.Next(since)
	if first.IsZero() || first.After(now) {
		return time.Time{}, false
	}
	// The last one: search backwards in growing steps, so that a year of minutes costs little.
	for back := time.Minute; ; back *= 2 {
		from := now.Add(-back)
		if from.Before(since) {
			from = since
		}
		if t := s.next.Next(from); !t.After(now) && !t.IsZero() {
			for next := s.next.Next(t); !next.After(now) && !next.IsZero(); next = s.next.Next(t) {
				t = next
			}
			return t, true
		}
	}
}

// Next returns the first time after another.
func (s Schedule) Next(after time.Time) time.Time { return s.next.Next(after.UTC()) }
