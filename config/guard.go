package config

import (
	"time"

	"deployster/config/limits"
	"deployster/internal/diag"
)

// How long one evaluation may take: of the processor's time, and whatever it
// waits for. Nothing real takes a second; a manifest made to hang must not. A
// machine that is busy with other things makes it slow, and that is no mistake in
// the manifest.
const (
	maxEvaluation = 30 * time.Second
	maxWaiting    = 10 * time.Minute
)

// guard runs an evaluation so that neither a panic in a library nor an endless
// computation reaches the user as such. After the deadline the goroutine is
// left behind: the values that it works on are not used again, and a command
// that gets this error ends.
func guard(f func()) *diag.Diagnostic { return guardFor(f, maxEvaluation, maxWaiting) }

func guardFor(f func(), work, wait time.Duration) *diag.Diagnostic {
	done := make(chan *diag.Diagnostic, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				done <- diag.Errorf("The manifest cannot be evaluated",
					"Evaluating it failed inside a library (%v). This is a bug in deployster, not in the manifest: please report it with the manifest. Leaving out the expression that was last changed avoids it.", p)
			}
		}()
		f()
		done <- nil
	}()
	start, before := time.Now(), limits.ProcessorTime()
	timer := time.NewTimer(work)
	defer timer.Stop()
	for {
		select {
		case d := <-done:
			return d
		case <-timer.C:
			if limits.ProcessorTime()-before < work && time.Since(start) < wait {
				timer.Reset(work / 30)
				continue
			}
			return diag.Errorf("The manifest takes too long", "Its expressions were not evaluated after %s. Look for nested for expressions over large ranges, and for very large numbers.", work)
		}
	}
}
