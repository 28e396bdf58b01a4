package planfile

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"deployster/plan"
	"deployster/protocol"
)

// Document is a plan as plan.json has it. The resources must come last.
type Document struct {
	plan.Plan
	Types     []protocol.Type          `json:"types,omitempty"`  // each type once, with its schemas: many resources share one
	Others    map[string]int           `json:"others,omitempty"` // positions in types, of resources that the plan leaves out
	Resources map[string]*DocumentStep `json:"resources"`
}

// DocumentStep is one resource of a Document.
type DocumentStep struct {
	*plan.Step
	Init int           `json:"init"`          // its type: a position in types
	Old  *DocumentStep `json:"old,omitempty"` // replace: how the existing thing is destroyed
}

// typeKey distinguishes most types.
type typeKey struct{ reference, digest, kind string }

// typeTable numbers types in the order in which number gets them.
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

func (t *typeTable) step(s *plan.Step) *DocumentStep {
	if s == nil {
		return nil
	}
	return &DocumentStep{Step: s, Init: t.number(s.Init), Old: t.step(s.Old)}
}

// NewDocument returns a plan in the form of plan.json.
func NewDocument(p *plan.Plan) *Document {
	t := typeTable{known: map[typeKey][]int{}}
	s := &Document{Plan: *p, Others: map[string]int{}, Resources: map[string]*DocumentStep{}}
	for _, addr := range slices.Sorted(maps.Keys(p.Resources)) {
		s.Resources[addr] = t.step(p.Resources[addr])
	}
	for _, addr := range slices.Sorted(maps.Keys(p.Others)) {
		s.Others[addr] = t.number(p.Others[addr])
	}
	s.Types = t.list
	return s
}

// load returns the plan of a document.
func (s *Document) load() (*plan.Plan, error) {
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

func (s *DocumentStep) load(types []protocol.Type) (*plan.Step, error) {
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
