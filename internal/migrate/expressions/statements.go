package expressions

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"deployster/internal/migrate/jinja"
)

// statements translates the statements of a template, and of the files that it includes.
type statements struct {
	t        *translator
	branches int // how many ifs are open around this statement, inside of the innermost loop
	included []string
}

// body translates statements to the inside of a quoted template.
func (st *statements) body(list []jinja.Statement) string {
	out := ""
	for _, s := range list {
		if st.t.err != nil {
			return ""
		}
		out = join(out, st.statement(s))
	}
	return out
}

func (st *statements) statement(s jinja.Statement) string {
	switch s := s.(type) {
	case jinja.Text:
		return escape(s.Text)
	case jinja.Output:
		return st.output(s.X)
	case jinja.If:
		return st.conditional(s)
	case jinja.For:
		return st.loop(s)
	case jinja.Set:
		if st.branches > 0 {
			st.t.fail("an assignment in an if changes what follows it: move it before the if")
		}
		value := st.t.value(s.Value)
		st.t.scopes.innermost()[s.Name] = value
		return ""
	case jinja.Include:
		return st.include(s)
	}
	st.t.fail("%T has no counterpart", s)
	return ""
}

// output translates an expression in a text.
func (st *statements) output(n jinja.Node) string {
	c, ok := n.(jinja.Cond)
	if !ok {
		return st.t.text(st.t.value(n))
	}
	if c.Else != nil {
		x, y := st.t.value(c.Then), st.t.value(c.Else)
		if x.Kind == y.Kind && (x.Kind == String || x.Kind == Int) {
			return st.t.text(st.t.choose(st.t.condition(c.If), x, y))
		}
	}
	out := "%{ if " + st.t.condition(c.If).Code + " }" + st.output(c.Then)
	if c.Else != nil {
		out = join(out, "%{ else }"+st.output(c.Else))
	}
	return join(out, "%{ endif }")
}

func (st *statements) conditional(s jinja.If) string {
	st.branches++
	defer func() { st.branches-- }()
	out, ends := "", ""
	for i, b := range s.Branches {
		if i > 0 {
			out = join(out, "%{ else }")
		}
		out = join(out+"%{ if "+st.t.condition(b.Cond).Code+" }", st.body(b.Body))
		ends += "%{ endif }"
	}
	if len(s.Else) > 0 {
		out = join(out, "%{ else }"+st.body(s.Else))
	}
	return join(out, ends)
}

// loop translates a for. Its variables have names that hide nothing in HCL.
func (st *statements) loop(s jinja.For) string {
	branches := st.branches // an assignment in a loop ends with it
	st.branches = 0
	defer func() { st.branches = branches }()
	list, key, value := st.iterable(s)
	defer st.t.scopes.open()()
	st.bind(s.Targets, list, key, value)
	over := list.Code
	if s.Filter != nil {
		if list.Kind == Dict {
			st.t.fail("a loop with a condition over the items of a dictionary has no counterpart")
		}
		over = "[for " + value + " in " + list.Code + " : " + value + " if " + st.t.condition(s.Filter).Code + "]"
	}
	scope := st.t.scopes.innermost()
	scope["loop"] = Value{Code: key, Kind: list.Kind, text: over}
	body := st.body(s.Body)
	delete(scope, "loop")
	names := value
	if list.Kind == Dict || usesName(body, key) {
		names = key + ", " + value
	}
	out := join("%{ for "+names+" in "+over+" }"+body, "%{ endfor }")
	if len(s.Else) > 0 {
		out = join(out, join("%{ if length("+over+") == 0 }"+st.body(s.Else), "%{ endif }"))
	}
	return out
}

