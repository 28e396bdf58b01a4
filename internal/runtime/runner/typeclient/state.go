package typeclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"deployster/internal/base/diag"
	"deployster/internal/base/secret"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/answers"
	"deployster/internal/runtime/runner/secretgrant"
	"deployster/protocol"
)

// State queries the state of a resource. The input may have everything that is known:
// State does not send what the protocol version and the type's capabilities do not allow.
// It repeats the query, with pauses, after a failure that the image calls transient.
func (c *Client) State(ctx context.Context, t Target, ty protocol.Type, in protocol.StateInput) (protocol.Answer, error) {
	k := call{target: t, step: StepState, kind: runner.Query, command: ty.StateAction, mounts: t.Mounts, settings: t.Settings,
		timeout: t.StateTimeout, states: ty.StateSchema, remembers: ty.Memory}
	if k.timeout == 0 {
		k.timeout = DefaultStateTimeout
	}
	if in.Intent == "" {
		in.Intent = protocol.Present
	}
	if in.Intent == protocol.Absent && !ty.Absent {
		return protocol.Answer{}, fail(k, errors.ErrUnsupported, "The type cannot destroy",
			"Image %s cannot destroy objects (it lacks \"absent\": true in its answer to init). Destroy the object by hand, and have "+
				"deployster forget it: lifecycle { on_remove = \"forget\" }.", diag.Visible(t.Reference))
	}
	in.InitInput, in.Config = c.initInput(t), c.WithDefaults(ty.ConfigSchema, in.Config)
	var err error
	if in.Host, err = c.host(ctx, k); err != nil {
		return protocol.Answer{}, err
	}
	if k.grant, err = c.o.grant(ctx, k, in.Applied != nil, secretgrant.ConfigsOf(in)...); err != nil {
		return protocol.Answer{}, err
	}
	rotated := k.grant.Tells(ty, &in)
	if err = k.encode(ty, in); err != nil {
		return protocol.Answer{}, fail(k, err, "Cannot query the image", "%s", diag.Visible(err.Error()))
	}
	if k.digest, err = c.images.digestFor(ctx, t, ty, StepState, ty.StateAction); err != nil {
		return protocol.Answer{}, err
	}
	k.shares(ty, ty.Reuse)
	if k.worker, err = c.images.workerFor(ctx, t, ty, StepState, ty.StateAction, k.digest); err != nil {
		return protocol.Answer{}, err
	}
	for try := 0; ; try++ {
		answer, err := c.askState(ctx, k, ty, in.Intent)
		if err == nil && len(rotated) > 0 && ty.Refresh && !in.Refresh && (answer.Status == protocol.Valid || answer.StaleState != nil) {
			in.Refresh = true // it exists, and may have another secret
			if err = k.encode(ty, in); err == nil {
				answer, err = c.askState(ctx, k, ty, in.Intent)
			}
		}
		if answer.Rotated = rotated; err == nil && len(in.After) > 0 {
			answer.Applied = k.grant.Fingerprints()
		}
		var te *protocol.TypeError
		if !errors.As(err, &te) || te.Class != protocol.TransientError || t.Once || try >= len(c.o.Backoff) {
			return answer, err
		}
		if pause(ctx, c.o.Backoff[try]) != nil {
			return protocol.Answer{}, callError(k, runner.Result{}, context.Cause(ctx))
		}
	}
}

func (c *Client) askState(ctx context.Context, k call, ty protocol.Type, intent protocol.Intent) (protocol.Answer, error) {
	r, err := c.run(ctx, k)
	if err != nil {
		return protocol.Answer{}, err
	}
	answer, failure, err := answers.ReadAnswer(r.Stdout, ty.Protocol, intent)
	if err == nil {
		err = k.grant.Refuse(r.Stdout)
	}
	k.grant.Mask(&answer)
	if err == nil && answer.Status == protocol.Valid {
		err = c.checkState(ty, answer.State)
	}
	if err == nil && answer.Memory != nil && !ty.Memory {
		err = errors.New("it returned a \"memory\", and its answer to init lacks \"memory\": true")
	}
	if err == nil && ty.Guard == nil && slices.ContainsFunc(answer.Actions, func(a protocol.Action) bool { return a.Guarded }) {
		err = errors.New("it returned a \"guarded\" action, and its answer to init lacks \"guard\"")
	}
	if err == nil {
		err = undeclared(ty, answer)
	}
	if err != nil {
		return protocol.Answer{}, protocolError(k, c.o.hide(r.Stdout), err)
	}
	if c.o.Hide != nil { // paths are shown in other forms, in which a secret is not recognised
		for i := range answer.Reasons {
			answer.Reasons[i].Path = secret.HidePath(answer.Reasons[i].Path, c.o.Hide)
		}
		if failure != nil {
			failure.Path = secret.HidePath(failure.Path, c.o.Hide)
		}
	}
	if failure != nil {
		return protocol.Answer{}, typeError(k, failure)
	}
	return answer, c.images.resolveActions(ctx, k.target, answer)
}

