package conformance

import (
	"errors"
	"fmt"

	"deployster/internal/base/diag"
	"deployster/internal/runtime/conformance/report"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/protocol"
)

// outcome is the result of a check.
type outcome struct {
	verdict     report.Verdict
	reason, fix string
	err         error // why there is no verdict
}

func pass(format string, args ...any) outcome {
	return outcome{verdict: report.Pass, reason: fmt.Sprintf(format, args...)}
}

func skip(format string, args ...any) outcome {
	return outcome{verdict: report.Skip, reason: fmt.Sprintf(format, args...)}
}

func fail(fix, format string, args ...any) outcome {
	return outcome{verdict: report.Fail, fix: fix, reason: fmt.Sprintf(format, args...)}
}

// failWith returns a failure with the text that users see for an error. An error of the
// container runtime is not a verdict.
func failWith(fix string, err error) outcome {
	if !isOfImage(err) {
		return outcome{err: err}
	}
	text := err.Error()
	if list := diag.From("", err); len(list) > 0 {
		text = list[0].Detail
	}
	var failure *protocol.TypeError
	if errors.As(err, &failure) {
		fix = fixOf(failure.Class, fix)
	}
	return outcome{verdict: report.Fail, fix: fix, reason: text}
}

// fixOf returns what to do about a failure that the image has classified: it answered as it
// must, and the cause is outside of it. Other classes have no fix of their own.
func fixOf(class protocol.ErrorClass, other string) string {
	switch class {
	case protocol.TransientError:
		return "It failed in all attempts: start or connect what the type needs (-plug, -env), and test again. If that " +
			"cannot go away by itself, its class is not \"transient\"."
	case protocol.DeniedError:
		return "Give it the credentials that it needs (-plug, -env), and test again."
	case protocol.ConfigError:
		return "Give it a config that it accepts (-config), and test again."
	}
	return other
}

// isOfImage reports whether the image caused an error.
func isOfImage(err error) bool {
	return diag.Is[*typeclient.ProtocolError](err) || diag.Is[*typeclient.ExitError](err) || diag.Is[*protocol.TypeError](err) ||
		diag.Is[*runner.TimeoutError](err) || diag.Is[*runner.OutputError](err) || diag.Is[*runner.DiskError](err) ||
		errors.Is(err, runner.ErrNoImage)
}
