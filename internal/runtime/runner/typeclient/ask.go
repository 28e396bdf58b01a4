package typeclient

import (
	"context"
	"time"

	"deployster/internal/base/diag"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/answers"
	"deployster/protocol"
)

// StepInfo is the step that queries an image for the artifacts that it supports.
const StepInfo = "info"

// StepNotify is the step in which an image sends a notification.
const StepNotify = "notify"

// Ask is one invocation of an image of artifacts or of a notifier. Another package owns the
// messages; this one runs the image, shows its output and records it.
type Ask struct {
	Step    string // info, check, get, put, notify
	ID      string // of a put, which is an action; other steps are queries
	Digest  string
	Command protocol.Command
	Stdin   []byte
	Cwd     string
	Volumes []runner.Volume
	Answer  *runner.Answer
	Timeout time.Duration // 0 = none
	Grace   time.Duration // between SIGTERM and SIGKILL; 0 = the runner's default

	// Says: the answer is on stdout; otherwise stdout is a log. At most KeepSaid bytes
	// of the stdout of a put are kept.
	Says bool

	// Secret: it prints a secret. Nothing that it prints is shown or recorded, but for its log if it fails.
	Secret bool

	// Ended is Spec.Ended of package runner, with the error that Ask is going to return.
	Ended func(runner.Result, error) error
}

// KeepSaid is how many bytes of stdout are kept of a put that answers there.
const KeepSaid = 1 << 20

// Ask carries out an invocation. The error is nil only if the program ended with exit
// code zero.
func (c *Client) Ask(ctx context.Context, t Target, a Ask) (runner.Result, error) {
	return c.run(ctx, a.call(t))
}

func (a Ask) call(t Target) call {
	k := call{target: t, step: a.Step, kind: runner.Query, digest: a.Digest, command: a.Command, stdin: a.Stdin, mounts: t.Mounts,
		cwd:      a.Cwd,
		settings: t.Settings.Confined(), timeout: a.Timeout, volumes: a.Volumes, answer: a.Answer, onEnd: a.Ended, log: !a.Says,
		grace: a.Grace, artifact: !a.Secret, secret: a.Secret}
	if a.ID != "" {
		k.kind, k.id, k.quiet, k.keep = runner.Action, a.ID, a.Says, 2*KeepSaid
	}
	if a.Step == StepInfo {
		k.settings = initOf(t, a.Digest).settings
	}
	return k
}

// AskInfo queries an image for what it is, as Init does, and returns the bytes of the answer. It caches an answer if mayKeep allows it.
func (c *Client) AskInfo(ctx context.Context, t Target, digest string, mayKeep func(answer []byte) bool) ([]byte, error) {
	k := initOf(t, digest)
	key := c.o.cacheKey(t, digest, k.settings)
	if c.o.Inits != nil && key != "" {
		if answer, ok := c.o.Inits.Get("info-" + key); ok {
			return answer, nil
		}
	}
	stdin, err := encodeInit(c.initInput(t))
	if err != nil {
		return nil, fail(k, err, "Cannot query the image", "%s", diag.Visible(err.Error()))
	}
	r, err := c.Ask(ctx, t, Ask{Step: StepInfo, Digest: digest, Stdin: stdin, Timeout: k.timeout, Says: true})
	if err != nil {
		return r.Stdout, err
	}
	if c.o.Inits != nil && key != "" && mayKeep(r.Stdout) {
		c.o.Inits.Put("info-"+key, r.Stdout)
	}
	return r.Stdout, nil
}

// Digest returns the digest of a target's image. It obtains the image if needed.
func (c *Client) Digest(ctx context.Context, t Target) (string, error) {
	if t.Digest != "" {
		return t.Digest, nil
	}
	return c.images.resolveFor(ctx, t, StepInit, t.Reference)
}

// Ended returns the error of a put that another command began; nil if it ended with exit code zero.
func (c *Client) Ended(t Target, a Ask, r runner.Result) error {
	return callError(a.call(t), c.o.hidden(r, nil), nil)
}

// Broken returns the error for an answer that is not valid.
func (c *Client) Broken(t Target, a Ask, answer []byte, cause error) error {
	return protocolError(a.call(t), c.o.hide(answer), cause)
}

// Failed returns an error of a step.
func Failed(t Target, step string, cause error, summary, detail string, args ...any) error {
	return fail(call{target: t, step: step}, cause, summary, detail, args...)
}

// refusals returns the summaries of the errors for steps that end with an exit code other than zero.
func refusals() map[string]string {
	return map[string]string{StepInfo: "The image refused", "check": "The versions could not be listed",
		"get": "The version is unavailable", "put": "The put failed",
		StepNotify: "The notification was not sent"}
}

// IsType reports whether an answer to init or info is a valid answer of a resource type.
func IsType(answer []byte) bool {
	_, err := answers.ReadInit(answer)
	return err == nil
}
