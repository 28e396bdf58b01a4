package protocol

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"deployster/protocol/internal/compare"
	"deployster/protocol/internal/jsonvalue"
)

// DefaultPlan returns what is planned for a type that is not a Planner: a create if have is
// nil, or else an update if a field of the state differs from the field of the config
// that has the same JSON name; nil = it matches. A Planner that adds to it begins here.
func (c *Call[C, S]) DefaultPlan(have *S) (*Plan, error) {
	var state json.RawMessage
	if have != nil {
		var err error
		if state, err = jsonvalue.Encode(have); err != nil {
			return nil, err
		}
	}
	same, err := compare.Compare(c.ActionInput.Config, c.Config, c.Unknown, state, reflect.TypeFor[S]())
	if err != nil {
		return nil, err
	}
	if have == nil {
		return &Plan{Actions: []Action{simple(createAction)}, Forecast: same.Forecast()}, nil
	}
	update := &Plan{Actions: []Action{simple(updateAction)}, Reasons: reasonsOf(same.Differences),
		Forecast: same.Forecast(), Unknown: same.Unset}
	for _, pointer := range c.ChangedSecrets {
		update.Reasons = append(update.Reasons, Reason{Path: pointer, Message: "the secret at " + pointer + " has changed"})
	}
	if len(update.Reasons) == 0 {
		return nil, nil
	}
	return update, nil
}

// IsUnknown reports whether the config value at a JSON pointer, or a part of it, is not
// known yet.
func (c *Call[C, S]) IsUnknown(pointer string) bool {
	return slices.ContainsFunc(c.Unknown, func(u string) bool {
		return u == pointer || strings.HasPrefix(u, pointer+"/") || strings.HasPrefix(pointer, u+"/")
	})
}

// AbsencePlanner is implemented by types whose removal is not one action delete.
type AbsencePlanner[C, S any] interface {
	Deleter[C, S]

	// PlanAbsence returns what removes the object. Plan's Forecast, MayDiffer and Unknown
	// do not count.
	PlanAbsence(ctx context.Context, c *Call[C, S], have *S) (*Plan, error)
}
