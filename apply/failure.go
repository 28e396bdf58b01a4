package apply

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"deployster/internal/base/diag"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/protocol"
)

// interrupted reports whether the user has interrupted the apply. Then it notes in the
// outcome which actions are left.
func (o *outcome) interrupted(ctx context.Context, next protocol.Action, left []protocol.Action) bool {
	if ctx.Err() == nil {
		return false
	}
	o.report.Status = Interrupted
	o.report.Reason = "interrupted before " + next.Name
	o.report.NotAttempted = names(left)
	return true
}

// firstError returns the first error of a list.
func firstError(list diag.Diagnostics) *diag.Diagnostic {
	for _, d := range list {
		if d.Severity == diag.Error {
			return d
		}
	}
	return list[0]
}

// failQuery notes that a query of the state failed.
func (o *outcome) failQuery(err error) {
	o.report.NotAttempted = o.report.Planned[len(o.report.Completed):]
	o.fail(failedState, err)
	if errors.Is(err, errAborted) {
		o.report.Status = Interrupted
	}
}

// fail fills in the report of a resource that failed.
func (o *outcome) fail(what string, err error) {
	o.report.Status, o.report.Failed = Error, what
	d := diag.From("Apply failed", err)[0]
	if d.Address == "" {
		d.Address = o.addr
	}
	o.problem = d
	o.report.Reason = reason(d, err)
	var gone *runner.HostError
	o.gone = errors.As(err, &gone)
	if exit, ok := errors.AsType[*typeclient.ExitError](err); ok {
		o.report.ExitCode = exit.Code
		if exit.Tail != "" {
			o.report.LastLines = strings.Split(exit.Tail, "\n")
		}
	}
}

// failJournal notes that a fact could not be made durable: nothing may be started
// after that.
func (o *outcome) failJournal(err error) {
	o.fail(failedJournal, err)
	o.fatal = true
}

// reason returns why something failed, without what stands beside it in the report.
func reason(d *diag.Diagnostic, err error) string {
	if exit, ok := errors.AsType[*typeclient.ExitError](err); ok {
		last := exit.Tail[strings.LastIndexByte(exit.Tail, '\n')+1:]
		return strings.TrimSuffix(fmt.Sprintf("exit %d: %s", exit.Code, last), ": ")
	}
	if d.Detail == "" {
		return d.Summary
	}
	return d.Detail
}

// reasonOf returns the text of an error; "" = there is none.
func reasonOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