// iterable returns what a loop goes over, as a list, or a Dict for its items, and new names for key and value.
func (st *statements) iterable(s jinja.For) (list Value, key, value string) {
	value = st.t.scopes.newName(s.Targets[len(s.Targets)-1])
	key = st.t.scopes.newName("index", value)
	if of, ok := itemsOf(s.In); ok && len(s.Targets) == 2 {
		key = st.t.scopes.newName(s.Targets[0], value)
		v := st.t.value(of)
		if v.Kind != Dict && v.Kind != Unknown {
			st.t.fail("items() has a counterpart only for a dictionary")
		}
		st.t.names.Note("the loop over the items of %s: here it is in the order of the keys, and in the original in that of the dictionary",
			v.Code)
		v.Kind, v.Elem = Dict, Unknown
		return v, key, value
	}
	return st.t.elements(st.t.value(s.In)), key, value
}

// elements returns a value as the list that a loop in Jinja2 goes over.
func (t *translator) elements(v Value) Value {
	switch v.Kind {
	case List:
		return v
	case Dict:
		t.names.Note("the loop over the keys of %s: here it is in their order, and in the original in that of the dictionary", v.Code)
		return Elements("keys("+v.Code+")", String)
	case Unknown:
		return Elements("try(keys("+v.Code+"), "+v.Code+")", Unknown)
	}
	return t.fail("a loop over %s has no counterpart", v.Code)
}

// itemsOf returns X for X.items() and X|items.
func itemsOf(n jinja.Node) (jinja.Node, bool) {
	switch n := n.(type) {
	case jinja.Call:
		if a, ok := n.X.(jinja.Attr); ok && a.Name == "items" && len(n.Args.Values) == 0 {
			return a.X, true
		}
	case jinja.Filter:
		if n.Name == "items" {
			return n.X, true
		}
	}
	return nil, false
}

// bind gives the variables of a loop their values in HCL.
func (st *statements) bind(targets []string, list Value, key, value string) {
	scope := st.t.scopes.innermost()
	switch {
	case list.Kind == Dict:
		scope[targets[0]], scope[targets[1]] = Code(key, String), Code(value, Unknown)
	case len(targets) == 1:
		scope[targets[0]] = Code(value, list.Elem)
	default:
		for i, name := range targets {
			scope[name] = Code(fmt.Sprintf("%s[%d]", value, i), Unknown)
		}
	}
}

// loopAttr translates loop.NAME.
func (t *translator) loopAttr(name string) Value {
	if loop, ok := t.scopes.find("loop"); ok {
		index, length := Code(loop.Code, Int), call(Int, "length", loop.text)
		one := Code("1", Int)
		if name == "length" {
			return length
		}
		if loop.Kind == Dict {
			return t.fail("loop.%s has no counterpart in a loop over a dictionary", name)
		}
		switch name {
		case "index":
			return op(Int, addition, index, "+", one)
		case "index0":
			return index
		case "first":
			return negate(differs(index, Code("0", Int)))
		case "last":
			return negate(differs(index, op(Int, addition, length, "-", one)))
		case "revindex":
			return op(Int, addition, length, "-", index)
		}
		return t.fail("loop.%s has no counterpart", name)
	}
	return t.fail("loop is undefined outside of a loop")
}

// deepestInclude is how many files may include each other.
const deepestInclude = 10

func (st *statements) include(s jinja.Include) string {
	if slices.Contains(st.included, s.Name) || len(st.included) == deepestInclude {
		st.t.fail("the include of %s includes itself", s.Name)
		return ""
	}
	text, err := st.t.names.Include(s.Name)
	if s.IgnoreMissing && errors.Is(err, fs.ErrNotExist) {
		st.t.names.Note("%s does not exist now, so that its text is not part of the manifest", s.Name)
		return ""
	}
	if err != nil {
		st.t.fail("the include of %s: %w", s.Name, err)
		return ""
	}
	body, err := jinja.Template(text)
	if err != nil {
		st.t.fail("the include of %s: %w", s.Name, parseError(err))
		return ""
	}
	st.included = append(st.included, s.Name)
	defer func() { st.included = st.included[:len(st.included)-1] }()
	defer st.t.scopes.open()() // what it assigns ends with it
	return st.body(body)
}
