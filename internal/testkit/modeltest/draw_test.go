package modeltest_test

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"deployster/internal/testkit/modeltest"
)

// drawer draws scenarios. The same seed draws the same one.
type drawer struct {
	*rand.Rand
	named    int
	declared []Resource
	gone     []Resource // were declared, and may come back
	moves    []Move
	removed  []Removed
	saved    bool
}

// draw draws a scenario.
func draw(seed uint64) Scenario { return drawUpTo(seed, 6, 7) }

// drawSmall draws one that does not take long, and in which one thing happens
// at a time, so that it happens the same way each time.
func drawSmall(seed uint64) Scenario {
	sc := drawUpTo(seed, 2, 2)
	for i := range sc.Steps {
		sc.Steps[i].Parallelism = 1
	}
	return sc
}

func drawUpTo(seed uint64, resources, steps int) Scenario {
	d := &drawer{Rand: rand.New(rand.NewPCG(seed, 0))}
	sc := Scenario{Seed: seed}
	for range 1 + d.IntN(resources) {
		d.insert(d.fresh())
	}
	for n := range 2 + d.IntN(steps-1) {
		if n > 0 {
			for range d.IntN(4) {
				d.edit()
			}
		}
		sc.Steps = append(sc.Steps, d.step())
	}
	return sc
}

// chance is true once in n times.
func (d *drawer) chance(n int) bool { return d.IntN(n) == 0 }

// fresh is a resource that has never been.
func (d *drawer) fresh() Resource {
	d.named++
	name := fmt.Sprintf("r%d", d.named)
	r := Resource{Name: name, Thing: "t" + name, Kind: d.kind(), V: d.IntN(3)}
	r.Module, r.Secret, r.Output = d.chance(6), d.chance(5), d.chance(4)
	r.Protect, r.Forget, r.Ignore = d.chance(20), d.chance(15), d.chance(15)
	d.number(&r)
	return r
}

// kind draws one.
func (d *drawer) kind() string {
	if d.chance(8) {
		return modeltest.Ahead
	}
	return modeltest.Kinds()[d.IntN(len(modeltest.Kinds()))]
}

// number gives a resource its instances.
func (d *drawer) number(r *Resource) {
	r.Keys, r.Count = nil, 0
	switch d.IntN(6) {
	case 0:
		for _, k := range []string{"x", "y", "z"} {
			if d.chance(2) {
				r.Keys = append(r.Keys, k)
			}
		}
	case 1:
		r.Count = 1 + d.IntN(3)
	}
}

// insert declares a resource somewhere among the others, and lets it use some
// of those before it.
func (d *drawer) insert(r Resource) {
	at := d.IntN(len(d.declared) + 1)
	if d.chance(2) {
		at = len(d.declared)
	}
	d.declared = slices.Insert(d.declared, at, r)
	d.link(at)
}

// link draws what a resource uses.
func (d *drawer) link(at int) {
	r := &d.declared[at]
	r.Uses, r.After = nil, nil
	for _, of := range d.declared[:at] {
		n := d.IntN(7)
		if n == 0 && r.Kind == modeltest.Ahead {
			n = 2
		}
		switch n {
		case 0, 1:
			u := Use{Of: of.Name, ID: d.chance(2), Alias: d.chance(2) || r.Kind == modeltest.Asker}
			if n := len(of.instances()); n > 0 {
				u.At = d.IntN(n)
			}
			if (len(of.Keys) > 0 || of.Count > 0) && d.chance(3) {
				u.At, u.Alias = -1, false
			}
			r.Uses = append(r.Uses, u)
		case 2:
			r.After = append(r.After, of.Name)
		}
	}
}

// edit is what somebody changes in the manifest.
func (d *drawer) edit() {
	if len(d.declared) == 0 || d.chance(6) {
		d.insert(d.fresh())
		return
	}
	at := d.IntN(len(d.declared))
	r := &d.declared[at]
	switch d.IntN(16) {
	case 0, 1, 2, 3:
		r.V = (r.V + 1 + d.IntN(2)) % 4
	case 4, 5, 6:
		d.gone = append(d.gone, *r)
		if d.chance(4) {
			d.removed = append(slices.DeleteFunc(slices.Clone(d.removed), func(o Removed) bool { return o.From == r.block() }),
				Removed{From: r.block(), Destroy: d.chance(2)})
		}
		d.declared = slices.Delete(slices.Clone(d.declared), at, at+1)
	case 7:
		if len(d.gone) > 0 {
			back := d.IntN(len(d.gone))
			d.insert(d.gone[back])
			d.gone = slices.Delete(slices.Clone(d.gone), back, back+1)
		}
	case 8:
		d.rename(at)
	case 9:
		d.number(r)
	case 10, 11:
		d.link(at)
	case 12: // what depended on others may be what they depend on now
		other := d.IntN(len(d.declared))
		d.declared = slices.Clone(d.declared)
		d.declared[at], d.declared[other] = d.declared[other], d.declared[at]
		d.link(at)
		d.link(other)
	case 13:
		r.Protect = !r.Protect && d.chance(2)
		r.Ignore = !r.Ignore && d.chance(2)
	case 14:
		r.Forget, r.Secret = d.chance(3), d.chance(3)
	case 15:
		r.Kind = d.kind()
	}
}

