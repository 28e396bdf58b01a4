package expressions

import (
	"strings"

	"deployster/internal/migrate/jinja"
)

// call translates a call: of a function, or of a method of a value.
func (t *translator) call(n jinja.Call) Value {
	if n.Args.Starred {
		return t.fail("arguments with * have no counterpart")
	}
	switch f := n.X.(type) {
	case jinja.Name:
		return t.function(f.Name, n.Args)
	case jinja.Attr:
		if len(n.Args.Named) == 0 {
			return use{t, f.Name, t.value(f.X), n.Args.Values}.method()
		}
		return t.fail("the method %s with named arguments has no counterpart", f.Name)
	}
	return t.fail("this call has no counterpart")
}

func (t *translator) function(name string, a jinja.Args) Value {
	switch {
	case name == "range" && len(a.Named) == 0 && len(a.Values) == 1:
		return Elements("range(0, "+t.atLeast(Code("0", Int), a.Values[0])+", 1)", Int)
	case name == "range" && len(a.Named) == 0 && len(a.Values) == 2:
		from := t.whole(a.Values[0])
		return Elements("range("+from.Code+", "+t.atLeast(from, a.Values[1])+", 1)", Int)
	case name == "dict" && len(a.Values) == 0:
		d := jinja.Dict{}
		for _, key := range Sorted(a.Named) {
			d.Keys, d.Values = append(d.Keys, jinja.Literal{Value: key}), append(d.Values, a.Named[key])
		}
		return t.dict(d)
	}
	return t.fail("the function %s with these arguments has no counterpart", name)
}

// whole translates a whole number.
func (t *translator) whole(n jinja.Node) Value {
	v := t.value(n)
	if v.Kind != Int && v.Kind != Unknown {
		return t.fail("%s is not known to be a whole number: use the filter int", v.Code)
	}
	return v
}

// atLeast returns the code of a bound that is not below another, which is an empty range in Jinja2.
func (t *translator) atLeast(from Value, n jinja.Node) string {
	to := t.whole(n)
	if constantInt(from) && constantInt(to) && (len(from.Code) < len(to.Code) || len(from.Code) == len(to.Code) && from.Code <= to.Code) {
		return to.Code
	}
	return "max(" + from.Code + ", " + to.Code + ")"
}

// method translates a call of a method. Those of texts are for texts only, so the kind of
// their value is known.
func (u use) method() Value {
	if v, ok := u.dictMethod(); ok {
		return v
	}
	if u.x.Kind != String && u.x.Kind != Unknown {
		return u.t.fail("the method %s has no counterpart", u.name)
	}
	u.x.Kind = String
	if v, ok := u.split(); ok {
		return v
	}
	x := u.x
	code := func(i int) string { return u.asText(u.t.value(u.args[i])) }
	switch u.form() {
	case "upper", "lower", "capitalize":
		return u.filter()
	case "strip":
		return call(String, "trimspace", x.Code)
	case "strip/":
		return call(String, "trim", x.Code, code(0))
	case "lstrip":
		return call(String, "replace", x.Code, `"/^\\s+/"`, `""`)
	case "rstrip":
		return call(String, "replace", x.Code, `"/\\s+$/"`, `""`)
	case "replace//":
		return u.replace(x.Code)
	case "startswith/", "endswith/":
		return call(Bool, u.name, x.Code, code(0))
	case "join/":
		return u.join(u.t.value(u.args[0]), x.Code, nil)
	case "format", "format/", "format//", "format///":
		return u.braces()
	}
	return u.t.fail("the method %s with these arguments has no counterpart", u.name)
}

// split translates the method split.
func (u use) split() (Value, bool) {
	x, args := u.x, u.args
	switch u.form() {
	case "split":
		return Elements(`regexall("\\S+", `+x.Code+")", String), true
	case "split/":
		if text, ok := constantOf(args[0]); ok && text == "" {
			return u.t.fail("a split at nothing has no counterpart"), true
		}
		return Elements("split("+u.asText(u.t.value(args[0]))+", "+x.Code+")", String), true
	}
	return Value{}, false
}

