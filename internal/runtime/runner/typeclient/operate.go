package typeclient

import (
	"context"
	"encoding/json"

	"deployster/internal/base/diag"
	"deployster/internal/runtime/runner"
	"deployster/protocol"
)

// StepOperation begins the step of an operation in records and messages.
const StepOperation = "operation "

// Operation is one run of an operation of a type.
type Operation struct {
	Name      string
	Input     protocol.OperationInput
	Sensitive []string // JSON pointers into Input.Input to values that must never be shown
	// Ended is called with the end while a later command can still find it out; see runner.Spec.Ended.
	Ended func(runner.Result, error) error
}

// operationInput is the stdin of an operation, key by key and in this order.
type operationInput struct {
	protocol.InitInput
	Config         json.RawMessage `json:"config"`
	State          json.RawMessage `json:"state"`
	Memory         json.RawMessage `json:"memory,omitempty"`
	Host           *protocol.Host  `json:"host,omitempty"`
	Operation      string          `json:"operation"`
	Input          json.RawMessage `json:"input"`
	IdempotencyKey string          `json:"idempotency_key"`
}

// Run runs an operation once. Its idempotency key is the ID by which it can be found again; one that changes nothing
// is a query, which is over when this command is.
func (o Operation) Run(ctx context.Context, c *Client, t Target, ty protocol.Type) (runner.Result, error) {
	declared := ty.Operations[o.Name]
	k := call{target: t, step: StepOperation + o.Name, kind: runner.Query, digest: ty.Digest,
		command: protocol.Command{Args: declared.Args},
		mounts:  t.Mounts, settings: t.Settings, timeout: t.ActionTimeout, states: ty.StateSchema, log: true}
	if declared.Changing() {
		k.kind, k.id, k.onEnd, k.log = runner.Action, o.Input.IdempotencyKey, o.Ended, false
	}
	in := o.Input
	in.InitInput, in.Config, in.Operation = c.initInput(t), c.WithDefaults(ty.ConfigSchema, in.Config), o.Name
	in.Input = c.WithDefaults(declared.ConfigSchema, orEmpty(in.Input))
	if !ty.Memory {
		in.Memory = nil
	}
	var err error
	if in.Host, err = c.host(ctx, k); err != nil {
		return runner.Result{}, err
	}
	if k.stdin, err = encode(operationInput{in.InitInput, orEmpty(in.Config), orEmpty(in.State), in.Memory, in.Host, in.Operation, in.Input,
		in.IdempotencyKey}); err != nil {
		return runner.Result{}, fail(k, err, "Cannot run the operation", "%s", diag.Visible(err.Error()))
	}
	if k.digest, err = c.images.digestFor(ctx, t, ty, k.step, k.command); err != nil {
		return runner.Result{}, err
	}
	return c.run(ctx, k)
}
