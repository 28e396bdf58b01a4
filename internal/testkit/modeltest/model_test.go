package modeltest_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"deployster/internal/testkit/modeltest"
	"deployster/protocol"
	"deployster/state"
)

// The model says what a plan must say, by the words of the documentation. It
// knows the manifest as it was drawn, the state file and the world, and nothing
// of the engine.

// expected is what a plan must say of one resource.
type expected struct {
	change    string
	may       bool
	early     bool // it was queried before what it waits for is done
	mute      bool // so it was, and did not answer
	adopted   bool
	drifted   bool
	movedFrom string
	config    json.RawMessage // nil = it is not known yet
	answer    protocol.Answer
	before    []string // who must be done before it
	instance  *instance
	entry     *state.Entry // what was recorded of it, under this address
}

// flexible says that its config and its actions may become others.
func (e *expected) flexible() bool { return e.change == "deferred" || e.may }

// open says that its actions may become others.
func (e *expected) open() bool { return e.flexible() || e.early }

// expectation is what a plan must be.
type expectation struct {
	resources map[string]*expected
	prior     map[string]state.Entry // as they are called now
	moves     map[string]string      // new address -> old one
	refused   []string               // why there can be no plan
	doubtful  map[string]bool        // what may be the thing of something that is destroyed
	mute      map[string]bool        // whose last query for the plan gave no answer
	strange   string                 // why nobody can say anything: two resources with one thing
}

// expect works it out. mute are those whose last query for the plan gave no answer.
func expect(s *Step, recorded state.Snapshot, things modeltest.Store, mute map[string]bool) (*expectation, error) {
	e := &expectation{resources: map[string]*expected{}, mute: mute}
	e.move(s, recorded)
	if e.strange = e.twice(s); e.strange != "" {
		return e, nil
	}
	if err := e.all(s, things); err != nil || len(e.refused) > 0 || !e.doubt(s) {
		return e, err
	}
	return e, e.all(s, things)
}

// doubt finds the resources whose things may be those of something that is destroyed, as
// their types do not say what identifies them: what is new, or has another config.
func (e *expectation) doubt(s *Step) bool {
	e.doubtful = map[string]bool{}
	for addr, x := range e.resources {
		if x.instance == nil || x.change != "valid" && x.change != "update" {
			continue
		}
		if x.entry != nil {
			config := s.config(*x.instance, x.entry, func(addr string) json.RawMessage { return e.prior[addr].State })
			if canonical(config) == canonical(x.entry.Config) {
				continue
			}
		}
		for _, end := range e.resources {
			if end.change == "destroy" && end.entry.Type == modeltest.Reference(x.instance.Kind) {
				e.doubtful[addr] = true
			}
		}
	}
	return len(e.doubtful) > 0
}

// all decides about everything.
func (e *expectation) all(s *Step, things modeltest.Store) error {
	declared := map[string]bool{}
	for _, i := range s.instances() {
		declared[i.Address] = true
		x := &expected{instance: &i, before: s.predecessors(i), movedFrom: e.moves[i.Address]}
		if entry, ok := e.prior[i.Address]; ok {
			x.entry = &entry
		}
		e.resources[i.Address] = x
		if err := e.decide(s, x, things); err != nil {
			return err
		}
	}
	for addr, entry := range e.prior {
		if !declared[addr] {
			x := &expected{entry: &entry, movedFrom: e.moves[addr]}
			e.resources[addr] = x
			if err := e.leave(s, addr, x, things); err != nil {
				return err
			}
		}
	}
	// A thing goes only after all that was recorded to depend on it.
	for addr, entry := range e.prior {
		for _, dependency := range entry.Dependencies {
			if x := e.resources[dependency]; x != nil && !declared[dependency] {
				x.before = append(x.before, addr)
			}
		}
	}
	return nil
}

// move gives entries the addresses of now.
func (e *expectation) move(s *Step, recorded state.Snapshot) {
	e.prior, e.moves = map[string]state.Entry{}, map[string]string{}
	to := map[string]string{}
	for addr := range recorded.Resources {
		now := addr
		for range len(s.Moves) + 1 {
			for _, m := range s.Moves {
				if rest, ok := strings.CutPrefix(now, m.From); ok && (rest == "" || rest[0] == '[') {
					now = m.To + rest
				}
			}
		}
		to[addr] = now
	}
	declared := map[string]bool{}
	for _, i := range s.instances() {
		declared[i.Address] = true
	}
	taken := map[string]bool{}
	for _, now := range to {
		taken[now] = true
	}
	for addr, now := range to { // a count that came or went
		other, counted := strings.CutSuffix(now, "[0]")
		if !counted {
			other = now + "[0]"
		}
		if !declared[now] && declared[other] && !taken[other] {
			to[addr] = other
		}
	}
	for addr, now := range to {
		if _, twice := e.prior[now]; twice {
			e.refused = append(e.refused, now+" is recorded already")
		}
		entry := recorded.Resources[addr]
		entry.Dependencies = slices.Clone(entry.Dependencies)
		for i, d := range entry.Dependencies {
			if new, ok := to[d]; ok {
				entry.Dependencies[i] = new
			}
		}
		e.prior[now] = entry
		if now != addr {
			e.moves[now] = addr
		}
	}
}

