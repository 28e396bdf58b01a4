package expressions

import (
	"strings"

	"deployster/internal/migrate/jinja"
)

// calls translates calls of functions and methods, and the filters that go over a list.
type calls struct{ t *translator }

// call translates a call: of a function, or of a method of a value.
func (cs calls) call(n jinja.Call) Value {
	if n.Args.Starred {
		return cs.t.fail("arguments with * have no counterpart")
	}
	switch f := n.X.(type) {
	case jinja.Name:
		return cs.function(f.Name, n.Args)
	case jinja.Attr:
		if len(n.Args.Named) == 0 {
			return cs.method(f.X, f.Name, n.Args.Values)
		}
		return cs.t.fail("the method %s with named arguments has no counterpart", f.Name)
	}
	return cs.t.fail("this call has no counterpart")
}

func (cs calls) function(name string, a jinja.Args) Value {
	switch {
	case name == "range" && len(a.Named) == 0 && len(a.Values) == 1:
		return Elements("range(0, "+cs.atLeast(Code("0", Int), a.Values[0])+", 1)", Int)
	case name == "range" && len(a.Named) == 0 && len(a.Values) == 2:
		from := cs.whole(a.Values[0])
		return Elements("range("+from.Code+", "+cs.atLeast(from, a.Values[1])+", 1)", Int)
	case name == "dict" && len(a.Values) == 0:
		d := jinja.Dict{}
		for _, key := range Sorted(a.Named) {
			d.Keys, d.Values = append(d.Keys, jinja.Literal{Value: key}), append(d.Values, a.Named[key])
		}
		return cs.t.dict(d)
	}
	return cs.t.fail("the function %s with these arguments has no counterpart", name)
}

// whole translates a whole number.
func (cs calls) whole(n jinja.Node) Value {
	v := cs.t.value(n)
	if v.Kind != Int && v.Kind != Unknown {
		return cs.t.fail("%s is not known to be a whole number: use the filter int", v.Code)
	}
	return v
}

// atLeast returns the code of a bound that is not below another, which is an empty range in Jinja2.
func (cs calls) atLeast(from Value, n jinja.Node) string {
	to := cs.whole(n)
	if constantInt(from) && constantInt(to) && (len(from.Code) < len(to.Code) || len(from.Code) == len(to.Code) && from.Code <= to.Code) {
		return to.Code
	}
	return "max(" + from.Code + ", " + to.Code + ")"
}

// method translates a call of a method. Those of texts are for texts only, so the kind of
// their value is known.
func (cs calls) method(n jinja.Node, name string, args []jinja.Node) Value {
	x := cs.t.value(n)
	if v, ok := cs.dictMethod(x, name, args); ok {
		return v
	}
	if x.Kind != String && x.Kind != Unknown {
		return cs.t.fail("the method %s has no counterpart", name)
	}
	x.Kind = String
	if v, ok := cs.split(x, name, args); ok {
		return v
	}
	code := func(i int) string { return filters(cs).asText(cs.t.value(args[i])) }
	switch name + strings.Repeat("/", min(len(args), 3)) {
	case "upper", "lower", "capitalize":
		return filters(cs).apply(name, x, nil)
	case "strip":
		return call(String, "trimspace", x.Code)
	case "strip/":
		return call(String, "trim", x.Code, code(0))
	case "lstrip":
		return call(String, "replace", x.Code, `"/^\\s+/"`, `""`)
	case "rstrip":
		return call(String, "replace", x.Code, `"/\\s+$/"`, `""`)
	case "replace//":
		return filters(cs).replace(x.Code, args[0], args[1])
	case "startswith/", "endswith/":
		return call(Bool, name, x.Code, code(0))
	case "join/":
		return filters(cs).join(cs.t.value(args[0]), x.Code, nil)
	case "format", "format/", "format//", "format///":
		return cs.braces(x, args)
	}
	return cs.t.fail("the method %s with these arguments has no counterpart", name)
}

func (cs calls) split(x Value, name string, args []jinja.Node) (Value, bool) {
	switch name + strings.Repeat("/", min(len(args), 3)) {
	case "split":
		return Elements(`regexall("\\S+", `+x.Code+")", String), true
	case "split/":
		if text, ok := constantOf(args[0]); ok && text == "" {
			return cs.t.fail("a split at nothing has no counterpart"), true
		}
		return Elements("split("+filters(cs).asText(cs.t.value(args[0]))+", "+x.Code+")", String), true
	}
	return Value{}, false
}

