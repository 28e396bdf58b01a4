package expressions

import "deployster/internal/migrate/jinja"

// fallback is a use of the filter default: what it is for, and the value in its place where that is undefined.
type fallback struct {
	t     *translator
	of    jinja.Node
	other Value
	falsy bool // also where it is false
}

// fallback translates the filter default.
func (t *translator) fallback(n jinja.Node, args []jinja.Node) Value {
	if len(args) > 2 {
		return t.fail("the filter default has at most two arguments")
	}
	f := fallback{t: t, of: n, other: Quote("")}
	if len(args) > 0 && args[0] != nil {
		f.other = t.value(args[0])
	}
	if len(args) == 2 {
		lit, _ := args[1].(jinja.Literal)
		b, ok := lit.Value.(bool)
		if !ok {
			return t.fail("the filter default has a counterpart only where its second argument is true or false")
		}
		f.falsy = b
	}
	x := f.value()
	if f.falsy && t.err == nil {
		return t.choose(t.truth(x), x, f.other)
	}
	return x
}

// value returns the value, or the other where it is undefined.
func (f fallback) value() Value {
	name, ok := f.of.(jinja.Name)
	if !ok {
		x := f.t.value(f.of)
		switch f.of.(type) {
		case jinja.Attr, jinja.Index:
			if x.attrs == nil {
				return call(Unknown, "try", x.Code, f.other.Code)
			}
		}
		return x
	}
	v := f.t.lookup(name.Name, true)
	if !v.optional || f.falsy { // what is undefined is null then, which is false too
		return v
	}
	if known, ok := f.t.names.Default(v.name, f.other.Code); ok {
		return known
	}
	item := f.t.scopes.newName("v")
	return Code("[for "+item+" in ["+v.Code+", "+f.other.Code+"] : "+item+" if "+item+" != null][0]", Unknown)
}
