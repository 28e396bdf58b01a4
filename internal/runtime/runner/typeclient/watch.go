package typeclient

import (
	"context"
	"slices"
	"strings"

	"deployster/internal/base/diag"
	"deployster/internal/runtime/runner"
	"deployster/protocol"
)

// StepWatch is the step of a program that reports changes.
const StepWatch = "watch"

// WatchSpec returns how to watch a resource: the program, its plugs, all read-only, and
// its stdin. Worker is set if a worker can watch the resource in place of a program of
// its own.
func (c *Client) WatchSpec(ctx context.Context, t Target, ty protocol.Type, in protocol.StateInput) (runner.Spec, error) {
	k := call{target: t, step: StepWatch}
	if in.Intent == "" {
		in.Intent = protocol.Present
	}
	in.InitInput, in.After, in.Refresh, in.Changed, in.Dependencies = c.initInput(t), nil, false, nil, nil
	plain := ty
	plain.Dependencies = false
	stdin, err := encodeState(plain, in)
	if err != nil {
		return runner.Spec{}, fail(k, err, "Cannot query the image", "%s", diag.Visible(err.Error()))
	}
	s := runner.Spec{Name: t.Address + "/" + StepWatch, Kind: runner.Query, Reference: ty.WatchAction.Of(t.Reference),
		Entrypoint: ty.WatchAction.Entrypoint, Args: ty.WatchAction.Args, Stdin: stdin, Mounts: slices.Clone(runner.MountsIn(c.root,
			t.Mounts)),
		Settings: t.Settings, KeepLog: t.Settings.KeepLog}
	for i := range s.Mounts {
		s.Mounts[i].Writable = false
	}
	if s.Digest, err = c.images.digestFor(ctx, t, ty, StepWatch, *ty.WatchAction); err != nil {
		return runner.Spec{}, err
	}
	s.Worker, err = c.images.workerFor(ctx, t, ty, StepWatch, *ty.WatchAction, s.Digest)
	return s, err
}

// WatchEnded returns the error of a watch program that ended without a signal, or could not be
// started. The caller has hidden the secrets in the result, of which a part is shown.
func WatchEnded(address, reference, digest string, r runner.Result, err error) error {
	k := call{target: Target{Address: address, Reference: reference}, step: StepWatch, digest: digest}
	if err != nil {
		return callError(k, r, err)
	}
	e := &ExitError{Code: r.ExitCode, Tail: tail(r.Stderr), OOM: r.OOM}
	reason := ""
	switch {
	case e.OOM:
		reason = " It ran out of memory (give it more with memory = \"...\" in its type block)."
	case inotifyUsedUp(e.Tail):
		reason = " The limits of inotify are reached: raise fs.inotify.max_user_watches and fs.inotify.max_user_instances with sysctl."
	}
	lines := ""
	if e.Tail != "" {
		lines = " Its last lines:\n" + e.Tail
	}
	return fail(k, e, "The watch ended", "The watch action of image %s ended with exit code %d, before its stdin ended.%s%s",
		diag.Visible(reference), e.Code, reason, lines)
}

// inotifyUsedUp reports whether a log reports that inotify_init or inotify_add_watch
// failed because a limit of this machine was reached.
func inotifyUsedUp(log string) bool {
	text := strings.ToLower(log)
	for _, sign := range []string{"no space left", "upper limit", "too many open files", "enospc", "emfile"} {
		if strings.Contains(text, "inotify") && strings.Contains(text, sign) {
			return true
		}
	}
	return false
}

// WatchBroken returns the error of a watch program that broke the protocol with a line. Its secrets are hidden.
func WatchBroken(address, reference string, line []byte, cause error) error {
	return protocolError(call{target: Target{Address: address, Reference: reference}, step: StepWatch}, line, cause)
}

// WatchStopped returns the error of a watch program that deployster ended for a reason.
func WatchStopped(address, reference string, why error) error {
	return fail(call{target: Target{Address: address, Reference: reference}, step: StepWatch}, why, "The watch was ended",
		"The watch action of image %s was ended: %s.", diag.Visible(reference), diag.Visible(why.Error()))
}