// onlyBegun says that a thing was begun, and never seen to be as it should be.
func onlyBegun(entry state.Entry) bool { return string(entry.State) == "" }

// twice says which thing two resources would have: nobody should do that, and
// shrinking makes scenarios in which it is so.
func (e *expectation) twice(s *Step) string {
	owner := map[string]string{}
	for _, i := range s.instances() {
		owner[i.Thing] = i.Address
	}
	for addr, entry := range e.prior {
		var config struct{ Name string }
		_ = json.Unmarshal(entry.Config, &config) // written by us
		if other, ok := owner[config.Name]; ok && other != addr {
			return config.Name
		}
		owner[config.Name] = addr
	}
	return ""
}

// predecessors are the addresses that an instance waits for.
func (s *Step) predecessors(i instance) []string {
	set := map[string]bool{}
	s.reach(i.Resource, set)
	s.behind(i.Resource, set)
	return slices.Sorted(maps.Keys(set))
}

// reach are the addresses that a config is made of. values() of all
// instances sees their configs, and is made of what those are made of.
// What a module gives comes after all that the module waits for.
func (s *Step) reach(r *Resource, set map[string]bool) {
	for _, u := range r.Uses {
		of := s.find(u.Of)
		for at, i := range of.instances() {
			if u.At < 0 || at == u.At {
				set[i.Address] = true
			}
		}
		if u.At < 0 && len(of.Keys) > 0 {
			s.reach(of, set)
		}
		if of.Module {
			s.behind(of, set)
		}
	}
}

// behind adds the instances of what a depends_on names.
func (s *Step) behind(r *Resource, set map[string]bool) {
	for _, name := range r.After {
		for _, of := range s.find(name).instances() {
			set[of.Address] = true
		}
	}
}

// view is what dependants may expect of a resource; nil = nothing.
func (x *expected) view() json.RawMessage {
	switch {
	case x.change == "valid":
		return x.answer.State
	case x.change == "update", x.change == "deferred" && x.answer.StaleState != nil:
		return overlay(x.answer.StaleState, x.answer.Forecast)
	}
	return x.answer.Forecast
}

// overlay lays the keys of one object over another.
func overlay(base, top json.RawMessage) json.RawMessage {
	all := map[string]json.RawMessage{}
	for _, object := range []json.RawMessage{base, top} {
		var m map[string]json.RawMessage
		_ = json.Unmarshal(object, &m) // null is nothing
		maps.Copy(all, m)
	}
	text, _ := json.Marshal(all)
	return text
}

// config evaluates the config of an instance with what is known of the states;
// nil when something in it is not known.
func (s *Step) config(i instance, entry *state.Entry, known func(addr string) json.RawMessage) json.RawMessage {
	text, whole := s.evaluate(i, entry, known)
	if !whole {
		return nil
	}
	return text
}

// told is a config with null for what is not known.
func (s *Step) told(i instance, entry *state.Entry, known func(addr string) json.RawMessage) json.RawMessage {
	text, _ := s.evaluate(i, entry, known)
	return text
}

func (s *Step) evaluate(i instance, entry *state.Entry, known func(addr string) json.RawMessage) (text json.RawMessage, whole bool) {
	whole = true
	config := map[string]any{"name": i.Thing, "v": i.V}
	if i.Secret {
		config["s"] = canary
	}
	if i.Ignore && entry != nil && !onlyBegun(*entry) {
		var last map[string]any
		_ = json.Unmarshal(entry.Config, &last) // written by us
		config["v"] = last["v"]
	}
	for n, u := range i.Uses {
		var list []any
		for at, of := range s.find(u.Of).instances() {
			if u.At >= 0 && at != u.At {
				continue
			}
			var state map[string]any
			_ = json.Unmarshal(known(of.Address), &state) // null is nothing
			value, ok := state[u.attribute()]
			whole = whole && ok
			list = append(list, value)
		}
		if config[fmt.Sprintf("u%d", n)] = any(list); u.At >= 0 {
			config[fmt.Sprintf("u%d", n)] = list[0]
		}
	}
	text, _ = json.Marshal(config)
	return text, whole
}

// input is what the image of an instance is told.
func (s *Step) input(i instance, config json.RawMessage, known func(addr string) json.RawMessage) modeltest.Input {
	in := modeltest.Input{Name: i.Address, Type: modeltest.Reference(i.Kind)}
	in.Config, in.Intent = config, protocol.Present
	for n, u := range i.Uses {
		if u.Alias && i.Kind == modeltest.Asker {
			if in.Dependencies == nil {
				in.Dependencies = map[string]protocol.Dependency{}
			}
			in.Dependencies[fmt.Sprintf("d%d", n)] = protocol.Dependency{State: known(s.find(u.Of).instances()[u.At].Address)}
		}
	}
	return in
}

