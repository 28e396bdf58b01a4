package typeclient

import (
	"context"
	"time"

	"deployster/internal/base/diag"
	"deployster/internal/runner"
	"deployster/protocol"
)

// StepInfo is how an image is asked which artifacts it speaks of.
const StepInfo = "info"

// Ask is one invocation of an image in a protocol of artifacts: another package knows
// what is asked and what is answered, this one how an image is run, seen and recorded.
type Ask struct {
	Step    string // info, check, get, put
	ID      string // of a put; others are queries
	Digest  string
	Command protocol.Command
	Stdin   []byte
	Cwd     string
	Volumes []runner.Volume
	Answer  *runner.Answer
	Timeout time.Duration // 0 = none

	// Says: the answer is on stdout, else that is a log. Of a put at most KeepSaid bytes
	// are kept of it.
	Says bool

	// Ended is runner.Spec's, with the error that Ask is going to return.
	Ended func(runner.Result, error) error
}

// KeepSaid is how many bytes are kept of a put that answers on stdout.
const KeepSaid = 1 << 20

// Ask carries out an invocation. The error is nil only when the program ended with exit
// code zero.
func (c *Client) Ask(ctx context.Context, t Target, a Ask) (runner.Result, error) {
	return c.run(ctx, a.call(t))
}

func (a Ask) call(t Target) call {
	k := call{target: t, step: a.Step, kind: runner.Query, digest: a.Digest, command: a.Command, stdin: a.Stdin, mounts: t.Mounts,
		settings: t.Settings, timeout: a.Timeout, cwd: a.Cwd, volumes: a.Volumes, answer: a.Answer, onEnd: a.Ended, log: !a.Says, artifact: true}
	if a.ID != "" {
		k.kind, k.id, k.quiet, k.keep = runner.Action, a.ID, a.Says, 2*KeepSaid
	}
	if a.Step == StepInfo {
		k.settings = initOf(t, a.Digest).settings
	}
	return k
}

// AskInfo asks an image what it is, as Init does, and returns the bytes of the answer. It
// keeps those that may be kept.
func (c *Client) AskInfo(ctx context.Context, t Target, digest string, mayKeep func(answer []byte) bool) ([]byte, error) {
	k := initOf(t, digest)
	key := c.cacheKey(t, digest, k.settings)
	if c.o.Inits != nil && key != "" {
		if answer, ok := c.o.Inits.Get("info-" + key); ok {
			return answer, nil
		}
	}
	stdin, err := encodeInit(c.initInput(t))
	if err != nil {
		return nil, fail(k, err, "Cannot ask the image", "%s", diag.Visible(err.Error()))
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

// Digest returns the image of a target, which is brought in where that is needed.
func (c *Client) Digest(ctx context.Context, t Target) (string, error) {
	if t.Digest != "" {
		return t.Digest, nil
	}
	return c.resolveFor(ctx, t, StepInit, t.Reference)
}

// Ended returns the error of a put that another command began; nil when it ended with
// exit code zero.
func Ended(t Target, a Ask, r runner.Result) error { return callError(a.call(t), r, nil) }

// Broken returns the error of an answer that is not right.
func Broken(t Target, a Ask, answer []byte, cause error) error {
	return protocolError(a.call(t), answer, cause)
}

// Failed returns an error about a step.
func Failed(t Target, step string, cause error, summary, detail string, args ...any) error {
	return fail(call{target: t, step: step}, cause, summary, detail, args...)
}

// refusals are what is said of steps that end with another exit code than zero.
func refusals() map[string]string {
	return map[string]string{StepInfo: "The image refused", "check": "The versions could not be listed", "get": "The version is unavailable",
		"put": "The put failed"}
}

// IsType reports whether an answer to init or info is that of a resource type.
func IsType(answer []byte) bool {
	_, err := readInit(answer)
	return err == nil
}