// rename gives a resource a new name, with a moved block.
func (d *drawer) rename(at int) {
	r := &d.declared[at]
	from, was := r.block(), r.Name
	d.named++
	r.Name = fmt.Sprintf("r%d", d.named)
	d.moves = append(slices.Clone(d.moves), Move{From: from, To: r.block()})
	for i := range d.declared {
		o := &d.declared[i]
		o.Uses, o.After = slices.Clone(o.Uses), slices.Clone(o.After)
		for n := range o.Uses {
			if o.Uses[n].Of == was {
				o.Uses[n].Of = r.Name
			}
		}
		for n := range o.After {
			if o.After[n] == was {
				o.After[n] = r.Name
			}
		}
	}
}

// step draws a command for what is declared.
func (d *drawer) step() Step {
	s := Step{Resources: slices.Clone(d.declared), Moves: d.moves, Removed: d.removed, Parallelism: 1, KeepGoing: d.IntN(5) < 2}
	if d.chance(2) {
		s.Parallelism = 2 + d.IntN(7)
	}
	switch d.IntN(20) {
	case 0:
		s.Command = Look
	case 1, 2:
		s.Command, d.saved = Save, true
	case 3, 4, 5:
		if d.saved {
			s.Command = Late
		}
	}
	if len(d.declared) > 0 && d.chance(15) { // somebody else's, mostly as it is declared
		r := &s.Resources[d.IntN(len(s.Resources))]
		if r.ReadOnly = true; !d.chance(3) {
			for _, i := range r.instances() {
				s.Drift = append(s.Drift, Drift{Thing: i.Thing, How: Restore})
			}
		}
	}
	things := d.things()
	for range d.IntN(3) * d.IntN(2) {
		s.Drift = append(s.Drift, Drift{Thing: things[d.IntN(len(things))], How: d.drift()})
	}
	if d.chance(4) {
		for range 1 + d.IntN(2) {
			s.Between = append(s.Between, Drift{Thing: things[d.IntN(len(things))], How: d.drift()})
		}
	}
	if d.chance(2) {
		for range 1 + d.IntN(4) {
			s.Faults = append(s.Faults, d.fault(things))
		}
	}
	for _, r := range d.declared {
		if r.Kind != modeltest.Ahead || len(r.After) == 0 {
			continue
		}
		switch thing := r.instances()[0].Thing; d.IntN(5) {
		case 0: // what it waits for is missing in the plan
			s.Faults = append(s.Faults, Fault{Thing: thing, Step: "state", Nth: 1, How: []How{Exit, Transient, Denied}[d.IntN(3)]})
		case 1: // what it waits for brings another one
			s.Between = append(s.Between, Drift{Thing: thing, How: Restore}, Drift{Thing: thing, How: Spoil})
		}
	}
	d.moment(&s)
	return s
}

// moment draws when the apply is interrupted, and by what.
func (d *drawer) moment(s *Step) {
	at := 1 + d.IntN(10+12*d.IntN(6))
	switch d.IntN(20) {
	case 0, 1:
		s.InterruptAt, s.Twice = at, d.chance(2)
	case 2, 3:
		s.CrashAt = at
	case 4:
		s.IntrudeAt = at
	}
}

// things are the names of all that there may be.
func (d *drawer) things() []string {
	list := []string{"nobody's"}
	for _, r := range slices.Concat(d.declared, d.declared, d.gone) {
		for _, i := range r.instances() {
			list = append(list, i.Thing)
		}
	}
	return list
}

func (d *drawer) drift() How { return []How{Vanish, Spoil, Restore, Halve, Start, Halt}[d.IntN(6)] }

// fault draws one.
func (d *drawer) fault(things []string) Fault {
	f := Fault{Thing: things[d.IntN(len(things))], Nth: 1 + d.IntN(4)/3}
	actions := []How{Exit, ExitAfter, Kill, KillAfter, Idle, Timeout, TimeoutAfter, Lost, LostAfter}
	if f.How = actions[d.IntN(len(actions))]; d.chance(3) {
		f.Step, f.Nth = "state", 1+d.IntN(5)
		f.How = []How{Exit, Transient, Denied, Garbage, Timeout, Lost}[d.IntN(6)]
	}
	return f
}
