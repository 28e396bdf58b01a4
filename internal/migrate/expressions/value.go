package expressions

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"deployster/internal/migrate/jinja"
)

// Kind is what is known of the type of a value, in Python.
type Kind int

// The kinds. Number is an integer or a float.
const (
	Unknown Kind = iota
	String
	Int
	Float
	Number
	Bool
	None
	List
	Dict
)

func (k Kind) number() bool { return k == Int || k == Float || k == Number }

// scalar reports whether an HCL conditional keeps the type of two values of this kind.
func (k Kind) scalar() bool { return k == String || k == Bool || k.number() }

// same reports whether two values of these kinds have one type in HCL.
func same(a, b Kind) bool { return a == b && a.scalar() || a.number() && b.number() }

// The precedences of HCL's operators.
const (
	conditional = iota
	disjunction
	conjunction
	equality
	comparison
	addition
	multiplication
	unary
	primary
)

// Value is an expression in HCL.
type Value struct {
	Code string
	Prec int
	Kind Kind
	Elem Kind // of the elements of a list

	// text is the inside of a quoted template, if quoted is set.
	text   string
	quoted bool
	// plain is the value of a constant string, if constant is set.
	plain    string
	constant bool

	attrs    map[string]Kind // of an object with known attributes
	name     string          // of the variable that this is
	optional bool            // a variable that may be undefined, and then is null
	opposite string          // the code of a condition's opposite; "": it has none but !
	nullable bool            // a variable whose value is null, where it has no other
}

// Code returns a value of an expression that needs no parentheses.
func Code(code string, kind Kind) Value { return Value{Code: code, Prec: primary, Kind: kind} }

// Object returns a value with attributes of known kinds.
func Object(code string, attrs map[string]Kind) Value {
	return Value{Code: code, Prec: primary, Kind: Dict, attrs: attrs}
}

// Elements returns a list whose elements have a kind.
func Elements(code string, elem Kind) Value {
	return Value{Code: code, Prec: primary, Kind: List, Elem: elem}
}

// Nullable returns a variable whose value is null, where it has no other.
func Nullable(code string) Value { return Value{Code: code, Prec: primary, nullable: true} }

// Variable returns a variable that has no value where the manifest is migrated.
func Variable(name, code string) Value {
	return Value{Code: code, Prec: primary, name: name, optional: true}
}

// Quote returns a text as a constant in HCL.
func Quote(text string) Value {
	v := template(escape(text))
	v.plain, v.constant = text, true
	return v
}

// template returns the string whose template has this inside.
func template(inside string) Value {
	v := Value{Code: `"` + inside + `"`, Prec: primary, Kind: String, text: inside, quoted: true}
	if inner, ok := wrapped(v.Code); ok { // HCL keeps the type of what is alone in a template
		v.Code = `join("", [` + inner + `])`
	}
	return v
}

// wrapped returns the expression of a template that has nothing else.
func wrapped(code string) (string, bool) {
	if !strings.HasPrefix(code, `"${`) || !strings.HasSuffix(code, `}"`) {
		return "", false
	}
	x, diags := hclsyntax.ParseExpression([]byte(code), "", hcl.InitialPos)
	w, ok := x.(*hclsyntax.TemplateWrapExpr)
	if diags.HasErrors() || !ok {
		return "", false
	}
	at := w.Wrapped.Range()
	return code[at.Start.Byte:at.End.Byte], true
}

// opening is what begins an interpolation or a directive in HCL, or could if it is next
// to other text.
var opening = regexp.MustCompile(`[$%]+\{`)

// escape writes a text as the inside of a quoted template.
func escape(text string) string {
	var out strings.Builder
	for _, c := range text {
		switch {
		case strings.ContainsRune("\\\"", c):
			out.WriteRune('\\')
			out.WriteRune(c)
		case c == '\n':
			out.WriteString(`\n`)
		case c == '\r':
			out.WriteString(`\r`)
		case c == '\t':
			out.WriteString(`\t`)
		case c < ' ' || c == 0x7f || c == 0xfeff || c == 0x2028 || c == 0x2029:
			out.WriteString(`\u` + hex4(c))
		default:
			out.WriteRune(c)
		}
	}
	return opening.ReplaceAllStringFunc(out.String(), func(found string) string {
		if len(found) == 2 {
			return found[:1] + found
		}
		return `${"` + found[:len(found)-1] + `"}{`
	})
}

// join joins two parts of the inside of a template. A $ or % at the end of the first would
// change what the second means.
func join(first, second string) string {
	kept := strings.TrimRight(first, "$%")
	if kept == first || second == "" || !strings.ContainsRune("{$%", rune(second[0])) {
		return first + second
	}
	return kept + `${"` + first[len(kept):] + `"}` + second
}

func hex4(c rune) string {
	const digits = "0123456789abcdef"
	return string([]byte{digits[c>>12&15], digits[c>>8&15], digits[c>>4&15], digits[c&15]})
}

// in returns the code of a value as an operand of an operator with a precedence.
func (v Value) in(prec int) string {
	if v.Prec < prec {
		return "(" + v.Code + ")"
	}
	return v.Code
}

// call returns the call of a function.
func call(kind Kind, name string, args ...string) Value {
	return Code(name+"("+strings.Join(args, ", ")+")", kind)
}

func op(kind Kind, prec int, x Value, sign string, y Value) Value {
	return Value{Code: x.in(prec) + " " + sign + " " + y.in(prec+1), Prec: prec, Kind: kind}
}

// IsName reports whether a text is an identifier in HCL.
func IsName(text string) bool {
	for i, c := range text {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || c != '_' && c != '-' && (c < '0' || c > '9')) {
			return false
		}
	}
	return text != ""
}

// constantOf returns the string that a node is.
func constantOf(n jinja.Node) (string, bool) {
	lit, ok := n.(jinja.Literal)
	text, isText := lit.Value.(string)
	return text, ok && isText
}

// intOf returns the number that a node is, if it is written in digits.
func intOf(n jinja.Node) (string, bool) {
	lit, ok := n.(jinja.Literal)
	number, isNumber := lit.Value.(jinja.Number)
	return number.Text, ok && isNumber && !number.Float && strings.Trim(number.Text, "0123456789") == ""
}

// Sorted returns the keys of a map, sorted.
func Sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// negate returns the opposite of a condition.
func negate(v Value) Value {
	if v.opposite != "" {
		return Value{Code: v.opposite, Prec: equality, Kind: Bool, opposite: v.Code}
	}
	switch v.Code {
	case "true":
		return Code("false", Bool)
	case "false":
		return Code("true", Bool)
	}
	return Value{Code: "!" + v.in(primary), Prec: unary, Kind: Bool}
}
