package schedule

import (
	"strings"
	"testing"
	"time"
)

func TestParse_Refuses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"0 2 * * *": "", "@daily": "", "*/5 8-18 * * 1-5": "",
		"0 2 * *": "five fields", "60 * * * *": "five fields", "": "five fields", "@every 1h": "no times of its own",
		"CRON_TZ=Europe/Berlin 0 2 * * *": "time zone", "0 0 31 2 *": "never due",
	} {
		_, err := Parse(text)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// What was missed counts once, as its last time.
func TestSchedule_DueOnce(t *testing.T) {
	t.Parallel()
	at := func(text string) time.Time {
		v, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for _, c := range []struct{ text, since, now, want string }{
		{"0 2 * * *", "2026-01-01T02:00:00Z", "2026-01-02T01:59:59Z", ""},
		{"0 2 * * *", "2026-01-01T02:00:00Z", "2026-01-02T02:00:00Z", "2026-01-02T02:00:00Z"},
		{"0 2 * * *", "2026-01-01T02:00:00Z", "2026-03-05T12:00:00Z", "2026-03-05T02:00:00Z"},
		{"0 2 * * *", "2026-01-01T03:00:00+02:00", "2026-01-01T03:30:00+01:00", "2026-01-01T02:00:00Z"}, // all in UTC
		{"* * * * *", "2001-01-01T00:00:00Z", "2026-01-01T00:00:30Z", "2026-01-01T00:00:00Z"},
		{"0 0 29 2 *", "2020-03-01T00:00:00Z", "2026-01-01T00:00:00Z", "2024-02-29T00:00:00Z"},
	} {
		s, err := Parse(c.text)
		if err != nil {
			t.Fatal(err)
		}
		turn, due := s.Due(at(c.since), at(c.now))
		if due != (c.want != "") || due && !turn.Equal(at(c.want)) {
			t.Errorf("%+v: %s, %v", c, turn, due)
		}
	}
}
