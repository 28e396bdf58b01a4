package modeltest_test

import (
	"fmt"
	"slices"
	"strings"
)

// Scenario is what becomes of one state: commands, one after the other.
type Scenario struct {
	Seed  uint64 // it was drawn from; 0 = written by hand
	Steps []Step
}

// Step is one command, what is declared when it is given, and what goes wrong.
type Step struct {
	Command   Command
	Resources []Resource
	Moves     []Move    // moved blocks
	Removed   []Removed // removed blocks
	Drift     []Drift   // what others do before it
	Between   []Drift   // what others do between the plan and the apply
	Faults    []Fault

	// The number of the call, of those that apply makes to the world and to the
	// journal, at which something happens; 0 = never.
	InterruptAt int
	Twice       bool // the second interrupt comes at once
	CrashAt     int
	IntrudeAt   int // somebody else tries to apply

	KeepGoing   bool
	Parallelism int
}

// Command is what the user does.
type Command string

// The commands.
const (
	Apply Command = ""     // plans and applies
	Look  Command = "look" // plans twice
	Save  Command = "save" // plans, and keeps the plan
	Late  Command = "late" // applies the plan that was kept
)

// Resource is a resource block.
type Resource struct {
	Name     string
	Thing    string // the name of its thing, or the beginning of those of its instances
	Kind     string
	V        int
	Keys     []string // for_each
	Count    int      // count; 0 = it is no counted resource
	Module   bool     // in a module of its own
	Uses     []Use
	After    []string // depends_on, by names
	Secret   bool
	Output   bool
	ReadOnly bool
	Protect  bool
	Forget   bool // on_remove = "forget"
	Ignore   bool // ignore_changes = [v]
}

// Use is a value that a resource takes from another's state.
type Use struct {
	Of    string // the resource's name
	At    int    // which of its instances; -1 = all
	ID    bool   // its id, which is known when it is made; else its v
	Alias bool   // by an alias in dependencies
}

// Move is a moved block; the addresses are those of blocks or instances.
type Move struct{ From, To string }

// Removed is a removed block.
type Removed struct {
	From    string
	Destroy bool
}

// Drift is what somebody does to a thing by hand.
type Drift struct {
	Thing string
	How   How
}

// Fault is something that goes wrong in one call.
type Fault struct {
	Thing string
	Step  string // an action, "state", or "" for any action
	Nth   int    // such call of the command, from 1
	How   How
}

// How says what happens to a thing, or to a call.
type How string

// What others do to things.
const (
	Vanish  How = "vanish"
	Spoil   How = "spoil" // its config is another
	Restore How = "restore"
	Halve   How = "halve" // it is not finished any more
	Start   How = "start"
	Halt    How = "halt"
)

// What happens to calls: with an action the effect has come about where the
// name ends in After.
const (
	Exit         How = "exit"
	ExitAfter    How = "exit after"
	Kill         How = "kill"
	KillAfter    How = "kill after"
	Idle         How = "idle" // all is well, it says, and has done nothing
	Timeout      How = "timeout"
	TimeoutAfter How = "timeout after"
	Lost         How = "lost" // nobody knows how it ended
	LostAfter    How = "lost after"
	Transient    How = "transient" // of a state: asked again, it answers
	Denied       How = "denied"
	Garbage      How = "garbage"
)

// instance is a resource at an address.
type instance struct {
	*Resource
	Address string
	Thing   string
	Key     string // of for_each
}

// block is the address of a resource's block.
func (r *Resource) block() string {
	if r.Module {
		return "module.m_" + r.Name + "." + r.Name
	}
	return r.Name
}

// instances expands a block.
func (r *Resource) instances() []instance {
	switch {
	case len(r.Keys) > 0:
		var list []instance
		for _, k := range slices.Sorted(slices.Values(r.Keys)) {
			list = append(list, instance{r, fmt.Sprintf("%s[%q]", r.block(), k), r.Thing + "-" + k, k})
		}
		return list
	case r.Count > 0:
		var list []instance
		for i := range r.Count {
			thing := r.Thing // the first has the name that a single one has
			if i > 0 {
				thing = fmt.Sprintf("%s-%d", r.Thing, i)
			}
			list = append(list, instance{r, fmt.Sprintf("%s[%d]", r.block(), i), thing, fmt.Sprint(i)})
		}
		return list
	}
	return []instance{{r, r.block(), r.Thing, ""}}
}

