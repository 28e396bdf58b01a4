package limits

import (
	"time"

	"deployster/internal/base/diag"
	"deployster/internal/base/parallel"
	"deployster/internal/base/proc"
)

// The limits on one evaluation: of processor time, and of real time whatever it waits
// for. No real one takes a second; a manifest made to hang must not hang deployster. A
// machine that is busy with other work makes it slow, which is not an error of the manifest.
const (
	maxEvaluation = 30 * time.Second
	maxWaiting    = 10 * time.Minute
)

// Guard runs an evaluation, and converts a panic in a library or an endless
// computation to a diagnostic. After the deadline it abandons the goroutine: the
// caller must not use its values again, and a command that gets this error ends.
func Guard(f func()) *diag.Diagnostic { return GuardIn(&parallel.Pool{}, f) }

// GuardIn is Guard on a goroutine of a pool, for work that is done for each resource.
func GuardIn(pool *parallel.Pool, f func()) *diag.Diagnostic {
	return guardFor(pool, f, maxEvaluation, maxWaiting)
}

func guardFor(goroutines *parallel.Pool, f func(), work, wait time.Duration) *diag.Diagnostic {
	var failed *diag.Diagnostic
	var start time.Time
	var before time.Duration // processor time at the first check: most evaluations are done by then
	ended := goroutines.RunOrAbandon(func() {
		defer func() {
			if p := recover(); p != nil {
				failed = diag.Errorf("The manifest cannot be evaluated",
					"A library failed while evaluating it (%v). This is a bug in deployster, not in the manifest: please report it with "+
						"the manifest. Without the expression that was last changed, it does not occur.", p)
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
		return diag.Errorf("The manifest takes too long", "Its expressions were not evaluated after %s. Check nested for expressions "+
			"over large ranges, and very large numbers.", work)
	}
	return failed
}
