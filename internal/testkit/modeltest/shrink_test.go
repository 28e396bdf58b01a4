package modeltest_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
)

// shrink makes a failing scenario smaller, as long as it fails by the same rule.
func shrink(sc Scenario, fails func(sc Scenario) bool, limit time.Duration) Scenario {
	for end := time.Now().Add(limit); time.Now().Before(end); {
		smaller := false
		for next := range smallerOnes(sc) {
			if time.Now().After(end) {
				break
			}
			if fails(next) {
				sc, smaller = next, true
				break
			}
		}
		if !smaller {
			break
		}
	}
	return sc
}

// clone copies a scenario to the ground.
func clone(sc Scenario) (out Scenario) {
	text, err := json.Marshal(sc)
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		panic(err) // it holds nothing that JSON does not
	}
	return out
}

// smallerOnes gives scenarios with something less, the biggest cuts first.
func smallerOnes(sc Scenario) func(yield func(Scenario) bool) {
	return func(yield func(Scenario) bool) {
		try := func(cut func(sc *Scenario) bool) bool {
			next := clone(sc)
			return !cut(&next) || yield(next)
		}
		for size := len(sc.Steps) / 2; size > 0; size /= 2 {
			for at := 0; at+size <= len(sc.Steps); at += size {
				if !try(func(sc *Scenario) bool { sc.Steps = slices.Delete(sc.Steps, at, at+size); return true }) {
					return
				}
			}
		}
		for name := range sc.names() {
			if !try(func(sc *Scenario) bool { return sc.without(name) }) {
				return
			}
		}
		for i := range sc.Steps {
			for _, cut := range stepCuts() {
				if !try(func(sc *Scenario) bool { return cut(&sc.Steps[i]) }) {
					return
				}
			}
			for n := range len(sc.Steps[i].Resources) {
				for _, cut := range resourceCuts() {
					if !try(func(sc *Scenario) bool { return cut(&sc.Steps[i].Resources[n]) }) {
						return
					}
				}
			}
		}
	}
}

// names are those of all resources.
func (sc Scenario) names() map[string]bool {
	names := map[string]bool{}
	for _, s := range sc.Steps {
		for _, r := range s.Resources {
			names[r.Name] = true
		}
	}
	return names
}

// without takes a resource out of all steps.
func (sc *Scenario) without(name string) bool {
	cut := false
	for i := range sc.Steps {
		before := len(sc.Steps[i].Resources)
		sc.Steps[i].Resources = slices.DeleteFunc(sc.Steps[i].Resources, func(r Resource) bool { return r.Name == name })
		cut = cut || len(sc.Steps[i].Resources) < before
	}
	return cut
}

// pop takes the first or the last out of a list, in turns of being asked.
func pop[T any](list *[]T, last bool) bool {
	if len(*list) == 0 {
		return false
	}
	if last {
		*list = (*list)[:len(*list)-1]
	} else {
		*list = (*list)[1:]
	}
	return true
}

// reset makes a value zero, if it is not yet.
func reset[T comparable](v *T, zero T) bool {
	if *v == zero {
		return false
	}
	*v = zero
	return true
}

func stepCuts() []func(s *Step) bool {
	cuts := []func(s *Step) bool{
		func(s *Step) bool { return reset(&s.Parallelism, 1) },
		func(s *Step) bool { return reset(&s.CrashAt, 0) },
		func(s *Step) bool { return reset(&s.InterruptAt, 0) },
		func(s *Step) bool { return reset(&s.IntrudeAt, 0) },
		func(s *Step) bool { return reset(&s.Twice, false) },
		func(s *Step) bool { return reset(&s.KeepGoing, false) },
		func(s *Step) bool { s.Moves = nil; return len(s.Moves) > 0 },
	}
	for _, last := range []bool{true, false} {
		cuts = append(cuts,
			func(s *Step) bool { return pop(&s.Faults, last) },
			func(s *Step) bool { return pop(&s.Drift, last) },
			func(s *Step) bool { return pop(&s.Between, last) },
			func(s *Step) bool { return pop(&s.Removed, last) },
			func(s *Step) bool { return pop(&s.Moves, last) },
			func(s *Step) bool { return pop(&s.Resources, last) })
	}
	return cuts
}

func resourceCuts() []func(r *Resource) bool {
	return []func(r *Resource) bool{
		func(r *Resource) bool { return pop(&r.Uses, true) },
		func(r *Resource) bool { return pop(&r.Uses, false) },
		func(r *Resource) bool { return pop(&r.After, true) },
		func(r *Resource) bool { return pop(&r.After, false) },
		func(r *Resource) bool { return pop(&r.Keys, true) },
		func(r *Resource) bool { return pop(&r.Keys, false) },
		func(r *Resource) bool { return reset(&r.Count, 0) },
		func(r *Resource) bool { return reset(&r.Module, false) },
		func(r *Resource) bool { return reset(&r.Secret, false) },
		func(r *Resource) bool { return reset(&r.Output, false) },
		func(r *Resource) bool { return reset(&r.ReadOnly, false) },
		func(r *Resource) bool { return reset(&r.Protect, false) },
		func(r *Resource) bool { return reset(&r.Forget, false) },
		func(r *Resource) bool { return reset(&r.Ignore, false) },
		func(r *Resource) bool { return reset(&r.Kind, "plain") },
	}
}

// goTest writes a scenario as a test that can be pasted into this package.
func goTest(sc Scenario, why error) string {
	steps := ""
	for _, s := range sc.Steps {
		steps += "\t\t" + strings.TrimPrefix(literal(reflect.ValueOf(s.tidy())), "Step") + ",\n"
	}
	return fmt.Sprintf("// %s\nfunc TestScenario_Seed%d(t *testing.T) {\n\tagain(t, Scenario{Steps: []Step{\n%s\t}})\n}\n",
		strings.ReplaceAll(why.Error(), "\n", "\n// "), sc.Seed, steps)
}

// literal writes a value as Go does, without what is zero.
func literal(v reflect.Value) string {
	switch v.Kind() {
	case reflect.Struct:
		var fields []string
		for i := range v.NumField() {
			if f := v.Field(i); !f.IsZero() && !(f.Kind() == reflect.Slice && f.Len() == 0) {
				fields = append(fields, v.Type().Field(i).Name+": "+literal(f))
			}
		}
		return v.Type().Name() + "{" + strings.Join(fields, ", ") + "}"
	case reflect.Slice:
		var elements []string
		for i := range v.Len() {
			elements = append(elements, strings.TrimPrefix(literal(v.Index(i)), v.Type().Elem().Name()+"{"))
			if v.Index(i).Kind() == reflect.Struct {
				elements[i] = "{" + elements[i]
			}
		}
		return "[]" + v.Type().Elem().Name() + "{" + strings.Join(elements, ", ") + "}"
	}
	return fmt.Sprintf("%#v", v.Interface())
}