// instances are all resources of a step.
func (s *Step) instances() []instance {
	var list []instance
	for i := range s.Resources {
		list = append(list, s.Resources[i].instances()...)
	}
	return list
}

// find gives a declared resource by its name.
func (s *Step) find(name string) *Resource {
	for i := range s.Resources {
		if s.Resources[i].Name == name {
			return &s.Resources[i]
		}
	}
	return nil
}

// tidy takes out of a step what refers to nothing, as it is left by shrinking:
// what is left can be declared. A resource refers to those before it only.
func (s Step) tidy() Step {
	s.Resources = slices.Clone(s.Resources)
	known := map[string]*Resource{}
	for i := range s.Resources {
		r := &s.Resources[i]
		if r.Module {
			r.Keys, r.Count = nil, 0
		}
		r.Uses = slices.DeleteFunc(slices.Clone(r.Uses), func(u Use) bool {
			of := known[u.Of]
			return of == nil || u.At >= len(of.instances()) || u.At < 0 && (len(of.Keys) == 0 && of.Count == 0) || u.Alias &&
				(of.Module || r.Module || u.At < 0)
		})
		r.After = slices.DeleteFunc(slices.Clone(r.After), func(name string) bool { return known[name] == nil })
		known[r.Name] = r
	}
	declared := func(addr string) bool {
		return slices.ContainsFunc(s.Resources, func(r Resource) bool { return r.block() == addr }) ||
			slices.ContainsFunc(s.instances(), func(i instance) bool { return i.Address == addr })
	}
	s.Moves = slices.DeleteFunc(slices.Clone(s.Moves), func(m Move) bool { return declared(m.From) })
	s.Removed = slices.DeleteFunc(slices.Clone(s.Removed), func(r Removed) bool { return declared(r.From) })
	return s
}

// source writes the manifest of a step, and those of its modules by directory.
func (s *Step) source() (root string, modules map[string]string) {
	var b strings.Builder
	modules = map[string]string{}
	b.WriteString("plug \"things\" {\n  path = \"things\"\n}\n\nvariable \"secret\" {\n  default   = \"" + canary +
		"\"\n  sensitive = true\n}\n")
	for i := range s.Resources {
		r := &s.Resources[i]
		if r.Module {
			modules["m_"+r.Name] = s.module(&b, r)
		} else {
			s.resource(&b, r, "var.secret", func(u Use, _ int) string { return s.reference(u) })
		}
		if r.Output && len(r.Keys) == 0 && r.Count == 0 {
			fmt.Fprintf(&b, "\noutput \"o_%s\" {\n  value = %s\n}\n", r.Name, s.reference(Use{Of: r.Name}))
		}
	}
	for _, m := range s.Moves {
		fmt.Fprintf(&b, "\nmoved {\n  from = %s\n  to   = %s\n}\n", path(m.From), path(m.To))
	}
	for _, r := range s.Removed {
		fmt.Fprintf(&b, "\nremoved {\n  from = %s\n  lifecycle {\n    destroy = %v\n  }\n}\n", path(r.From), r.Destroy)
	}
	return b.String(), modules
}

// canary is what must not be seen anywhere.
const canary = "canary-5f1d0c"

// path writes an address as the language does.
func path(addr string) string {
	if rest, ok := strings.CutPrefix(addr, "module."); ok {
		module, name, _ := strings.Cut(rest, ".")
		return "module." + module + ".resource." + name
	}
	return "resource." + addr
}

