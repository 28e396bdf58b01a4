package protocol

import (
	"context"
	"encoding/json"
	"fmt"
)

// ActionsFeature and OperationsFeature are the features of deploysters that know Type.Actions and Type.Operations.
const (
	ActionsFeature    = "actions"
	OperationsFeature = "operations"
)

// Operation is something that a type does with an object when a person or a schedule requests it, such as a backup. It is not
// part of making the object match its config.
type Operation struct {
	Label        string          `json:"label,omitempty"`
	Args         []string        `json:"args"`                    // of its command; Serve sets them
	ConfigSchema json.RawMessage `json:"config_schema,omitempty"` // JSON Schema of its input; none = any object
	// Changes is false for an operation that changes nothing about the object: it runs without a lock of the state, and the state
	// is not queried after it. nil = true.
	Changes *bool `json:"changes,omitempty"`
	// Idempotent reports that it may run again although it is unknown how its last run ended.
	Idempotent bool `json:"idempotent,omitempty"`
}

// Changing reports whether the operation may change the object.
func (o Operation) Changing() bool { return o.Changes == nil || *o.Changes }

// OperationInput is the stdin of an operation.
type OperationInput struct {
	InitInput
	Config         json.RawMessage `json:"config"`           // of the resource, as it was last VALID
	State          json.RawMessage `json:"state"`            // its state, as it was last seen
	Memory         json.RawMessage `json:"memory,omitempty"` // on request: the type's recorded memory
	Host           *Host           `json:"host,omitempty"`   // its machine; nil = that of the command
	Operation      string          `json:"operation"`        // its name
	Input          json.RawMessage `json:"input"`            // an object that matches Operation.ConfigSchema
	IdempotencyKey string          `json:"idempotency_key"`  // of this run; each run has another one
}

// Operator is implemented by types with operations.
type Operator[C, S any] interface {
	// Operations returns the operations, by name. Args are set by the caller.
	Operations() map[string]Operation
	// Operate carries out the operation c.Operation with c.Input, on the object whose state was c.Have.
	Operate(ctx context.Context, c *Call[C, S]) error
}

// operationArg is the argument before the name of an operation, for types that use this package.
const operationArg = "operation"

// operations returns the operations as init answers them.
func operations(declared map[string]Operation) map[string]Operation {
	all := make(map[string]Operation, len(declared))
	for name, o := range declared {
		o.Args = []string{operationArg, name}
		all[name] = o
	}
	return all
}

// operate carries out an operation.
func (s server[C, S]) operate(ctx context.Context, p Process, o Operator[C, S]) error {
	var in OperationInput
	if err := readInput(p.Stdin, &in); err != nil {
		return err
	}
	if _, known := o.Operations()[p.Args[1]]; !known || len(p.Args) > 2 {
		return fmt.Errorf("this type has no operation %q", p.Args[1:])
	}
	if len(in.Config) == 0 {
		in.Config = json.RawMessage("{}")
	}
	c := &Call[C, S]{Log: p.Stderr, Out: p.Stdout, Operation: p.Args[1], Input: in.Input}
	c.ActionInput = ActionInput{StateInput: StateInput{InitInput: in.InitInput, Config: in.Config, Intent: Present, LastState: in.State,
		Memory: in.Memory, Host: in.Host}, StaleState: in.State, IdempotencyKey: in.IdempotencyKey}
	if err := s.decodeConfig(in.Config, &c.Config); err != nil {
		return err
	}
	c.LastState, c.Have = optional[S](in.State), optional[S](in.State)
	return o.Operate(ctx, c)
}
