package protocol

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"

	"deployster/protocol/internal/compare"
	"deployster/protocol/internal/fingerprint"
	"deployster/protocol/internal/jsonvalue"
	"deployster/protocol/internal/schema"
)

// state answers whether the object matches the config.
func (s server[C, S]) state(ctx context.Context, p Process) error {
	answer, err := s.look(ctx, p)
	if failure, ok := errors.AsType[*TypeError](err); ok {
		return writeAnswer(p.Stdout, StateAnswer{Error: failure})
	}
	if err != nil {
		return err
	}
	return writeAnswer(p.Stdout, answer)
}

func (s server[C, S]) look(ctx context.Context, p Process) (StateAnswer, error) {
	c, err := s.call(p)
	if err != nil {
		return StateAnswer{}, err
	}
	have, err := s.r.Read(ctx, c)
	if err != nil {
		return StateAnswer{}, err
	}
	if ctx.Err() != nil {
		return StateAnswer{}, context.Cause(ctx)
	}
	answer := StateAnswer{}
	if c.Intent == Absent {
		answer, err = s.absent(ctx, c, have)
	} else {
		answer, err = s.provided(ctx, c, have)
	}
	answer.Memory = c.remembered()
	if guarded, guards := s.r.(Guarded[C, S]); !c.Guards || guards && guarded.Guards(c) {
		answer.Actions = marked(answer.Actions, c.Guards)
	}
	return answer, err
}

func (s server[C, S]) absent(ctx context.Context, c *Call[C, S], have *S) (StateAnswer, error) {
	if _, ok := s.r.(Deleter[C, S]); !ok {
		return StateAnswer{}, Errorf(BugError, "", "this type cannot remove anything")
	}
	if have == nil {
		return StateAnswer{Status: Missing}, nil
	}
	last, _ := fingerprint.Recorded(c.ActionInput.LastState)
	state, err := jsonvalue.Encode(have)
	if err == nil {
		state, err = fingerprint.Add(state, last)
	}
	if err != nil {
		return StateAnswer{}, err
	}
	plan := &Plan{Actions: []Action{simple(deleteAction)}}
	if planner, ok := s.r.(AbsencePlanner[C, S]); ok {
		if plan, err = planner.PlanAbsence(ctx, c, have); err != nil {
			return StateAnswer{}, err
		}
	}
	return stale(Plan{Actions: plan.Actions, ShutdownFirst: plan.ShutdownFirst, Reasons: plan.Reasons}, state)
}

func (s server[C, S]) present(ctx context.Context, c *Call[C, S], have *S) (StateAnswer, error) {
	last, known := fingerprint.Recorded(c.ActionInput.LastState)
	var now map[string]string
	var err error
	if s.secret {
		if now, err = fingerprint.Of(c.Type, c.Config, reflect.TypeFor[S](), last); err != nil {
			return StateAnswer{}, err
		}
	}
	var state json.RawMessage
	if have != nil {
		c.ChangedSecrets = fingerprint.Changed(last, now, known, c.After)
		if state, err = jsonvalue.Encode(have); err != nil {
			return StateAnswer{}, err
		}
	}
	plan, err := s.plan(ctx, c, have, state, secretReasons(c.ChangedSecrets, now))
	switch {
	case err != nil:
		return StateAnswer{}, err
	case plan == nil && have == nil:
		return StateAnswer{}, Errorf(BugError, "", "it does not exist, and no action was planned that would create it")
	case plan == nil:
		state, err = fingerprint.Add(state, now)
		return StateAnswer{Status: Valid, State: state}, err
	}
	todo := *plan
	if len(c.ChangedSecrets) > 0 {
		todo.Unknown = slices.Concat(todo.Unknown, []string{"/" + fingerprint.Key})
	}
	if state, err = fingerprint.Add(state, last); err != nil {
		return StateAnswer{}, err
	}
	return stale(todo, state)
}

// plan returns what the type's Planner decides. Without a Planner it plans a create
// if the object does not exist, and an update if it differs. secrets are the reasons
// for secrets that have changed.
func (s server[C, S]) plan(ctx context.Context, c *Call[C, S], have *S, state json.RawMessage, secrets []Reason) (*Plan, error) {
	if planner, ok := s.r.(Planner[C, S]); ok {
		return planner.Plan(ctx, c, have)
	}
	_, compares := s.r.(Comparer[C, S])
	var same *compare.Result
	if !compares {
		var err error
		if same, err = compare.Compare(c.ActionInput.Config, c.Config, c.Unknown, state, reflect.TypeFor[S]()); err != nil {
			return nil, err
		}
	}
	if have == nil {
		return &Plan{Actions: []Action{simple(createAction)}, Forecast: same.Forecast()}, nil
	}
	update := &Plan{Actions: []Action{simple(updateAction)}}
	if compares {
		update.Reasons = s.r.(Comparer[C, S]).Compare(c, have)
	} else {
		update.Reasons, update.Forecast, update.Unknown = reasonsOf(same.Differences), same.Forecast(), same.Unset
	}
	if update.Reasons = append(update.Reasons, secrets...); len(update.Reasons) == 0 {
		return nil, nil
	}
	return update, nil
}

