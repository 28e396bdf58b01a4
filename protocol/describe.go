package protocol

import (
	"encoding/json"
	"fmt"
	"reflect"

	"deployster/protocol/internal/fingerprint"
	"deployster/protocol/internal/jsonvalue"
)

// init answers the init question: what this type is.
func (s server[C, S]) init(p Process) error {
	var in InitInput
	if err := readInput(p.Stdin, &in); err != nil {
		return err
	}
	// A deployster that sends no range is older than the range itself.
	if in.Protocol.Max != 0 && (in.Protocol.Max < MaxVersion || in.Protocol.Min > MaxVersion) {
		return fmt.Errorf("this type uses protocol %d, and this deployster supports %d to "+
			"%d", MaxVersion, in.Protocol.Min, in.Protocol.Max)
	}
	answer, err := s.describe()
	if !in.Has(GuardFeature) {
		answer.Guard = nil
	}
	if !in.Has(ActionsFeature) {
		answer.Actions = nil
	}
	if !in.Has(OperationsFeature) {
		answer.Operations = nil
	}
	if err != nil {
		return err
	}
	return writeAnswer(p.Stdout, answer)
}

func (s server[C, S]) describe() (InitAnswer, error) {
	a := InitAnswer{Protocol: MaxVersion, Label: s.about.Label, ConfigSchema: s.about.ConfigSchema, StateSchema: s.about.StateSchema,
		Kind: s.about.Kind, AutoEdges: s.about.AutoEdges, Plugs: s.about.Plugs, PlugsIn: s.about.PlugsIn, Needs: s.about.Needs,
		StateAction: Command{Args: []string{stateArg}}, Dependencies: s.about.Dependencies, Refresh: s.about.Refresh,
		Memory: s.about.Memory, Unknowns: s.about.Unknowns, Independent: s.about.Independent, Batch: s.about.Batch,
		Actions: s.about.Actions, Reuse: s.about.Reuse,
		ReuseActions: s.about.ReuseActions}
	_, a.Absent = s.r.(Deleter[C, S])
	if _, watches := s.r.(Watcher[C, S]); watches {
		a.WatchAction = &Command{Args: []string{watchArg}}
	}
	if _, discovers := s.r.(Discoverer[C, S]); discovers {
		a.DiscoverAction = &Command{Args: []string{discoverArg}}
	}
	if _, validates := s.r.(Validator[C]); validates {
		a.ValidateAction = &Command{Args: []string{validateArg}}
	}
	if _, guards := s.r.(Guarded[C, S]); guards {
		a.Guard = &Guard{Undo: Command{Args: []string{undoArg}}}
	}
	if operator, operates := s.r.(Operator[C, S]); operates {
		a.Operations = operations(operator.Operations())
	}
	if s.about.ByPerson {
		a.Repair = new(bool)
	}
	if s.about.Worker {
		a.Worker = &Command{Args: []string{workerArg}}
	}
	var err error
	if a.Identity, err = identityOf(reflect.TypeFor[C]()); err != nil {
		return a, fmt.Errorf("the fields of %s declare no identity: %w", reflect.TypeFor[C](), err)
	}
	if a.ConfigSchema == nil {
		if a.ConfigSchema, err = SchemaOf[C](); err != nil {
			return a, err
		}
	}
	if a.ConfigSchema, err = withDocs(a.ConfigSchema, s.about.Docs); err != nil {
		return a, err
	}
	if a.StateSchema == nil {
		if a.StateSchema, err = stateSchemaOf[S](); err != nil {
			return a, err
		}
	}
	if s.secret {
		a.StateSchema, err = fingerprint.AddToSchema(a.StateSchema)
	}
	return a, err
}

// withDocs adds descriptions to the properties of a schema, by their names.
func withDocs(schema json.RawMessage, docs map[string]string) (json.RawMessage, error) {
	if len(docs) == 0 {
		return schema, nil
	}
	var s map[string]any
	if err := jsonvalue.Decode(schema, &s, false); err != nil {
		return nil, err
	}
	properties, _ := s["properties"].(map[string]any)
	for name, doc := range docs {
		property, ok := properties[name].(map[string]any)
		if !ok {
			return nil, fmt.Errorf("the description of %s has no field", name)
		}
		property["description"] = doc
	}
	return jsonvalue.Encode(s)
}
