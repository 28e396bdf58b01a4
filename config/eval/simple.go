package eval

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"deployster/config/instance"
	"deployster/config/refs"
	"deployster/config/values"
	"deployster/internal/base/jsondoc"
)

// simpleWriter encodes a simple config directly as JSON. Its references are to simple
// variables, local values and single attributes of states, as in most configs. The
// values and contexts that hcl would evaluate take twenty times as long. It gives up if
// the result might differ, above all on an error: the evaluator then reports the error.
type simpleWriter struct {
	m     *Modules
	i     *instance.Instance
	scope instance.States

	out     bytes.Buffer
	text    int      // bytes
	at      []string // the path of the current value
	unknown map[string]string
}

// Simple evaluates a config if it is simple, and reports whether it is.
func (m *Modules) Simple(i *instance.Instance, s instance.States) (instance.Resolved, bool) {
	object := m.simpleConfig(i)
	if object == nil {
		return instance.Resolved{}, false
	}
	p := simpleWriter{m: m, i: i, scope: s, unknown: map[string]string{}}
	if !p.object(object) {
		return instance.Resolved{}, false
	}
	return instance.Resolved{Value: p.out.Bytes(), Unknown: p.unknown}, true
}

// write encodes the value of an expression.
func (p *simpleWriter) write(expr hclsyntax.Expression) bool {
	switch x := expr.(type) {
	case *hclsyntax.ObjectConsExpr:
		return p.object(x)
	case *hclsyntax.TupleConsExpr:
		p.out.WriteByte('[')
		for n, item := range x.Exprs {
			if n > 0 {
				p.out.WriteByte(',')
			}
			if !p.inner(strconv.Itoa(n), item) {
				return false
			}
		}
		p.out.WriteByte(']')
		return true
	}
	v, ok := p.simple(expr)
	if !ok {
		return false
	}
	switch {
	case v.unknown != "":
		p.unknown[jsondoc.JoinPointer(p.at)] = v.unknown
		p.out.WriteString(`{"` + values.UnknownKey + `":`)
		p.quoted(v.unknown)
		p.out.WriteByte('}')
	case v.quoted:
		p.quoted(v.text)
	default:
		p.out.WriteString(v.text)
	}
	return true
}

func (p *simpleWriter) quoted(text string) {
	p.out.Write(jsondoc.AppendText(p.out.AvailableBuffer(), text))
}

func (p *simpleWriter) inner(name string, expr hclsyntax.Expression) bool {
	p.at = append(p.at, name)
	ok := p.write(expr)
	p.at = p.at[:len(p.at)-1]
	return ok
}

// object encodes an object, its keys sorted.
func (p *simpleWriter) object(x *hclsyntax.ObjectConsExpr) bool {
	type member struct {
		key   string
		value hclsyntax.Expression
	}
	var few [8]member
	members := few[:0]
	for _, item := range x.Items {
		key := item.KeyExpr.(*hclsyntax.ObjectConsKeyExpr) // the key is a name, because the config is simple
		members = append(members, member{hcl.ExprAsKeyword(key.Wrapped), item.ValueExpr})
	}
	slices.SortFunc(members, func(a, b member) int { return strings.Compare(a.key, b.key) })
	p.out.WriteByte('{')
	for n, m := range members {
		if n > 0 {
			if m.key == members[n-1].key {
				return false // hcl decides which one counts
			}
			p.out.WriteByte(',')
		}
		p.quoted(m.key)
		p.out.WriteByte(':')
		if !p.inner(m.key, m.value) {
			return false
		}
	}
	p.out.WriteByte('}')
	return true
}

// simpleValue is a text to be quoted, a number, true or false; or a reference to an
// unknown value.
type simpleValue struct {
	text    string
	quoted  bool
	unknown string
}

// simple evaluates an expression without nested values.
func (p *simpleWriter) simple(expr hclsyntax.Expression) (v simpleValue, ok bool) {
	switch x := expr.(type) {
	case *hclsyntax.TemplateExpr:
		v, ok = p.template(x)
	case *hclsyntax.LiteralValueExpr:
		v, ok = simpleOf(x.Val)
	case *hclsyntax.ScopeTraversalExpr:
		v, ok = p.reference(x.Traversal)
	}
	p.text += len(v.text)
	return v, ok && p.text <= maxSimpleText && refs.IsASCII(v.text)
}

