package expressions

import (
	"deployster/internal/migrate/jinja"
)

// condition translates an expression of which only matters whether it is true.
func (t *translator) condition(n jinja.Node) Value {
	if t.err != nil {
		return Code("true", Bool)
	}
	switch n := n.(type) {
	case jinja.Unary:
		if n.Op == "not" {
			return negate(t.condition(n.X))
		}
	case jinja.Binary:
		switch n.Op {
		case "and":
			return op(Bool, conjunction, t.condition(n.X), "&&", t.condition(n.Y))
		case "or":
			return op(Bool, disjunction, t.condition(n.X), "||", t.condition(n.Y))
		}
	case jinja.Compare:
		return t.compare(n)
	case jinja.Test:
		return t.test(n)
	}
	return t.truth(t.value(n))
}

// truth returns whether a value is true in Jinja2.
func (t *translator) truth(v Value) Value {
	switch v.Kind {
	case Bool:
		return v
	case None:
		return Code("false", Bool)
	case String:
		return differs(v, Quote(""))
	case Int, Float, Number:
		return differs(v, Code("0", Int))
	case List, Dict:
		return differs(call(Int, "length", v.Code), Code("0", Int))
	}
	t.falsy = true
	isFalse := "contains(local.false_values, jsonencode(" + v.Code + "))"
	return Value{Code: "!" + isFalse, Prec: unary, Kind: Bool, opposite: isFalse}
}

// differs returns whether two values differ.
func differs(x, y Value) Value {
	v := op(Bool, equality, x, "!=", y)
	v.opposite = op(Bool, equality, x, "==", y).Code
	return v
}

func (t *translator) compare(n jinja.Compare) Value {
	var out Value
	x := t.value(n.X)
	for i, sign := range n.Ops {
		y := t.value(n.Ys[i])
		c := t.relate(x, sign, y)
		if i == 0 {
			out = c
		} else {
			out = op(Bool, conjunction, out, "&&", c)
		}
		x = y
	}
	return out
}

// relate compares two values.
func (t *translator) relate(x Value, sign string, y Value) Value {
	switch sign {
	case "in", "not in":
		c := t.contains(y, x)
		if sign == "not in" {
			return negate(c)
		}
		return c
	case "==", "!=":
		if x.Kind == Bool && y.Kind.number() || y.Kind == Bool && x.Kind.number() {
			return t.fail("a bool and a number are compared: true is equal to 1 in Jinja2, and not here")
		}
		if x.Kind.scalar() || y.Kind.scalar() || x.Kind == None || y.Kind == None {
			return op(Bool, equality, x, sign, y)
		}
		return op(Bool, equality, call(String, "jsonencode", x.Code), sign, call(String, "jsonencode", y.Code))
	}
	if x.Kind.number() && (y.Kind.number() || y.Kind == Unknown) || y.Kind.number() && x.Kind == Unknown {
		return op(Bool, comparison, x, sign, y)
	}
	return t.fail("%s has a counterpart only where one side is known to be a number: texts are compared by their letters in Jinja2", sign)
}

// contains returns whether a value is in a list, is a part of a text, or is a key.
func (t *translator) contains(in, x Value) Value {
	switch in.Kind {
	case List:
		if x.Kind == List || x.Kind == Dict || x.Kind == Bool && in.Elem != Bool || in.Elem == Bool && x.Kind != Bool {
			return t.fail("this element of a list is compared in another way than in Jinja2")
		}
		return call(Bool, "contains", in.Code, x.Code)
	case Dict:
		return call(Bool, "contains", "keys("+in.Code+")", x.Code)
	case String:
		if x.Kind != String && x.Kind != Unknown {
			return t.fail("only a text can be in a text")
		}
		return call(Bool, "strcontains", in.Code, x.Code)
	case Unknown:
		if x.Kind == String {
			return call(Bool, "try", "contains(keys("+in.Code+"), "+x.Code+")", "contains("+in.Code+", "+x.Code+")",
				"strcontains("+in.Code+", "+x.Code+")")
		}
		if x.Kind.number() {
			return call(Bool, "contains", in.Code, x.Code)
		}
	}
	return t.fail("the types of both sides of in are not known")
}

// types are the tests of a type: how the JSON of such a value begins.
var types = map[string]struct {
	begins string
	kinds  []Kind
}{
	"string":  {`\"`, []Kind{String}},
	"mapping": {`[{]`, []Kind{Dict}},
	"number":  {`[-0-9]`, []Kind{Int, Float, Number}}, // and a bool, in Python
	"boolean": {`[tf]`, []Kind{Bool}},
}

func (t *translator) test(n jinja.Test) Value {
	v := t.positive(n)
	if n.Not {
		return negate(v)
	}
	return v
}

// positive translates a test without its not.
func (t *translator) positive(n jinja.Test) Value {
	if n.Args.Starred || len(n.Args.Named) > 0 || len(n.Args.Values) > 1 {
		return t.fail("the test %s with these arguments has no counterpart", n.Name)
	}
	if n.Name == "defined" || n.Name == "undefined" {
		v := t.defined(n.X)
		if n.Name == "defined" || v.Code == "null" {
			return v
		}
		return t.test(jinja.Test{X: n.X, Name: "defined", Not: true})
	}
	x := t.value(n.X)
	if len(n.Args.Values) == 1 {
		return t.testWith(n.Name, x, n.Args.Values[0])
	}
	switch n.Name {
	case "none":
		return op(Bool, equality, x, "==", Code("null", None))
	case "true", "false":
		return op(Bool, equality, x, "==", Code(n.Name, Bool))
	case "even", "odd":
		sign := map[string]string{"even": "==", "odd": "!="}[n.Name]
		return op(Bool, equality, op(Int, multiplication, t.number(x), "%", Code("2", Int)), sign, Code("0", Int))
	}
	if kind, ok := types[n.Name]; ok {
		return t.typeTest(x, kind.begins, kind.kinds, n.Name)
	}
	return t.fail("the test %s has no counterpart", n.Name)
}

func (t *translator) typeTest(x Value, begins string, kinds []Kind, name string) Value {
	if x.Kind != Unknown {
		for _, k := range kinds {
			if x.Kind == k {
				return Code("true", Bool)
			}
		}
		if name != "number" || x.Kind != Bool {
			return Code("false", Bool)
		}
	}
	if name == "number" {
		begins = `[-0-9tf]`
	}
	return call(Bool, "can", `regex("^`+begins+`", jsonencode(`+x.Code+"))")
}

func (t *translator) testWith(name string, x Value, arg jinja.Node) Value {
	signs := map[string]string{"eq": "==", "equalto": "==", "ne": "!=", "lt": "<", "lessthan": "<", "le": "<=", "gt": ">",
		"greaterthan": ">", "ge": ">=", "in": "in"}
	y := t.value(arg)
	if sign := signs[name]; sign != "" {
		return t.relate(x, sign, y)
	}
	if name == "divisibleby" {
		return op(Bool, equality, op(Int, multiplication, t.number(x), "%", t.number(y)), "==", Code("0", Int))
	}
	return t.fail("the test %s has no counterpart", name)
}

// defined returns whether a value is defined.
func (t *translator) defined(n jinja.Node) Value {
	switch n := n.(type) {
	case jinja.Name:
		v := t.lookup(n.Name, true)
		if v.optional {
			return op(Bool, equality, v, "!=", Code("null", None))
		}
		return Code("true", Bool)
	case jinja.Attr, jinja.Index:
		return call(Bool, "can", t.value(n).Code)
	}
	return t.fail("whether this is defined has no counterpart")
}
