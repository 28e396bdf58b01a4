package limits

import (
	"time"

	"deployster/internal/base/diag"
	"deployster/internal/base/parallel"
	"deployster/internal/base/proc"
)

// How long one evaluation may take: of the processor's time, and whatever it
// waits for. Nothing real takes a second; a manifest made to hang must not. A
// machine that is busy with other things makes it slow, and that is no mistake in
// the manifest.
const (
	maxEvaluation = 30 * time.Second
	maxWaiting    = 10 * time.Minute
)

// Guard runs an evaluation so that neither a panic in a library nor an endless
// computation reaches the user as such. After the deadline the goroutine is
// left behind: the values that it works on are not used again, and a command
// that gets this error ends.
func Guard(f func()) *diag.Diagnostic { return GuardIn(&parallel.Pool{}, f) }

// GuardIn is guard on one of the goroutines of a pool: for what is done for each
// resource.
func GuardIn(pool *parallel.Pool, f func()) *diag.Diagnostic {
	return guardFor(pool, f, maxEvaluation, maxWaiting)
}

func guardFor(goroutines *parallel.Pool, f func(), work, wait time.Duration) *diag.Diagnostic {
	var failed *diag.Diagnostic
	var start time.Time
	var before time.Duration // the processor's, when it was asked first: most are through by then
	ended := goroutines.RunOrAbandon(func() {
		defer func() {
			if p := recover(); p != nil {
				failed = diag.Errorf("The manifest cannot be evaluated",
					"Evaluating it failed inside a library (%v). This is a bug in deployster, not in the manifest: please report it with the manifest. "+
						"Leaving out the expression that was last changed avoids it.", p)
			}
		}()
		f()
	}, work/30, func() bool {
		if start.IsZero() {
			start, before = time.Now(), proc.ProcessorTime()
			return true
		}
		return proc.ProcessorTime()-before < work && time.Since(start) < wait
	})
	if !ended {
		return diag.Errorf("The manifest takes too long", "Its expressions were not evaluated after %s. Look for nested for expressions over "+
			"large ranges, and for very large numbers.", work)
	}
	return failed
}