func simple(name string) Action { return Action{Name: name, Command: Command{Args: []string{name}}} }

// stale returns the answer for a plan.
func stale(p Plan, state json.RawMessage) (StateAnswer, error) {
	if len(p.Actions) == 0 {
		return StateAnswer{}, Errorf(BugError, "", "a plan without actions")
	}
	a := StateAnswer{Status: Stale, StaleState: state, Reasons: p.Reasons, MayDiffer: p.MayDiffer, Unknown: p.Unknown}
	for _, action := range p.Actions {
		a.Actions = append(a.Actions, runnable(action))
	}
	if p.ShutdownFirst != nil {
		first := runnable(*p.ShutdownFirst)
		a.ShutdownFirst = &first
	}
	forecast, err := jsonvalue.Encode(p.Forecast)
	if err == nil && string(forecast) != "null" && string(forecast) != "{}" {
		a.Forecast = forecast
	}
	return a, err
}

// runnable gives an action without a command its name as its argument.
func runnable(a Action) Action {
	if a.Image == "" && a.Entrypoint == "" && len(a.Args) == 0 {
		a.Args = []string{a.Name}
	}
	return a
}

// act carries out an action.
func (s server[C, S]) act(ctx context.Context, p Process) error {
	c, err := s.call(p)
	if err != nil {
		return err
	}
	name := p.Args[0]
	c.Args = p.Args[1:]
	if c.Action == "" {
		c.Action = name // set when a person runs the image by hand
	}
	if !s.about.Memory {
		return s.do(ctx, c, name)
	}
	c.Out = c.Log // stdout is reserved for the memory
	err = s.do(ctx, c, name)
	if memory := c.memory(name, err != nil); memory != nil {
		err = errors.Join(err, writeAnswer(p.Stdout, ActionAnswer{Memory: memory}))
	}
	return err
}

// do calls the type's method for an action.
func (s server[C, S]) do(ctx context.Context, c *Call[C, S], name string) error {
	deleter, deletes := s.r.(Deleter[C, S])
	actor, acts := s.r.(Actor[C, S])
	switch {
	case name == createAction || name == updateAction:
		return s.r.Write(ctx, c)
	case name == deleteAction && deletes:
		return deleter.Delete(ctx, c)
	case acts:
		return actor.Act(ctx, c)
	}
	return fmt.Errorf("this type has no action %q", name)
}

// call decodes the stdin of state and of actions.
func (s server[C, S]) call(p Process) (*Call[C, S], error) {
	c := &Call[C, S]{Log: p.Stderr, Out: p.Stdout}
	if err := readInput(p.Stdin, &c.ActionInput); err != nil {
		return nil, err
	}
	if c.Intent == "" {
		c.Intent = Present
	}
	if len(c.ActionInput.Config) == 0 {
		c.ActionInput.Config = json.RawMessage("{}")
	}
	if err := s.decodeConfig(c.ActionInput.Config, &c.Config); err != nil {
		return nil, err
	}
	c.LastState = optional[S](c.ActionInput.LastState)
	c.Have = optional[S](c.ActionInput.StaleState)
	return c, nil
}

// decodeConfig decodes a config over its defaults.
func (s server[C, S]) decodeConfig(raw json.RawMessage, into *C) error {
	schema.SetDefaults(reflect.ValueOf(into).Elem())
	if err := jsonvalue.Decode(raw, into, s.about.ConfigSchema == nil); err != nil {
		return Errorf(ConfigError, "", "the config cannot be read: %s", err)
	}
	return nil
}

// optional decodes a state that may be from another version of the type: it returns
// nil for one that cannot be decoded, and for an empty object.
func optional[S any](raw json.RawMessage) *S {
	var s S
	if len(raw) == 0 || string(raw) == "{}" || string(raw) == "null" || jsonvalue.Decode(raw, &s, false) != nil {
		return nil
	}
	return &s
}

// readInput decodes one object. It ignores unknown keys, which newer versions may send.
func readInput(from io.Reader, into any) error {
	var data []byte
	var err error
	if whole, ok := from.(*bytes.Reader); ok { // of a worker's request, which is not kept: a watch takes months
		data = make([]byte, whole.Len())
		_, err = io.ReadFull(from, data)
		whole.Reset(nil)
	} else {
		data, err = io.ReadAll(from)
	}
	if err != nil {
		return fmt.Errorf("stdin cannot be read: %w", err)
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return errors.New("there is nothing on stdin: this program is a resource type, and is run by deployster")
	}
	if json.Unmarshal(data, into) == nil { // faster, and sufficient without fields of type any
		return nil
	}
	if err := jsonvalue.Decode(data, into, false); err != nil {
		return fmt.Errorf("stdin is not what deployster sends: %w", err)
	}
	return nil
}
