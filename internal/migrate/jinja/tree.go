package jinja

import "fmt"

// Node is a part of an expression.
type Node interface{}

// The parts of expressions.
type (
	// Literal is a string, a bool, a Number, or nil for none.
	Literal struct{ Value any }
	Name    struct{ Name string }
	// List is also a tuple, in parentheses.
	List struct {
		Items []Node
		Tuple bool
	}
	Dict struct{ Keys, Values []Node }
	Attr struct {
		X    Node
		Name string
	}
	Index struct{ X, Key Node }
	// Slice has nil for each bound that is left out.
	Slice struct{ X, From, To, Step Node }
	// Unary has the operator -, + or not.
	Unary struct {
		Op string
		X  Node
	}
	// Binary has the operator + - * / // % ** and or.
	Binary struct {
		Op   string
		X, Y Node
	}
	// Concat has two parts or more, joined by ~.
	Concat struct{ Parts []Node }
	// Compare is a chain: 1 < x < 3 has two operators. They are == != < <= > >= in, not in.
	Compare struct {
		X   Node
		Ops []string
		Ys  []Node
	}
	// Cond is THEN if IF else ELSE; Else is nil when it is left out.
	Cond struct{ If, Then, Else Node }
	// Filter is X | Name(Args); X is nil in a filter that is called without a value.
	Filter struct {
		X    Node
		Name string
		Args Args
	}
	// Test is X is Name(Args).
	Test struct {
		X    Node
		Name string
		Not  bool
		Args Args
	}
	Call struct {
		X    Node
		Args Args
	}
)

// Number is a number as it was written, without underscores, in a form that Go's
// strconv understands with base 0.
type Number struct {
	Text  string
	Float bool
}

// Args are the arguments of a call.
type Args struct {
	Values  []Node
	Named   map[string]Node
	Starred bool // *args or **kwargs are among them, and are not in Values
}

// Statement is a part of a template.
type Statement interface{}

// The parts of templates.
type (
	Text   struct{ Text string }
	Output struct{ X Node }
	If     struct {
		Branches []Branch
		Else     []Statement
	}
	Branch struct {
		Cond Node
		Body []Statement
	}
	For struct {
		Targets []string
		In      Node
		Filter  Node // nil without one
		Body    []Statement
		Else    []Statement
	}
	Set struct {
		Name  string
		Value Node
	}
	Include struct {
		Name          string
		IgnoreMissing bool
	}
)

// Error is a template or an expression that cannot be parsed.
type Error struct {
	Line int // in the text, the first is 1
	What string
	// Unsupported: Jinja2 knows this, and this package does not have it in its trees.
	Unsupported bool
}

func (e *Error) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.What) }
