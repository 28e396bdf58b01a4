package planfile

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"deployster/plan"
	"deployster/protocol"
)

// storedPlan is a plan as plan.json has it: each type is there once, with its schemas,
// and named by its position where many resources have it. The resources come last.
type storedPlan struct {
	plan.Plan
	Types     []protocol.Type        `json:"types,omitempty"`
	Others    map[string]int         `json:"others,omitempty"`
	Resources map[string]*storedStep `json:"resources"`
}

// storedStep is one resource of it.
type storedStep struct {
	*plan.Step
	Init int         `json:"init"`
	Old  *storedStep `json:"old,omitempty"`
}

// typeKey tells most types apart.
type typeKey struct{ reference, digest, kind string }

// typeTable numbers types in the order in which they are asked for.
type typeTable struct {
	list  []protocol.Type
	known map[typeKey][]int
}

func (t *typeTable) number(ty protocol.Type) int {
	key := typeKey{ty.Reference, ty.Digest, ty.Kind}
	for _, i := range t.known[key] {
		if reflect.DeepEqual(t.list[i], ty) {
			return i
		}
	}
	t.list = append(t.list, ty)
	t.known[key] = append(t.known[key], len(t.list)-1)
	return len(t.list) - 1
}

func (t *typeTable) step(s *plan.Step) *storedStep {
	if s == nil {
		return nil
	}
	return &storedStep{Step: s, Init: t.number(s.Init), Old: t.step(s.Old)}
}

// store gives a plan the form of plan.json.
func store(p *plan.Plan) *storedPlan {
	t := typeTable{known: map[typeKey][]int{}}
	s := &storedPlan{Plan: *p, Others: map[string]int{}, Resources: map[string]*storedStep{}}
	for _, addr := range slices.Sorted(maps.Keys(p.Resources)) {
		s.Resources[addr] = t.step(p.Resources[addr])
	}
	for _, addr := range slices.Sorted(maps.Keys(p.Others)) {
		s.Others[addr] = t.number(p.Others[addr])
	}
	s.Types = t.list
	return s
}

// load gives the plan back.
func (s *storedPlan) load() (*plan.Plan, error) {
	p := s.Plan
	p.Resources = map[string]*plan.Step{}
	for addr, step := range s.Resources {
		var err error
		if p.Resources[addr], err = step.load(s.Types); err != nil {
			return nil, fmt.Errorf("resource %s: %w", addr, err)
		}
	}
	for addr, i := range s.Others {
		if i < 0 || i >= len(s.Types) {
			return nil, fmt.Errorf("the type of %s is missing", addr)
		}
		if p.Others == nil {
			p.Others = map[string]protocol.Type{}
		}
		p.Others[addr] = s.Types[i]
	}
	return &p, nil
}

func (s *storedStep) load(types []protocol.Type) (*plan.Step, error) {
	if s == nil {
		return nil, nil
	}
	if s.Init < 0 || s.Init >= len(types) {
		return nil, fmt.Errorf("its type %d is missing", s.Init)
	}
	step := s.Step
	if step == nil {
		step = &plan.Step{}
	}
	step.Init = types[s.Init]
	var err error
	step.Old, err = s.Old.load(types)
	return step, err
}