// undeclared returns an error for an action that the answer to init does not list.
func undeclared(ty protocol.Type, answer protocol.Answer) error {
	all := answer.Actions
	if answer.ShutdownFirst != nil {
		all = append(slices.Clone(all), *answer.ShutdownFirst)
	}
	for _, a := range all {
		if ty.Actions != nil && !slices.Contains(ty.Actions, a.Name) {
			return fmt.Errorf("it returned the action %q, and the \"actions\" in its answer to init are [%s]", a.Name,
				strings.Join(ty.Actions, ", "))
		}
	}
	return nil
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Act runs an action once. The error is nil only if the action ended with exit code
// zero; an *ExitError has the code and the last lines. The idempotency key in the input
// is the ID by which the action can be adopted.
func (c *Client) Act(ctx context.Context, t Target, ty protocol.Type, a protocol.Action, in protocol.ActionInput) (runner.Result, error) {
	return c.ActNotify(ctx, t, ty, a, in, nil)
}

// ActNotify is Act with a callback: it calls onEnd with the end of the action while a
// later command can still adopt the action; see runner.Spec.Ended.
func (c *Client) ActNotify(ctx context.Context, t Target, ty protocol.Type, a protocol.Action, in protocol.ActionInput,
	onEnd func(runner.Result, error) error) (runner.Result, error) {
	k := call{id: in.IdempotencyKey, onEnd: onEnd, target: t, step: a.Name, kind: runner.Action, command: a.Command, mounts: t.Mounts,
		settings: t.Settings, timeout: t.ActionTimeout, remembers: ty.Memory, states: ty.StateSchema}
	in.InitInput, in.Config = c.initInput(t), c.WithDefaults(ty.ConfigSchema, in.Config)
	if in.Intent == "" {
		in.Intent = protocol.Present
	}
	in.Action = a.Name
	var err error
	if in.Host, err = c.host(ctx, k); err != nil {
		return runner.Result{}, err
	}
	if k.grant, err = c.o.grant(ctx, k, false, secretgrant.ConfigsOf(in.StateInput)...); err != nil {
		return runner.Result{}, err
	}
	if err = k.encodeAction(ty, in); err != nil {
		return runner.Result{}, fail(k, err, "Cannot run the action", "%s", diag.Visible(err.Error()))
	}
	if k.digest, err = c.images.digestFor(ctx, t, ty, a.Name, a.Command); err != nil {
		return runner.Result{}, err
	}
	k.shares(ty, ty.ReuseActions)
	if k.worker, err = c.images.workerFor(ctx, t, ty, a.Name, a.Command, k.digest); err != nil {
		return runner.Result{}, err
	}
	return c.run(ctx, k)
}

// checkState checks the state of a VALID answer against the state schema of the type.
func (c *Client) checkState(ty protocol.Type, state json.RawMessage) error {
	found := c.CheckState(ty, state)
	if len(found) == 0 {
		return nil
	}
	return fmt.Errorf("the state does not match the image's own state_schema: %s", strings.TrimSuffix(found[0].Sentence(), "."))
}

// host returns what an image gets to know about the host that it runs on; nil if it
// runs on the machine of the command.
func (c *Client) host(ctx context.Context, k call) (*protocol.Host, error) {
	at := k.settings.Host
	if at == nil || c.o.Facts == nil {
		return nil, nil
	}
	facts, err := c.o.Facts(ctx, *at)
	if err != nil {
		return nil, callError(k, runner.Result{}, err)
	}
	return &protocol.Host{Name: at.Name, Facts: facts}, nil
}
