package expressions

import (
	"strings"

	"deployster/internal/migrate/jinja"
)

// filters translates filters.
type filters struct{ t *translator }

// filterArgs are the names of the arguments of filters that may have names, in order.
var filterArgs = map[string][]string{
	"default": {"default_value", "boolean"}, "d": {"default_value", "boolean"}, "join": {"d", "attribute"},
	"replace": {"old", "new", "count"},
	"int":     {"default", "base"}, "float": {"default"}, "indent": {"width", "first", "blank"},
	"trim": {"chars"}, "round": {"precision", "method"},
}

// arguments returns the arguments of a filter in their order; nil for those that are left out.
func (fs filters) arguments(name string, a jinja.Args) []jinja.Node {
	if a.Starred {
		fs.t.fail("arguments with * have no counterpart")
	}
	out := append([]jinja.Node(nil), a.Values...)
	for arg, x := range a.Named {
		at := -1
		for i, known := range filterArgs[name] {
			if known == arg {
				at = i
			}
		}
		if at < 0 {
			fs.t.fail("the filter %s with the argument %s has no counterpart", name, arg)
			return nil
		}
		for len(out) <= at {
			out = append(out, nil)
		}
		out[at] = x
	}
	return out
}

// simple are filters without arguments that are a function of a text.
var simple = map[string]string{"upper": "upper", "lower": "lower"}

func (fs filters) filter(n jinja.Filter) Value {
	switch n.Name {
	case "map", "select", "reject", "selectattr", "rejectattr":
		return calls(fs).each(n)
	}
	args := fs.arguments(n.Name, n.Args)
	if n.Name == "default" || n.Name == "d" {
		return fs.orDefault(n.X, args)
	}
	if fs.t.err != nil {
		return Value{}
	}
	return fs.apply(n.Name, fs.t.value(n.X), args)
}

// apply translates a filter of one value.
func (fs filters) apply(name string, x Value, args []jinja.Node) Value {
	if f, ok := simple[name]; ok && len(args) == 0 {
		return call(String, f, fs.asText(x))
	}
	if v, ok := fs.textFilter(name, x, args); ok {
		return v
	}
	switch name + strings.Repeat("/", min(len(args), 3)) {
	case "length", "count":
		return call(Int, "length", x.Code)
	case "first":
		return fs.element(x, x.in(primary)+"[0]")
	case "last":
		return fs.element(x, x.in(primary)+"[length("+x.Code+") - 1]")
	case "int", "int/":
		return fs.toInt(x, args)
	case "float":
		if x.Kind.number() {
			return Value{Code: x.Code, Prec: x.Prec, Kind: Float}
		}
		return call(Float, "try", "tonumber(trimspace("+x.Code+"))", "0")
	case "abs":
		x = fs.t.number(x)
		return call(x.Kind, "abs", x.Code)
	case "round//":
		method, ok := constantOf(args[1])
		if number, isZero := intOf(args[0]); ok && (args[0] == nil || isZero && number == "0") && (method == "floor" || method == "ceil") {
			return call(Float, method, fs.t.number(x).Code)
		}
	case "list":
		return fs.t.elements(x)
	case "reverse":
		switch x.Kind {
		case String:
			return call(String, "strrev", x.Code)
		case List:
			return Elements("reverse("+x.Code+")", x.Elem)
		}
		return fs.t.fail("the type of what is reversed is not known")
	case "sum", "min", "max":
		if x.Kind == List && x.Elem.number() {
			if name == "sum" {
				return call(x.Elem, "sum", x.Code)
			}
			return call(x.Elem, name, x.Code+"...")
		}
		return fs.t.fail("the filter %s has a counterpart only for a list of numbers", name)
	case "tojson":
		fs.t.names.Note("the filter tojson of %s: here the JSON has no spaces, and letters beyond ASCII are not escaped", x.Code)
		return call(String, "jsonencode", x.Code)
	case "safe":
		return x
	}
	return fs.t.fail("the filter %s with these arguments has no counterpart", name)
}

// element returns an element of a list.
func (fs filters) element(x Value, code string) Value {
	if x.Kind != List && x.Kind != Unknown {
		return fs.t.fail("the first or last of this value has no counterpart")
	}
	return Code(code, x.Elem)
}

// asText returns the code of a value as a text.
func (fs filters) asText(x Value) string {
	if x.Kind == String || x.Kind == Unknown { // a function takes any value as a text
		if x.Kind == Unknown {
			fs.t.text(x) // for its note
		}
		return x.Code
	}
	return template(fs.t.text(x)).Code
}

// textFilter translates a filter whose result is a text.
func (fs filters) textFilter(name string, x Value, args []jinja.Node) (Value, bool) {
	switch name + strings.Repeat("/", min(len(args), 3)) {
	case "string":
		if x.Kind == String {
			return x, true
		}
		if x.Kind == Int {
			return call(String, "tostring", x.Code), true
		}
		return template(fs.t.text(x)), true
	case "trim":
		return call(String, "trimspace", fs.asText(x)), true
	case "trim/":
		return call(String, "trim", fs.asText(x), fs.t.value(args[0]).Code), true
	case "capitalize":
		text := fs.asText(x)
		return template("${upper(substr(" + text + ", 0, 1))}${lower(substr(" + text + ", 1, -1))}"), true
	case "replace//":
		return fs.replace(fs.asText(x), args[0], args[1]), true
	case "join":
		return fs.join(x, "", args), true
	case "join/", "join//":
		separator := `""`
		if args[0] != nil {
			separator = fs.asText(fs.t.value(args[0]))
		}
		return fs.join(x, separator, args), true
	case "indent", "indent/":
		return fs.indent(x, args), true
	case "urlencode":
		if x.Kind == String || x.Kind == Int {
			return call(String, "replace", `replace(urlencode(`+x.Code+`), "+", "%20")`, `"%2F"`, `"/"`), true
		}
		return fs.t.fail("the filter urlencode has a counterpart only for a text"), true
	case "format", "format/", "format//", "format///":
		if x.constant {
			return fs.format(x.plain, args), true
		}
		return fs.t.fail("the filter format has a counterpart only for a constant text"), true
	}
	return Value{}, false
}

