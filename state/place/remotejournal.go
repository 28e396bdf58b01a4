package place

import (
	"time"

	"deployster/internal/base/sharedlog"
)

// worded is an appender to a log that words its errors for the user.
type worded struct {
	*sharedlog.Appender
	at *remote
}

func (w worded) Sync(end int64) error { return w.at.word(w.Appender.Sync(end)) }

// Fresh checks that this process still holds the log: see sharedlog.Appender.
func (w worded) Fresh(within time.Duration) error { return w.at.word(w.Appender.Fresh(within)) }
