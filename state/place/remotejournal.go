package place

import (
	"time"

	"deployster/internal/sharedlog"
)

// worded is an appender to a log that says to a user why it cannot be written.
type worded struct {
	*sharedlog.Appender
	at *remote
}

func (w worded) Sync(end int64) error { return w.at.word(w.Appender.Sync(end)) }

// Fresh shows that the log is still this process's: see sharedlog.Appender.
func (w worded) Fresh(within time.Duration) error { return w.at.word(w.Appender.Fresh(within)) }