// replace replaces a text. The function of that name reads /text/ as a regular expression.
func (fs filters) replace(x string, from, to jinja.Node) Value {
	old, isConstant := constantOf(from)
	if isConstant && old == "" {
		return fs.t.fail("a replacement of nothing has no counterpart")
	}
	a, b := fs.asText(fs.t.value(from)), fs.asText(fs.t.value(to))
	if isConstant && (len(old) < 2 || old[0] != '/' || old[len(old)-1] != '/') {
		return call(String, "replace", x, a, b)
	}
	return call(String, "join", b, "split("+a+", "+x+")")
}

func (fs filters) join(x Value, separator string, args []jinja.Node) Value {
	if separator == "" {
		separator = `""`
	}
	if len(args) == 2 && args[1] != nil {
		name, ok := constantOf(args[1])
		if !ok || !IsName(name) {
			return fs.t.fail("the filter join with this attribute has no counterpart")
		}
		list := fs.t.elements(x)
		x = Elements("[for v in "+list.Code+" : v."+name+"]", Unknown)
	}
	list := fs.t.elements(x)
	switch list.Elem {
	case String, Int:
		return call(String, "join", separator, list.Code)
	case Unknown, Bool, Number:
		name := fs.t.newName("v")
		text := fs.t.text(Code(name, list.Elem))
		if list.Elem != Bool {
			return call(String, "join", separator, list.Code)
		}
		return call(String, "join", separator, "[for "+name+" in "+list.Code+` : "`+text+`"]`)
	}
	return fs.t.fail("the filter join has no counterpart for such elements")
}

// indent indents all lines but the first and the empty ones.
func (fs filters) indent(x Value, args []jinja.Node) Value {
	width := "4"
	if len(args) == 1 && args[0] != nil {
		number, ok := intOf(args[0])
		if !ok || len(number) > 2 {
			return fs.t.fail("the filter indent has a counterpart only with a constant width")
		}
		width = number
	}
	n := 0
	for _, c := range width {
		n = 10*n + int(c-'0')
	}
	return call(String, "replace", fs.asText(x), `"/\n([^\n])/"`, `"\n`+strings.Repeat(" ", n)+`$1"`)
}

// toInt translates the filter int, which takes whole numbers from numbers and texts.
func (fs filters) toInt(x Value, args []jinja.Node) Value {
	other := Code("0", Int)
	if len(args) == 1 && args[0] != nil {
		if other = fs.t.value(args[0]); other.Kind != Int {
			return fs.t.fail("the filter int has a counterpart only with a whole number as its default")
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
	name := fs.t.newName("n")
	number := "try(tonumber(trimspace(" + x.Code + ")), " + other.Code + ")"
	if x.Kind.number() {
		number = x.Code
	}
	return Code("[for "+name+" in ["+number+"] : "+name+" < 0 ? ceil("+name+") : floor("+name+")][0]", Int)
}

// format translates a text with %s and %d.
func (fs filters) format(text string, args []jinja.Node) Value {
	out := ""
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
			x := fs.t.value(args[0])
			if verb == 'd' && x.Kind != Int {
				return fs.t.fail("%%d has a counterpart only for a whole number: use the filter int")
			}
			out, args = join(out, fs.t.text(x)), args[1:]
		default:
			return fs.t.fail("only %%s and %%d have a counterpart, with an argument for each")
		}
	}
	if len(args) > 0 {
		return fs.t.fail("there are more arguments than places for them")
	}
	return template(join(out, escape(text)))
}

// orDefault translates the filter default.
func (fs filters) orDefault(n jinja.Node, args []jinja.Node) Value {
	if len(args) > 2 {
		return fs.t.fail("the filter default has at most two arguments")
	}
	other := Quote("")
	if len(args) > 0 && args[0] != nil {
		other = fs.t.value(args[0])
	}
	falsy := false
	if len(args) == 2 {
		lit, _ := args[1].(jinja.Literal)
		b, ok := lit.Value.(bool)
		if !ok {
			return fs.t.fail("the filter default has a counterpart only where its second argument is true or false")
		}
		falsy = b
	}
	x := fs.defaulted(n, other, falsy)
	if falsy && fs.t.err == nil {
		return fs.t.choose(fs.t.truth(x), x, other)
	}
	return x
}

// defaulted returns a value, or another where it is undefined.
func (fs filters) defaulted(n jinja.Node, other Value, falsy bool) Value {
	name, ok := n.(jinja.Name)
	if !ok {
		x := fs.t.value(n)
		switch n.(type) {
		case jinja.Attr, jinja.Index:
			if x.attrs == nil {
				return call(Unknown, "try", x.Code, other.Code)
			}
		}
		return x
	}
	v := fs.t.lookup(name.Name, true)
	if !v.optional {
		return v
	}
	if falsy {
		return v // null is false too
	}
	if known, ok := fs.t.names.Default(v.name, other.Code); ok {
		return known
	}
	item := fs.t.newName("v")
	return Code("[for "+item+" in ["+v.Code+", "+other.Code+"] : "+item+" if "+item+" != null][0]", Unknown)
}
