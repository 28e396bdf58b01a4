package expressions

import (
	"strings"

	"deployster/internal/migrate/jinja"
)

func (t *translator) unary(n jinja.Unary) Value {
	if n.Op == "not" {
		return t.condition(n)
	}
	x := t.value(n.X)
	if !x.Kind.number() {
		x = t.number(x)
	}
	if n.Op == "+" {
		return x
	}
	return Value{Code: "-" + x.in(primary), Prec: unary, Kind: x.Kind}
}

// number returns a value that has to be a number.
func (t *translator) number(x Value) Value {
	switch {
	case x.Kind.number():
		return x
	case x.Kind == Unknown:
		x.Kind = Number
		return x
	}
	return t.fail("%s is not a number", x.Code)
}

func (t *translator) binary(n jinja.Binary) Value {
	if n.Op == "and" || n.Op == "or" {
		return t.logical(n)
	}
	if n.Op == "%" {
		if text, ok := constantOf(n.X); ok {
			args := []jinja.Node{n.Y}
			if l, ok := n.Y.(jinja.List); ok && l.Tuple {
				args = l.Items
			}
			return use{t: t, name: "format", x: Quote(text), args: args}.format()
		}
	}
	x, y := t.value(n.X), t.value(n.Y)
	if n.Op == "+" {
		if v, ok := t.plus(x, y); ok {
			return v
		}
	}
	// A text or a list can be multiplied by a number, and a text be formatted with %.
	if (n.Op == "*" || n.Op == "%") && (!x.Kind.number() || n.Op == "*" && !y.Kind.number()) {
		return t.fail("%s has a counterpart only where both sides are known to be numbers: use the filter int", n.Op)
	}
	x, y = t.number(x), t.number(y)
	kind := Number
	if x.Kind == Int && y.Kind == Int {
		kind = Int
	} else if x.Kind == Float || y.Kind == Float {
		kind = Float
	}
	switch n.Op {
	case "+", "-":
		return op(kind, addition, x, n.Op, y)
	case "*":
		return op(kind, multiplication, x, n.Op, y)
	case "/":
		return op(Float, multiplication, x, n.Op, y)
	case "//":
		return call(kind, "floor", op(kind, multiplication, x, "/", y).Code)
	case "%":
		if constantInt(x) && constantInt(y) {
			return op(kind, multiplication, x, "%", y)
		}
		floor := call(kind, "floor", op(kind, multiplication, x, "/", y).Code)
		return op(kind, addition, x, "-", op(kind, multiplication, y, "*", floor))
	case "**":
		if kind == Int && !constantInt(y) {
			kind = Number
		}
		return call(kind, "pow", x.Code, y.Code)
	}
	return t.fail("the operator %s has no counterpart", n.Op)
}

// constantInt reports whether a value is a number in digits.
func constantInt(v Value) bool { return v.Code != "" && strings.Trim(v.Code, "0123456789") == "" }

// plus returns the sum of what is not known to be two numbers.
func (t *translator) plus(x, y Value) (Value, bool) {
	switch {
	case x.Kind == String && (y.Kind == String || y.Kind == Unknown), y.Kind == String && x.Kind == Unknown:
		return template(join(t.raw(x), t.raw(y))), true
	case x.Kind == List && (y.Kind == List || y.Kind == Unknown), y.Kind == List && x.Kind == Unknown:
		elem := x.Elem
		if x.Elem != y.Elem {
			elem = Unknown
		}
		return Elements("concat("+x.Code+", "+y.Code+")", elem), true
	case x.Kind == Unknown && y.Kind == Unknown:
		return t.fail("the types of both sides of + are not known: it adds numbers, texts and lists"), true
	}
	return Value{}, false
}

// raw returns a text in a template, for a value that has to be a text.
func (t *translator) raw(v Value) string {
	if v.quoted {
		return v.text
	}
	return "${" + v.Code + "}"
}

func (t *translator) concat(n jinja.Concat) Value {
	out := ""
	for _, part := range n.Parts {
		out = join(out, t.text(t.value(part)))
	}
	return template(out)
}

// text returns how a value is written in a text.
func (t *translator) text(v Value) string {
	switch v.Kind {
	case String:
		return t.raw(v)
	case Int:
		if constantInt(v) {
			return v.Code
		}
		return "${" + v.Code + "}"
	case Bool:
		switch v.Code {
		case "true":
			return "True"
		case "false":
			return "False"
		}
		return "${" + v.in(disjunction) + ` ? "True" : "False"}`
	case None:
		return "None"
	case Float:
		t.fail("a float in a text is written as Python does, such as 2.0: use the filter int or string")
		return ""
	case List, Dict:
		t.fail("a list or a dictionary in a text is written as Python does: use the filter join or tojson")
		return ""
	}
	if v.nullable {
		return "${" + v.Code + ` == null ? "None" : ` + v.Code + "}"
	}
	t.names.Note("the text has a value whose type is not known here: where that is true, the original writes True, and deployster true; " +
		"where it is a number such as 2.0, the original writes 2.0, and deployster 2")
	return "${" + v.Code + "}"
}

// choose returns one of two values.
func (t *translator) choose(c, x, y Value) Value {
	if x.Kind == None && y.Kind != List && y.Kind != Dict || y.Kind == None && x.Kind != List && x.Kind != Dict || same(x.Kind, y.Kind) {
		kind := x.Kind
		if x.Kind != y.Kind {
			if kind = Unknown; x.Kind.number() && y.Kind.number() {
				kind = Number
			}
		}
		return Value{Code: c.in(disjunction) + " ? " + x.in(disjunction) + " : " + y.Code, Prec: conditional, Kind: kind}
	}
	// HCL gives both results one type. JSON keeps that of each.
	kind := Unknown
	if x.Kind == y.Kind {
		kind = x.Kind
	}
	return call(kind, "jsondecode", c.in(disjunction)+" ? "+call(String, "jsonencode", x.Code).Code+" : "+
		call(String, "jsonencode", y.Code).Code)
}

// logical returns the value of and and or, which is that of one of their sides.
func (t *translator) logical(n jinja.Binary) Value {
	x, y := t.value(n.X), t.value(n.Y)
	if x.Kind == Bool && y.Kind == Bool {
		return t.condition(n)
	}
	if n.Op == "or" {
		return t.choose(t.truth(x), x, y)
	}
	return t.choose(t.truth(x), y, x)
}
