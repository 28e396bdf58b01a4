package planfile

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"deployster/plan"
	"deployster/plan/change"
	"deployster/protocol"
)

// Document is a plan as plan.json has it. The resources must come last.
type Document struct {
	plan.Plan
	Types     []protocol.Type          `json:"types,omitempty"`  // each type once, with its schemas: many resources share one
	Others    map[string]int           `json:"others,omitempty"` // positions in types, of resources that the plan leaves out
	Resources map[string]*DocumentStep `json:"resources"`
}

// DocumentStep is one resource of a Document, with the part of its change.
type DocumentStep struct {
	*plan.Step
	Change plan.Change `json:"change"` // as it is shown: an update that destroys the object is a replacement
	Init   int         `json:"init"`   // its type: a position in types
	certainty
	parts
}

// parts has exactly one part, under the name of its change.
type parts struct {
	Valid    *change.Valid      `json:"valid,omitempty"`
	Create   *change.Create     `json:"create,omitempty"`
	Update   *change.Update     `json:"update,omitempty"`
	Replace  *documentReplace   `json:"replace,omitempty"`
	Destroy  *change.Destroy    `json:"destroy,omitempty"`
	Forget   *change.Forget     `json:"forget,omitempty"`
	Publish  *change.Publish    `json:"publish,omitempty"`
	Deferred *change.Deferred   `json:"deferred,omitempty"`
	Failed   *change.ReadFailed `json:"read_failed,omitempty"`
	Record   *change.Record     `json:"record,omitempty"`
	Left     *change.Left       `json:"left,omitempty"`
}

// documentReplace is a change.Replace.
type documentReplace struct {
	Old *DocumentStep `json:"old"` // how the existing object is destroyed
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
	d := &DocumentStep{Step: s, Change: s.Shown(), Init: t.number(s.Init), certainty: certaintyOf(s)}
	switch p := s.Part.(type) {
	case *change.Valid:
		d.Valid = p
	case *change.Create:
		d.Create = p
	case *change.Update:
		d.Update = p
	case *change.Replace:
		d.Replace = &documentReplace{t.step(p.Old)}
	case *change.Destroy:
		d.Destroy = p
	case *change.Forget:
		d.Forget = p
	case *change.Publish:
		d.Publish = p
	case *change.Deferred:
		d.Deferred = p
	case *change.ReadFailed:
		d.Failed = p
	case *change.Record:
		d.Record = p
	case *change.Left:
		d.Left = p
	}
	return d
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
	if step.Certainty, err = s.certainty.load(); err != nil {
		return nil, err
	}
	part, err := s.part(types)
	if err != nil {
		return nil, err
	}
	if step.Part = part; step.Shown() != s.Change {
		return nil, fmt.Errorf("its change %q is not that of its part", s.Change)
	}
	return step, nil
}

// part returns the part that a step has.
func (s *DocumentStep) part(types []protocol.Type) (change.Part, error) {
	var all []change.Part
	fields := reflect.ValueOf(s.parts)
	for i := range fields.NumField() {
		if p, is := fields.Field(i).Interface().(change.Part); is && !fields.Field(i).IsNil() {
			all = append(all, p)
		}
	}
	if s.Replace != nil {
		old, err := s.Replace.Old.load(types)
		if err != nil {
			return nil, err
		}
		all = append(all, &change.Replace{Old: old})
	}
	if len(all) != 1 {
		return nil, fmt.Errorf("it has %d parts, not one", len(all))
	}
	return all[0], nil
}
