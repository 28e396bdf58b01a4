package identity

import (
	"cmp"
	"maps"
	"slices"
	"sync"

	"deployster/plan/change"
	"deployster/plan/match"
	"deployster/plan/observe"
	"deployster/plan/reason"
)

// Removal is the removal of an object by the plan.
type Removal struct {
	Address string
	Class   string // see match.Result.Classes
	Key     string // of the entry; "" = there is no entry
	Old     bool   // the resource is replaced
}

// Removals lists what steps destroy, sorted, without the objects of types with memory, and those of exclusive sets: these
// come after all resources of their type.
func (m *Matched) Removals(steps map[string]*change.Step) (list []Removal) {
	classes := sync.OnceValues(m.Classes) // most plans remove nothing
	for _, addr := range slices.Sorted(maps.Keys(steps)) {
		switch step := steps[addr]; step.Change() {
		case observe.Destroy:
			if step.Exclusive != "" {
				continue
			}
			key := m.ends[addr].Recorded
			_, recorded := classes()
			list = append(list, Removal{addr, recorded[key], key, false})
		case observe.Replace:
			key := m.Pair(addr).Recorded
			declared, recorded := classes()
			list = append(list, Removal{addr, cmp.Or(recorded[key], declared[addr]), key, true})
		}
	}
	return slices.DeleteFunc(list, func(e Removal) bool { return e.Class == "" })
}

// Doubt finds the resources whose objects the removals of a plan may destroy: it is unknown
// whether they are the same objects. It returns those that were not in doubt before.
func (m *Matched) Doubt(steps map[string]*change.Step) (found []string) {
	byClass := map[string][]Removal{}
	for _, e := range m.Removals(steps) {
		byClass[e.Class] = append(byClass[e.Class], e)
	}
	if len(byClass) == 0 {
		return nil
	}
	recorded := map[string]match.Object{}
	for _, e := range m.Facts.input.Recorded {
		recorded[e.Key] = e.Thing
	}
	classes, _ := m.Classes()
	for _, d := range m.Facts.input.Declared {
		step, why := steps[d.Address], m.Pair(d.Address).Why
		if step == nil || step.Change() != observe.Valid && step.Change() != observe.Update || why != match.Nothing &&
			why != match.Address ||
			m.Facts.doubts[d.Address] != nil {
			continue
		}
		for _, e := range byClass[classes[d.Address]] {
			if relation, _ := match.Compare(d.Thing, recorded[e.Key], false); relation == match.Unclear {
				m.Facts.doubts[d.Address] = reason.New(reason.MayBeDestroyed, e.Address)
				found = append(found, d.Address)
				break
			}
		}
	}
	return found
}
