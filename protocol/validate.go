package protocol

import (
	"context"
	"encoding/json"
)

// Validator is implemented by types that judge a config by itself: more than a schema can, and without any object.
type Validator[C any] interface {
	// Validate returns what is wrong with a config. unknown has JSON pointers to the values that are not known yet: they
	// are zero in config. There are no plugs and no network, and the context has neither dependencies nor a host.
	Validate(ctx context.Context, config C, unknown []string) ([]Finding, error)
}

// Finding is something that a type has found in a config.
type Finding struct {
	Severity FindingSeverity `json:"severity"`
	Path     string          `json:"path,omitempty"` // a JSON pointer into the config; "" = all of it
	Message  string          `json:"message"`
}

// FindingSeverity is how bad a Finding is.
type FindingSeverity string

// A config with a FindingError is refused.
const (
	FindingError   FindingSeverity = "error"
	FindingWarning FindingSeverity = "warning"
)

// ValidateInput is the input of validate.
type ValidateInput struct {
	InitInput
	Config  json.RawMessage `json:"config"`  // complete but for unknown values, which are left out, or null in a list
	Unknown []string        `json:"unknown"` // JSON pointers into the config: known only later
}

// ValidateAnswer is what a type prints on stdout in answer to validate.
type ValidateAnswer struct {
	Findings []Finding `json:"diagnostics"`
}

// validate answers what is wrong with a config.
func validate[C any](ctx context.Context, p Process, v Validator[C]) error {
	var in ValidateInput
	if err := readInput(p.Stdin, &in); err != nil {
		return err
	}
	var config C
	if err := json.Unmarshal(in.Config, &config); err != nil {
		return err
	}
	found, err := v.Validate(ctx, config, in.Unknown)
	if err != nil {
		return err
	}
	if found == nil {
		found = []Finding{}
	}
	return writeAnswer(p.Stdout, ValidateAnswer{Findings: found})
}