// dictMethod translates a method of a dictionary.
func (cs calls) dictMethod(x Value, name string, args []jinja.Node) (Value, bool) {
	if x.Kind != Dict && x.Kind != Unknown {
		return Value{}, false
	}
	switch name + strings.Repeat("/", min(len(args), 3)) {
	case "get/", "get//":
		other := "null"
		if len(args) == 2 {
			other = cs.t.value(args[1]).Code
		}
		key := cs.t.value(args[0])
		if key.constant {
			return call(Unknown, "try", cs.t.member(Value{Code: x.Code, Prec: x.Prec, Kind: x.Kind}, key.plain).Code, other), true
		}
		return call(Unknown, "try", x.in(primary)+"["+key.Code+"]", other), true
	case "keys":
		cs.t.names.Note("the keys of %s: here they are in their order, and in the original in that of the dictionary", x.Code)
		return Elements("keys("+x.Code+")", String), true
	case "values":
		cs.t.names.Note("the values of %s: here they are in the order of their keys, and in the original in that of the dictionary", x.Code)
		return Elements("values("+x.Code+")", Unknown), true
	}
	return Value{}, false
}

// braces translates a text with {} for each argument.
func (cs calls) braces(x Value, args []jinja.Node) Value {
	if !x.constant {
		return cs.t.fail("the method format has a counterpart only for a constant text")
	}
	parts := strings.Split(x.plain, "{}")
	if len(parts) != len(args)+1 {
		return cs.t.fail("the method format has a counterpart only with a {} for each argument")
	}
	out := ""
	for i, part := range parts {
		if strings.ContainsAny(part, "{}") {
			return cs.t.fail("the method format has a counterpart only with {}")
		}
		if out = join(out, escape(part)); i < len(args) {
			out = join(out, cs.t.text(cs.t.value(args[i])))
		}
	}
	return template(out)
}

// each translates the filters that go over a list.
func (cs calls) each(n jinja.Filter) Value {
	list := cs.t.elements(cs.t.value(n.X))
	name := cs.t.newName("v")
	item := Code(name, list.Elem)
	cs.t.scopes = append(cs.t.scopes, map[string]Value{" ": item}) // so that the name is taken
	defer func() { cs.t.scopes = cs.t.scopes[:len(cs.t.scopes)-1] }()
	loop := "[for " + name + " in " + list.Code + " : "
	args := n.Args.Values
	if n.Name == "map" {
		v := cs.mapped(item, n.Args)
		return Elements(loop+v.Code+"]", v.Kind)
	}
	if len(n.Args.Named) > 0 || n.Args.Starred {
		return cs.t.fail("the filter %s with these arguments has no counterpart", n.Name)
	}
	subject := jinja.Node(jinja.Name{Name: " "})
	if strings.HasSuffix(n.Name, "attr") {
		attribute, ok := "", len(args) > 0
		if ok {
			attribute, ok = constantOf(args[0])
		}
		if !ok || !IsName(attribute) {
			return cs.t.fail("the filter %s with this attribute has no counterpart", n.Name)
		}
		subject, args = jinja.Index{X: subject, Key: jinja.Literal{Value: attribute}}, args[1:]
	}
	condition := Value{}
	if len(args) == 0 {
		condition = cs.t.condition(subject)
	} else {
		test, ok := constantOf(args[0])
		if !ok {
			return cs.t.fail("the filter %s with a computed test has no counterpart", n.Name)
		}
		condition = cs.t.condition(cs.testNode(subject, test, args[1:]))
	}
	if strings.HasPrefix(n.Name, "reject") {
		condition = negate(condition)
	}
	return Elements(loop+name+" if "+condition.Code+"]", list.Elem)
}

// testNode returns a test, also one that is named by an operator.
func (cs calls) testNode(x jinja.Node, name string, args []jinja.Node) jinja.Node {
	switch name {
	case "==", "!=", "<", "<=", ">", ">=":
		if len(args) == 1 {
			return jinja.Compare{X: x, Ops: []string{name}, Ys: args}
		}
	}
	return jinja.Test{X: x, Name: name, Args: jinja.Args{Values: args}}
}

// mapped translates what the filter map does with an element.
func (cs calls) mapped(item Value, a jinja.Args) Value {
	if x, ok := a.Named["attribute"]; ok && len(a.Named) == 1 && len(a.Values) == 0 {
		attribute, isText := constantOf(x)
		if isText && IsName(attribute) {
			return cs.t.member(item, attribute)
		}
		return cs.t.fail("the filter map with this attribute has no counterpart")
	}
	if len(a.Values) == 0 || len(a.Named) > 0 || a.Starred {
		return cs.t.fail("the filter map with these arguments has no counterpart")
	}
	name, ok := constantOf(a.Values[0])
	if !ok {
		return cs.t.fail("the filter map with a computed filter has no counterpart")
	}
	return filters(cs).apply(name, item, a.Values[1:])
}
