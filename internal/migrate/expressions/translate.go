package expressions

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"deployster/internal/migrate/jinja"
)

// FalseValues is the local value that expressions refer to as local.false_values: the
// values that are false in Jinja2, as JSON.
const FalseValues = `["null", "false", "0", "\"\"", "[]", "{}"]`

// Names is what the expressions of one config can refer to.
type Names interface {
	// Name returns the value of a variable or a dependency. guarded: the expression has
	// a value where it is undefined.
	Name(name string, guarded bool) (Value, error)
	// Default returns the value of a variable without a value that has this default
	// wherever it is used.
	Default(name, code string) (Value, bool)
	// Include returns the text of a file.
	Include(name string) (string, error)
	// Note reports what a person has to check.
	Note(format string, args ...any)
}

// translator translates one text.
type translator struct {
	names  Names
	scopes scopes
	err    error // the first reason
	falsy  bool  // local.false_values is used
}

// Result is the translation of a text.
type Result struct {
	Value
	Falsy bool // it uses local.false_values
}

// Translate translates a string of a manifest. The error is the reason why it cannot.
func Translate(text string, names Names) (Result, error) {
	if !jinja.IsTemplate(text) {
		return Result{Value: Quote(text)}, nil
	}
	t := &translator{names: names, scopes: scopes{{}}}
	var v Value
	if alone, ok := jinja.Alone(text); ok {
		x, err := jinja.Expression(alone)
		if err != nil {
			return Result{}, fmt.Errorf("it is not valid Jinja2: %w", err)
		}
		v = t.value(x)
	} else {
		body, err := jinja.Template(text)
		if err != nil {
			return Result{}, parseError(err)
		}
		v = template((&statements{t: t}).body(body))
	}
	if t.err != nil {
		return Result{}, t.err
	}
	return Result{v, t.falsy}, nil
}

func parseError(err error) error {
	if e, ok := err.(*jinja.Error); ok && e.Unsupported {
		return fmt.Errorf("%s", e.What)
	}
	return fmt.Errorf("it is not valid Jinja2: %w", err)
}

// fail records why the text cannot be translated.
func (t *translator) fail(format string, args ...any) Value {
	if t.err == nil {
		t.err = fmt.Errorf(format, args...)
	}
	return Code("null", Unknown)
}

// value translates an expression.
func (t *translator) value(n jinja.Node) Value {
	if t.err != nil {
		return Value{}
	}
	switch n := n.(type) {
	case jinja.Literal:
		return t.literal(n)
	case jinja.Name:
		return t.lookup(n.Name, false)
	case jinja.List:
		return t.list(n)
	case jinja.Dict:
		return t.dict(n)
	case jinja.Attr:
		return t.attr(n)
	case jinja.Index:
		return t.index(n)
	case jinja.Slice:
		return t.slice(n)
	case jinja.Unary:
		return t.unary(n)
	case jinja.Binary:
		return t.binary(n)
	case jinja.Concat:
		return t.concat(n)
	case jinja.Compare, jinja.Test:
		return t.condition(n)
	case jinja.Cond:
		if n.Else == nil {
			return t.fail("an inline if without else is undefined where its condition is false")
		}
		return t.choose(t.condition(n.If), t.value(n.Then), t.value(n.Else))
	case jinja.Filter:
		return t.filter(n)
	case jinja.Call:
		return t.call(n)
	}
	return t.fail("%T has no counterpart", n)
}

func (t *translator) literal(n jinja.Literal) Value {
	switch v := n.Value.(type) {
	case nil:
		return Code("null", None)
	case bool:
		return Code(strconv.FormatBool(v), Bool)
	case string:
		return Quote(v)
	case jinja.Number:
		if v.Float {
			return Code(v.Text, Float)
		}
		i, ok := new(big.Int).SetString(v.Text, 0)
		if !ok {
			return t.fail("%s is not a number", v.Text)
		}
		return Code(i.String(), Int)
	}
	return t.fail("%T has no counterpart", n.Value)
}

// lookup returns the value of a name.
func (t *translator) lookup(name string, guarded bool) Value {
	if v, ok := t.scopes.find(name); ok {
		return v
	}
	v, err := t.names.Name(name, guarded)
	if err != nil {
		return t.fail("%w", err)
	}
	return v
}

func (t *translator) list(n jinja.List) Value {
	out := make([]string, len(n.Items))
	elem := Unknown
	for i, item := range n.Items {
		v := t.value(item)
		out[i] = v.Code
		if i == 0 || v.Kind == elem {
			elem = v.Kind
		} else if elem = Unknown; v.Kind.number() && elem.number() {
			elem = Number
		}
	}
	return Elements("["+strings.Join(out, ", ")+"]", elem)
}

