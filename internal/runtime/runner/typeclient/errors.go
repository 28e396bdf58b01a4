package typeclient

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"deployster/internal/base/diag"
	"deployster/internal/base/jsondoc"
	"deployster/internal/base/loglines"
	"deployster/internal/runtime/runner"
	"deployster/protocol"
)

// ProtocolError reports that an image's answer breaks the protocol.
type ProtocolError struct {
	Message string
}

func (e *ProtocolError) Error() string { return "protocol error: " + e.Message }

// ExitError reports that a program ended with an exit code other than zero.
type ExitError struct {
	Code int
	Tail string // its last lines, safe to show
	OOM  bool   // the kernel killed it because memory ran out
}

func (e *ExitError) Error() string {
	s := fmt.Sprintf("exit %d", e.Code)
	if e.OOM {
		s = "out of memory (" + s + ")"
	}
	if e.Tail != "" {
		s += ": " + e.Tail
	}
	return s
}

// fail returns the error of a call. Its cause is a *ProtocolError, an *ExitError, a
// *protocol.TypeError, or an error of the Runner.
func fail(k call, cause error, summary, detail string, args ...any) error {
	e := &diag.Caused{Diagnostic: diag.Errorf(summary, detail, args...), Cause: cause}
	return e.At(k.target.Address, k.step)
}

// protocolError returns a protocol error that shows the image's answer.
func protocolError(k call, answer []byte, cause error) error {
	pe := &ProtocolError{Message: diag.Visible(cause.Error())}
	if k.remembers {
		answer = Forgotten(answer)
	}
	said := "It printed nothing on stdout."
	if k.remembers {
		said = "It is not shown, because its type has a memory."
	}
	if len(answer) > 0 {
		said = "It answered: " + shorten(answer)
	}
	changed, page := "Nothing was changed by this step.", "docs/protocol.md"
	if k.artifact {
		page = "docs/artifact-images.md"
	}
	if k.kind == runner.Action {
		changed = "Its changes are unknown."
	}
	return fail(k, pe, "The image broke the protocol",
		"The answer of image %s to %s is invalid: %s. %s %s The fault is in the image: its answers are described in %s.",
		diag.Visible(k.target.Reference), k.question(), pe.Message, said, changed, page)
}

// callError returns the error of an invocation; nil if it ended with exit code zero.
func callError(k call, r runner.Result, err error) error {
	if err == nil && r.ExitCode == 0 {
		return saidError(k, r)
	}
	return failedCall(k, r, err)
}

// failedCall is callError for what did not end with exit code zero. It alone keeps the call.
func failedCall(k call, r runner.Result, err error) error {
	image := diag.Visible(k.target.Reference)
	var timeout *runner.TimeoutError
	var output *runner.OutputError
	var disk *runner.DiskError
	var unknown *runner.UnknownError
	var host *runner.HostError
	var worker *runner.WorkerError
	var answer *runner.AnswerError
	var start *runner.StartError
	switch {
	case err == nil:
		return exitError(k, r)
	case errors.As(err, &timeout):
		return fail(k, err, "The image took too long", "%s of image %s %s.%s Check what it waits for, or give it more time: %s.",
			k.title(), image, timeout, lastLines(r), k.moreTime())
	case errors.As(err, &answer):
		return protocolError(k, nil, answer)
	case errors.As(err, &output):
		return fail(k, err, "The image printed too much",
			"%s of image %s %s. An answer is one JSON object; logs belong on stderr. If its answers are that large, allow this: "+
				"answer_size = \"...\" in its type block.", k.title(), image, output)
	case errors.As(err, &disk) && disk.TooDeep:
		return fail(k, err, "The image filled the disk", "%s of image %s %s.%s The fault is in the image.", k.title(), image, disk,
			lastLines(r))
	case errors.As(err, &disk):
		return fail(k, err, "The image filled the disk",
			"%s of image %s %s.%s If it needs that much, give it more: disk = \"...\" in its type "+
				"block.", k.title(), image, disk, lastLines(r))
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return interruptError(k, err)
	case errors.As(err, &start):
		return startError(k, start, err)
	case errors.As(err, &host):
		return hostError(k, host, err)
	case errors.As(err, &unknown) && unknown.Over:
		return fail(k, err, "The outcome is unknown",
			"%s of image %s does not run any more, and its progress is unknown: %s. Plan again, which reads the current state.",
			k.title(), image, strings.TrimSuffix(diag.Visible(unknown.Err.Error()), "."))
	case errors.As(err, &unknown) && k.settings.Host.InCluster():
		return lostPodError(k, unknown, err)
	case errors.As(err, &unknown):
		return fail(k, err, "The outcome is unknown",
			"%s of image %s may have ended or may still run: the container runtime was lost meanwhile (container %s: %s). "+
				"See that the runtime works again, then plan, which reads the current state.", k.title(), image,
			diag.Visible(unknown.Container), diag.Visible(unknown.Err.Error()))
	case errors.As(err, &worker):
		return fail(k, err, "The worker was lost",
			"%s of image %s was run by a worker, which serves many. %s.%s Its changes until then are unknown: plan again to see. With "+
				"workers = 0 in its type block each gets a container of its "+
				"own.", k.title(), image, diag.Visible(worker.Reason), lastLines(r))
	case errors.Is(err, runner.ErrNoImage):
		return fail(k, err, "Image not found",
			"The image %s (%s) is not on this machine any more. Import it with `deployster image import`, or plan again.", image, k.digest)
	}
	return fail(k, err, "The container could not be run", "%s of image %s: %s.%s", k.title(), image,
		strings.TrimSuffix(diag.Visible(err.Error()), "."), lastLines(r))
}