// decide says what a plan must say of what is declared.
func (e *expectation) decide(s *Step, x *expected, things modeltest.Store) error {
	known := func(addr string) json.RawMessage { return e.resources[addr].view() }
	x.config = s.config(*x.instance, x.entry, known)
	if x.config == nil {
		x.change = "deferred"
	}
	ahead := x.instance.Kind == modeltest.Ahead && !e.doubtful[x.instance.Address]
	inOrder := ahead && e.onlyInOrder(s, x)
	for _, addr := range x.before {
		switch dependency := e.resources[addr]; {
		case dependency.change == "create" || dependency.change == "deferred":
			x.change = "deferred"
		case dependency.change == "update" || dependency.may:
			x.may = true
		}
	}
	if e.doubtful[x.instance.Address] {
		x.may = true
		if x.entry == nil {
			x.change = "deferred"
		}
	}
	switch {
	case x.change == "deferred" && inOrder && !e.mute[x.instance.Address]:
		x.may = true
	case x.change == "deferred" && inOrder:
		x.may, x.mute = false, true
		return nil
	case x.change == "deferred" && ahead && !inOrder:
		return e.foresee(s, x, things)
	case x.change == "deferred":
		x.may = false
		return nil
	}
	thing, err := things.Load(x.instance.Thing)
	if err != nil {
		return err
	}
	x.answer = modeltest.Look(s.input(*x.instance, x.config, known), thing)
	if x.instance.Kind == modeltest.Old {
		x.answer.StaleState = nil
	}
	x.change = map[protocol.Status]string{protocol.Valid: "valid", protocol.Stale: "update", protocol.Missing: "create"}[x.answer.Status]
	if x.instance.ReadOnly && x.change != "valid" && x.may {
		x.change, x.may, x.answer = "deferred", false, protocol.Answer{} // what it needs may make it right
		return nil
	}
	if x.may && x.change != "valid" && inOrder {
		x.may, x.early = false, true
	}
	x.adopted = !x.instance.ReadOnly && (x.entry == nil && x.change != "create" || x.entry != nil && onlyBegun(*x.entry) && x.change == "valid")
	x.drifted = x.entry != nil && !onlyBegun(*x.entry) && x.change != "valid" && string(x.entry.Config) == string(x.config) &&
		x.entry.Type == modeltest.Reference(x.instance.Kind) && x.movedFrom == "" // a type without an identity may go by the address
	if x.instance.ReadOnly && x.change != "valid" {
		e.refused = append(e.refused, x.instance.Address+" is read_only and not as declared")
	}
	return nil
}

// onlyInOrder says that a resource has a known config and takes nothing from what is acted on.
func (e *expectation) onlyInOrder(s *Step, x *expected) bool {
	taken := map[string]bool{}
	s.reach(x.instance.Resource, taken)
	for addr := range taken {
		if of := e.resources[addr]; of.change != "valid" || of.may {
			return false
		}
	}
	return x.config != nil
}

// foresee says what a plan must say of what is queried with values that are not known yet.
func (e *expectation) foresee(s *Step, x *expected, things modeltest.Store) error {
	known := func(addr string) json.RawMessage { return e.resources[addr].view() }
	x.may = false
	told := s.told(*x.instance, x.entry, known)
	thing, err := things.Load(x.instance.Thing)
	if err != nil {
		return err
	}
	answer := modeltest.Look(s.input(*x.instance, told, known), thing)
	switch {
	case answer.Status == protocol.Valid:
		x.change, x.may, x.answer = "valid", true, answer
	case !x.instance.ReadOnly: // else what it needs may make it right
		x.answer = answer
	}
	return nil
}

// leave says what a plan must say of what is no longer declared.
func (e *expectation) leave(s *Step, addr string, x *expected, things modeltest.Store) error {
	x.change, x.config = "forget", x.entry.Config
	block, length := -1, 0 // the most exact
	for i, r := range s.Removed {
		if rest, ok := strings.CutPrefix(addr, r.From); ok && (rest == "" || rest[0] == '[') && len(r.From) > length {
			block, length = i, len(r.From)
		}
	}
	in := modeltest.Input{Name: addr, Type: x.entry.Type}
	in.Config, in.Intent = x.entry.Config, protocol.Absent
	switch {
	case block >= 0 && !s.Removed[block].Destroy:
		return nil
	case x.entry.OnRemove == "forget" && block < 0 && !x.entry.ReadOnly: // nothing is destroyed
		return nil
	case x.entry.PreventDestroy:
		e.refused = append(e.refused, addr+" is protected")
		return nil
	case x.entry.ReadOnly, in.Kind() == modeltest.Still, in.Kind() == modeltest.Old:
		return nil
	}
	thing, err := things.Load(in.Thing())
	if err != nil {
		return err
	}
	if answer := modeltest.Look(in, thing); answer.Status != protocol.Missing {
		x.change, x.answer = "destroy", answer
	}
	return nil
}