// template joins the parts of a template.
func (p *simpleWriter) template(x *hclsyntax.TemplateExpr) (v simpleValue, ok bool) {
	v.quoted = true
	for _, part := range x.Parts {
		if _, nested := part.(*hclsyntax.TemplateExpr); nested {
			return v, false
		}
		one, ok := p.simple(part)
		if !ok || one.unknown != "" {
			return v, false
		}
		v.text += one.text
	}
	return v, true
}

func simpleOf(v cty.Value) (simpleValue, bool) {
	if !refs.IsSimpleValue(v) {
		return simpleValue{}, false
	}
	switch v.Type() {
	case cty.String:
		return simpleValue{text: v.AsString(), quoted: true}, true
	case cty.Bool:
		return simpleValue{text: strconv.FormatBool(v.True())}, true
	}
	whole, _ := v.AsBigFloat().Int64()
	return simpleValue{text: strconv.FormatInt(whole, 10)}, true
}

// reference evaluates a reference to a variable or a local value, or to an attribute
// of the state of the only instance of a resource.
func (p *simpleWriter) reference(t hcl.Traversal) (simpleValue, bool) {
	if len(t) < 2 {
		return simpleValue{}, false
	}
	name, isAttr := t[1].(hcl.TraverseAttr)
	if !isAttr {
		return simpleValue{}, false
	}
	switch t.RootName() {
	case "var":
		if v, ok := p.i.Mod.Vars[name.Name]; ok && len(t) == 2 {
			return simpleOf(v.Value)
		}
	case "local":
		if v, ok := p.i.Mod.Locals[name.Name]; ok && len(t) == 2 {
			return simpleOf(v.Value)
		}
	case "resource":
		if of := onlyInstance(p.i.Mod, name.Name); of != nil && len(t) == 4 && refs.StepName(t, 2) == "state" {
			return p.state(of.Address, t[3])
		}
	}
	return simpleValue{}, false
}

// state evaluates one attribute of a state, as far as the state is known.
func (p *simpleWriter) state(address string, step hcl.Traverser) (simpleValue, bool) {
	attr, ok := step.(hcl.TraverseAttr)
	if !ok {
		return simpleValue{}, false
	}
	known := p.scope[address]
	if known.Known != nil {
		value, state := simpleMember(known, attr.Name)
		if state != memberMissing {
			return value, state == memberFound
		}
	}
	below, possible := p.m.types.Of(known.Schema).At(attr.Name)
	if !possible || below.Attrs != nil {
		return simpleValue{}, false
	}
	return simpleValue{unknown: instance.Reference(address) + ".state." + attr.Name}, true
}

// What a known state may hold for an attribute.
const (
	memberFound = iota
	memberMissing
	memberOther // its value is not simple
)

func simpleMember(known instance.ResourceState, name string) (v simpleValue, state int) {
	if len(known.Sensitive) > 0 || known.Expected || len(known.Unknown)+len(known.MayChange) > 0 {
		return v, memberOther
	}
	members, err := jsondoc.Object(known.Known)
	value, found := members[name]
	switch {
	case err != nil || !found && known.Complete:
		return v, memberOther // the evaluator reports the error
	case !found:
		return v, memberMissing
	case value[0] == '"':
		return simpleValue{text: jsondoc.Text(value), quoted: true}, memberFound
	case isSimpleNumber(value) || string(value) == "true" || string(value) == "false":
		return simpleValue{text: string(value)}, memberFound
	}
	return v, memberOther
}

// isSimpleNumber reports whether a JSON number is in the form in which it would be encoded again.
func isSimpleNumber(raw []byte) bool {
	digits := bytes.TrimPrefix(raw, []byte("-"))
	if len(digits) == 0 || len(digits) > 15 || len(digits) < len(raw) && digits[0] == '0' {
		return false
	}
	for _, c := range digits {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}