func (t *translator) dict(n jinja.Dict) Value {
	out := make([]string, len(n.Keys))
	for i, key := range n.Keys {
		name := ""
		if text, ok := constantOf(key); ok {
			name = Key(text)
		} else {
			v := t.value(key)
			if v.Kind != String && v.Kind != Int && v.Kind != Unknown {
				t.fail("a key of a dictionary has to be a text")
			}
			name = "(" + v.Code + ")"
		}
		out[i] = name + " = " + t.value(n.Values[i]).Code
	}
	if len(out) == 0 {
		return Code("{}", Dict)
	}
	return Code("{ "+strings.Join(out, ", ")+" }", Dict)
}

// Key writes a key of an object.
func Key(text string) string {
	if IsName(text) && text != "for" {
		return text
	}
	return Quote(text).Code
}

// methods are attributes that Python has, so that they are not keys of a dictionary.
var methods = map[string]bool{"items": true, "keys": true, "values": true, "get": true, "pop": true, "copy": true, "update": true,
	"clear": true, "setdefault": true, "fromkeys": true, "popitem": true}

func (t *translator) attr(n jinja.Attr) Value {
	if name, ok := n.X.(jinja.Name); ok && name.Name == "loop" {
		return t.loopAttr(n.Name)
	}
	x := t.value(n.X)
	if methods[n.Name] {
		return t.fail("%s is a method in Python, and no value: write [%q] for a key of that name", n.Name, n.Name)
	}
	return t.member(x, n.Name)
}

// member returns the value of a key of an object.
func (t *translator) member(x Value, name string) Value {
	kind, known := x.attrs[name]
	switch {
	case x.Kind == List || x.Kind.scalar() || x.Kind == None:
		return t.fail("%s has no keys", x.Code)
	case x.attrs != nil && !known:
		return t.fail("%s has no %s, so that this is undefined", x.Code, name)
	case IsName(name):
		return Code(x.in(primary)+"."+name, kind)
	}
	return Code(x.in(primary)+"["+Quote(name).Code+"]", kind)
}

func (t *translator) index(n jinja.Index) Value {
	x := t.value(n.X)
	if text, ok := constantOf(n.Key); ok {
		return t.member(x, text)
	}
	if x.Kind == String {
		return t.fail("a character of a text has no counterpart where the text may be shorter")
	}
	if u, ok := n.Key.(jinja.Unary); ok && u.Op == "-" {
		if number, ok := intOf(u.X); ok {
			return Code(x.in(primary)+"[length("+x.Code+") - "+number+"]", x.Elem)
		}
	}
	key := t.value(n.Key)
	if number, ok := intOf(n.Key); ok {
		return Code(x.in(primary)+"["+number+"]", x.Elem)
	}
	switch key.Kind {
	case String:
	case Unknown: // a negative number is an error in HCL, and no other element
	default:
		if x.Kind == List {
			return t.fail("an index that is computed may be negative, which counts from the end in Jinja2")
		}
	}
	if x.Kind == Dict || x.Kind == Unknown || key.Kind == Unknown {
		return Code(x.in(primary)+"["+key.Code+"]", x.Elem)
	}
	return t.fail("this index has no counterpart")
}

func (t *translator) slice(n jinja.Slice) Value {
	if n.Step != nil {
		return t.fail("a slice with a step has no counterpart")
	}
	x := t.value(n.X)
	if x.Kind != List && x.Kind != Unknown && x.Kind != String {
		return t.fail("a slice of this value has no counterpart")
	}
	length := call(Int, "length", x.Code).Code
	bound := func(b jinja.Node, missing string) string {
		if b == nil {
			return missing
		}
		if u, ok := b.(jinja.Unary); ok && u.Op == "-" {
			if number, ok := intOf(u.X); ok {
				return "max(" + length + " - " + number + ", 0)"
			}
		}
		number, ok := intOf(b)
		if !ok {
			t.fail("a slice with computed bounds has no counterpart")
		}
		if number == "0" {
			return number
		}
		return "min(" + number + ", " + length + ")"
	}
	if x.Kind == String {
		return t.substring(x, n)
	}
	from, to := bound(n.From, "0"), bound(n.To, length)
	if n.From != nil && n.To != nil && !(from == "0") {
		to = "max(" + from + ", " + to + ")"
	}
	return Elements("slice("+x.Code+", "+from+", "+to+")", x.Elem)
}

// substring returns a slice of a text.
func (t *translator) substring(x Value, n jinja.Slice) Value {
	from, to := big.NewInt(0), big.NewInt(-1)
	for _, b := range []struct {
		n  jinja.Node
		to *big.Int
	}{{n.From, from}, {n.To, to}} {
		if b.n == nil {
			continue
		}
		number, ok := intOf(b.n)
		if !ok {
			return t.fail("a slice of a text has a counterpart only with constant bounds that are not negative")
		}
		b.to.SetString(number, 10)
	}
	if to.Sign() >= 0 {
		if to.Sub(to, from); to.Sign() <= 0 {
			return Quote("")
		}
	}
	return call(String, "substr", x.Code, from.String(), to.String())
}