// hostError returns the error of an invocation on a host that cannot be used, or whose
// connection was lost during the invocation.
func hostError(k call, of *runner.HostError, err error) error {
	summary, what := "A host cannot be used", "This step started nothing there"
	advice := "See that `deployster host check` reaches it, then apply again."
	var unknown *runner.UnknownError
	switch {
	case !errors.As(err, &unknown):
	case unknown.Over:
		summary, what = "The outcome is unknown", "It does not run any more, and its progress is unknown"
		advice = "Plan again, which reads the current state."
	default:
		summary, what = "A host was lost", "It may have ended or may still run there, and is not started again before that is known"
	}
	return fail(k, err, summary, "%s of image %s was to run there (%s): %s. %s. %s", k.title(), diag.Visible(k.target.Reference), of.Host,
		strings.TrimSuffix(diag.Visible(of.Err.Error()), "."), what, advice)
}

// interruptError returns the error of an invocation that was cancelled by the user's interrupt.
func interruptError(k call, err error) error {
	image := diag.Visible(k.target.Reference)
	var unknown *runner.UnknownError
	switch {
	case errors.As(err, &unknown):
		return fail(k, err, "Interrupted",
			"%s of image %s was to be ended, because deployster was interrupted, and may still run: the container runtime was lost "+
				"meanwhile (container %s). See that the runtime works again, then plan, which reads the current state.", k.title(), image,
			diag.Visible(unknown.Container))
	case k.kind == runner.Action:
		return fail(k, err, "Interrupted",
			"%s of image %s was ended too early, because deployster was interrupted. Plan again to see its progress.", k.title(),
			image)
	}
	return fail(k, err, "Interrupted", "%s of image %s was ended, because deployster was interrupted.", k.title(), image)
}

func exitError(k call, r runner.Result) error {
	e := &ExitError{Code: r.ExitCode, Tail: tail(r.Stderr), OOM: r.OOM}
	if e.Tail == "" && k.kind == runner.Action && !k.remembers {
		e.Tail = tail(r.Stdout)
	}
	image := diag.Visible(k.target.Reference)
	because := fmt.Sprintf("exit code %d", e.Code)
	if e.OOM {
		because += ": it ran out of memory (give it more with memory = \"...\" in its type block)"
	}
	lines := " It printed no reason on stderr."
	if e.Tail != "" {
		lines = " Its last lines:\n" + e.Tail
	}
	switch {
	case k.artifact:
		return fail(k, e, refusals()[k.step], "%s of image %s ended with %s.%s", k.title(), image, because, lines)
	case k.kind == runner.Action:
		return fail(k, e, "The action failed", "%s of image %s ended with %s.%s", k.title(), image, because, lines)
	case k.step == StepInit:
		return fail(k, e, "The image refused", "Image %s ended init with %s.%s", image, because, lines)
	case k.step == StepSecret:
		return fail(k, e, "The secret could not be read", "Image %s, which prints it, ended with %s.%s", image, because, lines)
	}
	return fail(k, e, "The state could not be read", "The state action of image %s ended with %s.%s", image, because, lines)
}

// typeError returns the error for a failure that the image reports in place of a status.
func typeError(k call, e *protocol.TypeError) error {
	image, message := diag.Visible(k.target.Reference), diag.Visible(e.Message)
	where := ""
	if e.Path != "" {
		where = " at config" + diag.Visible(jsondoc.Dotted(e.Path))
	}
	switch e.Class {
	case protocol.ConfigError:
		return fail(k, e, "The config is not valid", "Image %s reports%s: %s. Correct it in the manifest.", image, where, message)
	case protocol.DeniedError:
		return fail(k, e, "Access denied", "Image %s reports%s: %s. Check its credentials (plugs, env).", image, where, message)
	case protocol.TransientError:
		return fail(k, e, "The state could not be read",
			"Image %s reports%s: %s. This error is transient; try again later.", image, where, message)
	}
	if e.Class == protocol.UnsettledError {
		return fail(k, e, "The result of an action is unknown",
			"Image %s reports%s: %s. It is not created again until this is known: if nothing of it exists, run `deployster resolve "+
				"-as=failed '%s'`.", image, where, message, k.target.Address)
	}
	return fail(k, e, "The image has a fault", "Image %s reports%s: %s. Report it to the authors of the image.", image, where, message)
}

func lastLines(r runner.Result) string {
	if t := tail(r.Stderr); t != "" {
		return " Its last lines:\n" + t + "\n"
	}
	return ""
}

// The limits of the part of a log that goes into a message.
const (
	tailLines = 10
	tailBytes = 2000
)

// tail returns the last lines of a log, safe to show.
func tail(log []byte) string {
	s := strings.TrimRight(string(log), " \t\r\n")
	lines := strings.Split(s, "\n")
	if len(lines) > tailLines {
		lines = lines[len(lines)-tailLines:]
	}
	for i, l := range lines {
		lines[i] = loglines.Shown([]byte(l))
	}
	s = strings.Join(lines, "\n")
	if n := len(s) - tailBytes; n > 0 {
		for n < len(s) && !utf8.RuneStart(s[n]) {
			n++
		}
		s = "..." + s[n:]
	}
	return s
}

// answerBytes is how many bytes of an invalid answer are shown.
const answerBytes = 300

func shorten(answer []byte) string {
	s := strings.TrimSpace(string(answer))
	if len(s) > answerBytes {
		n := answerBytes
		for n > 0 && !utf8.RuneStart(s[n]) {
			n--
		}
		return fmt.Sprintf("%s... (%d bytes)", oneLine(s[:n]), len(answer))
	}
	return oneLine(s)
}

func oneLine(s string) string { return strings.ReplaceAll(diag.Visible(s), "\n", `\n`) }