// dictMethod translates a method of a dictionary.
func (u use) dictMethod() (Value, bool) {
	x, args := u.x, u.args
	if x.Kind != Dict && x.Kind != Unknown {
		return Value{}, false
	}
	switch u.form() {
	case "get/", "get//":
		other := "null"
		if len(args) == 2 {
			other = u.t.value(args[1]).Code
		}
		key := u.t.value(args[0])
		if key.constant {
			return call(Unknown, "try", u.t.member(Value{Code: x.Code, Prec: x.Prec, Kind: x.Kind}, key.plain).Code, other), true
		}
		return call(Unknown, "try", x.in(primary)+"["+key.Code+"]", other), true
	case "keys":
		u.t.names.Note("the keys of %s: here they are in their order, and in the original in that of the dictionary", x.Code)
		return Elements("keys("+x.Code+")", String), true
	case "values":
		u.t.names.Note("the values of %s: here they are in the order of their keys, and in the original in that of the dictionary", x.Code)
		return Elements("values("+x.Code+")", Unknown), true
	}
	return Value{}, false
}

// braces translates a text with {} for each argument.
func (u use) braces() Value {
	x, args := u.x, u.args
	if !x.constant {
		return u.t.fail("the method format has a counterpart only for a constant text")
	}
	parts := strings.Split(x.plain, "{}")
	if len(parts) != len(args)+1 {
		return u.t.fail("the method format has a counterpart only with a {} for each argument")
	}
	out := ""
	for i, part := range parts {
		if strings.ContainsAny(part, "{}") {
			return u.t.fail("the method format has a counterpart only with {}")
		}
		if out = join(out, escape(part)); i < len(args) {
			out = join(out, u.t.text(u.t.value(args[i])))
		}
	}
	return template(out)
}

// each translates the filters that go over a list.
func (t *translator) each(n jinja.Filter) Value {
	list := t.elements(t.value(n.X))
	name := t.scopes.newName("v")
	item := Code(name, list.Elem)
	defer t.scopes.open()()
	t.scopes.innermost()[" "] = item // so that the name is taken
	loop := "[for " + name + " in " + list.Code + " : "
	args := n.Args.Values
	if n.Name == "map" {
		v := t.mapped(item, n.Args)
		return Elements(loop+v.Code+"]", v.Kind)
	}
	if len(n.Args.Named) > 0 || n.Args.Starred {
		return t.fail("the filter %s with these arguments has no counterpart", n.Name)
	}
	subject := jinja.Node(jinja.Name{Name: " "})
	if strings.HasSuffix(n.Name, "attr") {
		attribute, ok := "", len(args) > 0
		if ok {
			attribute, ok = constantOf(args[0])
		}
		if !ok || !IsName(attribute) {
			return t.fail("the filter %s with this attribute has no counterpart", n.Name)
		}
		subject, args = jinja.Index{X: subject, Key: jinja.Literal{Value: attribute}}, args[1:]
	}
	condition := Value{}
	if len(args) == 0 {
		condition = t.condition(subject)
	} else {
		test, ok := constantOf(args[0])
		if !ok {
			return t.fail("the filter %s with a computed test has no counterpart", n.Name)
		}
		condition = t.condition(testNode(subject, test, args[1:]))
	}
	if strings.HasPrefix(n.Name, "reject") {
		condition = negate(condition)
	}
	return Elements(loop+name+" if "+condition.Code+"]", list.Elem)
}

// testNode returns a test, also one that is named by an operator.
func testNode(x jinja.Node, name string, args []jinja.Node) jinja.Node {
	switch name {
	case "==", "!=", "<", "<=", ">", ">=":
		if len(args) == 1 {
			return jinja.Compare{X: x, Ops: []string{name}, Ys: args}
		}
	}
	return jinja.Test{X: x, Name: name, Args: jinja.Args{Values: args}}
}

// mapped translates what the filter map does with an element.
func (t *translator) mapped(item Value, a jinja.Args) Value {
	if x, ok := a.Named["attribute"]; ok && len(a.Named) == 1 && len(a.Values) == 0 {
		attribute, isText := constantOf(x)
		if isText && IsName(attribute) {
			return t.member(item, attribute)
		}
		return t.fail("the filter map with this attribute has no counterpart")
	}
	if len(a.Values) == 0 || len(a.Named) > 0 || a.Starred {
		return t.fail("the filter map with these arguments has no counterpart")
	}
	name, ok := constantOf(a.Values[0])
	if !ok {
		return t.fail("the filter map with a computed filter has no counterpart")
	}
	return use{t, name, item, a.Values[1:]}.filter()
}
