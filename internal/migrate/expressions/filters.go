package expressions

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"deployster/internal/migrate/jinja"
)

// use is a use of a filter or of a method of a text: its name, the value that it is for, and its arguments.
type use struct {
	t    *translator
	name string
	x    Value
	args []jinja.Node // nil for those that are left out
}

// form returns the name, with a slash for each of up to three arguments.
func (u use) form() string { return u.name + strings.Repeat("/", min(len(u.args), 3)) }

// unknown reports a filter that does not exist.
func (u use) unknown() Value {
	return u.t.fail("the filter %s with these arguments has no counterpart", u.name)
}

// filterArgs are the names of the arguments of filters that may have names, in order.
var filterArgs = map[string][]string{
	"default": {"default_value", "boolean"}, "d": {"default_value", "boolean"}, "join": {"d", "attribute"},
	"replace": {"old", "new", "count"},
	"int":     {"default", "base"}, "float": {"default"}, "indent": {"width", "first", "blank"},
	"trim": {"chars"}, "round": {"precision", "method"},
}

// arguments returns the arguments of a filter in their order; nil for those that are left out.
func arguments(name string, a jinja.Args) ([]jinja.Node, error) {
	if a.Starred {
		return nil, errors.New("arguments with * have no counterpart")
	}
	out := append([]jinja.Node(nil), a.Values...)
	for arg, x := range a.Named {
		at := slices.Index(filterArgs[name], arg)
		if at < 0 {
			return nil, fmt.Errorf("the filter %s with the argument %s has no counterpart", name, arg)
		}
		for len(out) <= at {
			out = append(out, nil)
		}
		out[at] = x
	}
	return out, nil
}

// simple are filters without arguments that are a function of a text.
var simple = map[string]string{"upper": "upper", "lower": "lower"}

// filter translates a filter.
func (t *translator) filter(n jinja.Filter) Value {
	switch n.Name {
	case "map", "select", "reject", "selectattr", "rejectattr":
		return t.each(n)
	}
	args, err := arguments(n.Name, n.Args)
	if err != nil {
		return t.fail("%w", err)
	}
	if n.Name == "default" || n.Name == "d" {
		return t.fallback(n.X, args)
	}
	return use{t, n.Name, t.value(n.X), args}.filter()
}

// filter translates a filter of one value.
func (u use) filter() Value {
	x := u.x
	if f, ok := simple[u.name]; ok && len(u.args) == 0 {
		return call(String, f, u.asText(x))
	}
	if v, ok := u.textFilter(); ok {
		return v
	}
	switch u.form() {
	case "length", "count":
		return call(Int, "length", x.Code)
	case "first":
		return u.element(x.in(primary) + "[0]")
	case "last":
		return u.element(x.in(primary) + "[length(" + x.Code + ") - 1]")
	case "int", "int/":
		return u.toInt()
	case "float":
		if x.Kind.number() {
			return Value{Code: x.Code, Prec: x.Prec, Kind: Float}
		}
		return call(Float, "try", "tonumber(trimspace("+x.Code+"))", "0")
	case "abs":
		x = u.t.number(x)
		return call(x.Kind, "abs", x.Code)
	case "round//":
		method, ok := constantOf(u.args[1])
		number, isZero := intOf(u.args[0])
		if ok && (u.args[0] == nil || isZero && number == "0") && (method == "floor" || method == "ceil") {
			return call(Float, method, u.t.number(x).Code)
		}
	case "list":
		return u.t.elements(x)
	case "reverse":
		switch x.Kind {
		case String:
			return call(String, "strrev", x.Code)
		case List:
			return Elements("reverse("+x.Code+")", x.Elem)
		}
		return u.t.fail("the type of what is reversed is not known")
	case "sum", "min", "max":
		return u.ofNumbers()
	case "tojson":
		u.t.names.Note("the filter tojson of %s: here the JSON has no spaces, and letters beyond ASCII are not escaped", x.Code)
		return call(String, "jsonencode", x.Code)
	case "safe":
		return x
	}
	return u.unknown()
}

// ofNumbers translates the filters of a list of numbers.
func (u use) ofNumbers() Value {
	switch x := u.x; {
	case x.Kind != List || !x.Elem.number():
		return u.t.fail("the filter %s has a counterpart only for a list of numbers", u.name)
	case u.name == "sum":
		return call(x.Elem, "sum", x.Code)
	default:
		return call(x.Elem, u.name, x.Code+"...")
	}
}

// element returns an element of a list.
func (u use) element(code string) Value {
	x := u.x
	if x.Kind != List && x.Kind != Unknown {
		return u.t.fail("the first or last of this value has no counterpart")
	}
	return Code(code, x.Elem)
}

// asText returns the code of a value as a text.
func (u use) asText(x Value) string {
	if x.Kind == String || x.Kind == Unknown { // a function takes any value as a text
		if x.Kind == Unknown {
			u.t.text(x) // for its note
		}
		return x.Code
	}
	return template(u.t.text(x)).Code
}

