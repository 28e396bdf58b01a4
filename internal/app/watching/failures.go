package watching

import (
	"sync"
	"time"

	"deployster/apply"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/state/actions"
)

// failures keeps the records of failed queries, in a run that starts again each day.
type failures struct {
	record func() Recording

	mu    sync.Mutex
	run   *Recording
	since time.Time
	bytes int
}

// Limits of one run of failed queries.
const (
	oneDay = 24 * time.Hour
	oneRun = 16 << 20
)

func (f *failures) Begin()                                       {}
func (f *failures) Applies(string, []string, []actions.Override) {}
func (f *failures) Report([]byte)                                {}

func (f *failures) Add(i typeclient.Invocation) {
	if i.Err == nil && i.Result.ExitCode == 0 {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.run != nil && (time.Since(f.since) > oneDay || f.bytes > oneRun) {
		f.run.End(apply.OK)
		f.run = nil
	}
	if f.run == nil {
		r := f.record()
		f.run, f.since, f.bytes = &r, time.Now(), 0
	}
	f.bytes += len(i.Stdin) + len(i.Result.Stdout) + len(i.Result.Stderr)
	f.run.Records.Add(i)
}

func (f *failures) end() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.run != nil {
		f.run.End(apply.OK)
		f.run = nil
	}
}