// resource writes a resource block.
func (s *Step) resource(b *strings.Builder, r *Resource, secret string, value func(u Use, i int) string) {
	fmt.Fprintf(b, "\nresource %q {\n  type = \"test/%s:1\"\n", r.Name, r.Kind)
	name := fmt.Sprintf("%q", r.Thing)
	switch {
	case len(r.Keys) > 0:
		fmt.Fprintf(b, "  for_each = toset([\"%s\"])\n", strings.Join(r.Keys, `", "`))
		name = fmt.Sprintf("\"%s-${each.key}\"", r.Thing)
	case r.Count > 0:
		fmt.Fprintf(b, "  count = %d\n", r.Count)
		name = fmt.Sprintf("count.index == 0 ? %q : \"%s-${count.index}\"", r.Thing, r.Thing)
	}
	config, aliases := []string{"name = " + name, fmt.Sprintf("v = %d", r.V)}, []string(nil)
	for i, u := range r.Uses {
		if u.Alias {
			aliases = append(aliases, fmt.Sprintf("d%d = %s", i, strings.TrimSuffix(s.reference(u), ".state."+u.attribute())))
			config = append(config, fmt.Sprintf("u%d = dep.d%d.state.%s", i, i, u.attribute()))
			continue
		}
		config = append(config, fmt.Sprintf("u%d = %s", i, value(u, i)))
	}
	if r.Secret {
		config = append(config, "s = "+secret)
	}
	if len(aliases) > 0 {
		fmt.Fprintf(b, "  dependencies = { %s }\n", strings.Join(aliases, ", "))
	}
	if len(r.After) > 0 && !r.Module {
		fmt.Fprintf(b, "  depends_on = [%s]\n", strings.Join(s.after(r), ", "))
	}
	fmt.Fprintf(b, "  config = {\n    %s\n  }\n  read_only = %v\n  lifecycle {\n    prevent_destroy = %v\n", strings.Join(config, "\n    "),
		r.ReadOnly, r.Protect)
	if r.Forget {
		b.WriteString("    on_remove = \"forget\"\n")
	}
	if r.Ignore {
		b.WriteString("    ignore_changes = [v]\n")
	}
	b.WriteString("  }\n}\n")
}

// after writes the elements of depends_on.
func (s *Step) after(r *Resource) []string {
	var list []string
	for _, name := range r.After {
		if s.find(name).Module {
			list = append(list, "module.m_"+name)
			continue
		}
		list = append(list, "resource."+name)
	}
	return list
}

// module writes the call of a resource's module, and gives the module.
func (s *Step) module(b *strings.Builder, r *Resource) string {
	var m strings.Builder
	fmt.Fprintf(b, "\nmodule \"m_%s\" {\n  source = \"./m_%s\"\n  secret = var.secret\n", r.Name, r.Name)
	m.WriteString("variable \"secret\" {\n  sensitive = true\n}\n")
	for i, u := range r.Uses {
		fmt.Fprintf(b, "  u%d = %s\n", i, s.reference(u))
		fmt.Fprintf(&m, "\nvariable \"u%d\" {\n}\n", i)
	}
	if len(r.After) > 0 {
		fmt.Fprintf(b, "  depends_on = [%s]\n", strings.Join(s.after(r), ", "))
	}
	b.WriteString("}\n")
	s.resource(&m, r, "var.secret", func(_ Use, i int) string { return fmt.Sprintf("var.u%d", i) })
	fmt.Fprintf(&m, "\noutput \"v\" {\n  value = resource.%s.state.v\n}\n\noutput \"id\" {\n  value = resource.%s.state.id\n}\n", r.Name,
		r.Name)
	return m.String()
}

// reference writes the expression of a use.
func (s *Step) reference(u Use) string {
	of := s.find(u.Of)
	switch {
	case of.Module:
		return "module.m_" + u.Of + "." + u.attribute()
	case u.At < 0 && of.Count > 0:
		return fmt.Sprintf("resource.%s[*].state.%s", u.Of, u.attribute())
	case u.At < 0:
		return fmt.Sprintf("values(resource.%s)[*].state.%s", u.Of, u.attribute())
	}
	return fmt.Sprintf("resource.%s.state.%s", of.instances()[u.At].Address, u.attribute())
}

func (u Use) attribute() string {
	if u.ID {
		return "id"
	}
	return "v"
}