// textFilter translates a filter whose result is a text.
func (u use) textFilter() (Value, bool) {
	x, args := u.x, u.args
	switch u.form() {
	case "string":
		if x.Kind == String {
			return x, true
		}
		if x.Kind == Int {
			return call(String, "tostring", x.Code), true
		}
		return template(u.t.text(x)), true
	case "trim":
		return call(String, "trimspace", u.asText(x)), true
	case "trim/":
		return call(String, "trim", u.asText(x), u.t.value(args[0]).Code), true
	case "capitalize":
		text := u.asText(x)
		return template("${upper(substr(" + text + ", 0, 1))}${lower(substr(" + text + ", 1, -1))}"), true
	case "replace//":
		return u.replace(u.asText(x)), true
	case "join":
		return u.join(x, `""`, nil), true
	case "join/", "join//":
		separator := `""`
		if args[0] != nil {
			separator = u.asText(u.t.value(args[0]))
		}
		if len(args) == 1 {
			return u.join(x, separator, nil), true
		}
		return u.join(x, separator, args[1]), true
	case "indent", "indent/":
		return u.indent(), true
	case "urlencode":
		if x.Kind == String || x.Kind == Int {
			return call(String, "replace", `replace(urlencode(`+x.Code+`), "+", "%20")`, `"%2F"`, `"/"`), true
		}
		return u.t.fail("the filter urlencode has a counterpart only for a text"), true
	case "format", "format/", "format//", "format///":
		if x.constant {
			return u.format(), true
		}
		return u.t.fail("the filter format has a counterpart only for a constant text"), true
	}
	return Value{}, false
}

// replace replaces a text. The function of that name reads /text/ as a regular expression.
func (u use) replace(x string) Value {
	from, to := u.args[0], u.args[1]
	old, isConstant := constantOf(from)
	if isConstant && old == "" {
		return u.t.fail("a replacement of nothing has no counterpart")
	}
	a, b := u.asText(u.t.value(from)), u.asText(u.t.value(to))
	if isConstant && (len(old) < 2 || old[0] != '/' || old[len(old)-1] != '/') {
		return call(String, "replace", x, a, b)
	}
	return call(String, "join", b, "split("+a+", "+x+")")
}

// join joins the elements of a list, or one attribute of each; nil = the elements.
func (u use) join(x Value, separator string, attribute jinja.Node) Value {
	if attribute != nil {
		name, ok := constantOf(attribute)
		if !ok || !IsName(name) {
			return u.t.fail("the filter join with this attribute has no counterpart")
		}
		list := u.t.elements(x)
		x = Elements("[for v in "+list.Code+" : v."+name+"]", Unknown)
	}
	list := u.t.elements(x)
	switch list.Elem {
	case String, Int:
		return call(String, "join", separator, list.Code)
	case Unknown, Bool, Number:
		name := u.t.scopes.newName("v")
		text := u.t.text(Code(name, list.Elem))
		if list.Elem != Bool {
			return call(String, "join", separator, list.Code)
		}
		return call(String, "join", separator, "[for "+name+" in "+list.Code+` : "`+text+`"]`)
	}
	return u.t.fail("the filter join has no counterpart for such elements")
}

// indent indents all lines but the first and the empty ones.
func (u use) indent() Value {
	width := "4"
	if len(u.args) == 1 && u.args[0] != nil {
		number, ok := intOf(u.args[0])
		if !ok || len(number) > 2 {
			return u.t.fail("the filter indent has a counterpart only with a constant width")
		}
		width = number
	}
	n := 0
	for _, c := range width {
		n = 10*n + int(c-'0')
	}
	return call(String, "replace", u.asText(u.x), `"/\n([^\n])/"`, `"\n`+strings.Repeat(" ", n)+`$1"`)
}

// toInt translates the filter int, which takes whole numbers from numbers and texts.
func (u use) toInt() Value {
	x, other := u.x, Code("0", Int)
	if len(u.args) == 1 && u.args[0] != nil {
		if other = u.t.value(u.args[0]); other.Kind != Int {
			return u.t.fail("the filter int has a counterpart only with a whole number as its default")
		}
	}
	switch x.Kind {
	case Int:
		return x
	case Bool:
		return Value{Code: x.in(disjunction) + " ? 1 : 0", Prec: conditional, Kind: Int}
	case List, Dict, None:
		return other
	}
	name := u.t.scopes.newName("n")
	number := "try(tonumber(trimspace(" + x.Code + ")), " + other.Code + ")"
	if x.Kind.number() {
		number = x.Code
	}
	return Code("[for "+name+" in ["+number+"] : "+name+" < 0 ? ceil("+name+") : floor("+name+")][0]", Int)
}

// format translates a text with %s and %d.
func (u use) format() Value {
	out, text, args := "", u.x.plain, u.args
	for at := strings.IndexByte(text, '%'); at >= 0; at = strings.IndexByte(text, '%') {
		out = join(out, escape(text[:at]))
		verb := byte(0)
		if text = text[at+1:]; text != "" {
			verb, text = text[0], text[1:]
		}
		switch {
		case verb == '%':
			out = join(out, "%")
		case (verb == 's' || verb == 'd') && len(args) > 0:
			x := u.t.value(args[0])
			if verb == 'd' && x.Kind != Int {
				return u.t.fail("%%d has a counterpart only for a whole number: use the filter int")
			}
			out, args = join(out, u.t.text(x)), args[1:]
		default:
			return u.t.fail("only %%s and %%d have a counterpart, with an argument for each")
		}
	}
	if len(args) > 0 {
		return u.t.fail("there are more arguments than places for them")
	}
	return template(join(out, escape(text)))
}
