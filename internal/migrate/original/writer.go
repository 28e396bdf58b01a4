package original

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclwrite"

	"deployster/internal/migrate/expressions"
	"deployster/internal/migrate/jinja"
)

// writer writes HCL.
type writer struct {
	*migration
	out     strings.Builder
	aliases map[string]string
	refused map[*node]string // values that have no counterpart, and why
}

func (w *writer) String() string { return w.out.String() }

func (w *writer) line(text string) { w.out.WriteString(text + "\n") }

// comment writes a comment of YAML, which begins with # in each line.
func (w *writer) comment(comment string) {
	for line := range strings.Lines(comment) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "#") {
			w.line(line)
		}
	}
}

// unsupported makes a value one without a counterpart.
func (w *writer) unsupported(n *node, reason string) {
	if w.refused == nil {
		w.refused = map[*node]string{}
	}
	w.refused[n] = reason
}

// attribute writes NAME = VALUE.
func (w *writer) attribute(name string, n *node) {
	above, value := w.value(n)
	w.out.WriteString(above)
	w.line(name + " = " + value)
}

// value returns a value in HCL, and comments to be written above it.
func (w *writer) value(n *node) (above, value string) {
	above = comments(n.comment)
	switch n.kind {
	case text:
		if strings.Count(n.value, "\n") > 1 && !jinja.IsTemplate(n.value) && w.refused[n] == "" {
			if doc, ok := heredoc(n.value); ok {
				return above, doc
			}
		}
		code, remark := w.expression(n)
		return above + remark, code
	case list:
		return above, w.list(n)
	case object:
		if len(n.items) == 0 {
			return above, "{}"
		}
		inner := &writer{migration: w.migration, aliases: w.aliases, refused: w.refused}
		inner.line("{")
		for i, k := range n.keys {
			inner.comment(k.comment)
			inner.attribute(expressions.Key(k.name), n.items[i])
		}
		return above, inner.String() + "}"
	}
	return above, n.value
}

func (w *writer) list(n *node) string {
	short, simple := make([]string, len(n.items)), true
	var long strings.Builder
	for i, item := range n.items {
		above, value := w.value(item)
		simple = simple && above == "" && !strings.Contains(value, "\n")
		short[i] = value
		if strings.HasPrefix(value, "<<") {
			long.WriteString(above + value + "\n,\n")
			continue
		}
		long.WriteString(above + value + ",\n")
	}
	if line := "[" + strings.Join(short, ", ") + "]"; simple && len(line) < 80 {
		return line
	}
	return "[\n" + long.String() + "]"
}

func comments(comment string) string {
	w := &writer{}
	w.comment(comment)
	return w.String()
}

// heredoc writes a text of several lines that ends in a newline.
func heredoc(text string) (string, bool) {
	if !strings.HasSuffix(text, "\n") || strings.ContainsFunc(text, func(c rune) bool { return c < ' ' && c != '\n' && c != '\t' }) ||
		strings.Contains(text, "EOT") || strings.Contains(text, "${") || strings.Contains(text, "%{") {
		return "", false
	}
	return "<<EOT\n" + text + "EOT", true
}

// expression returns a text in HCL. Where it has no counterpart, a variable without a value stands in its place.
func (w *writer) expression(n *node) (code, remark string) {
	found, err := expressions.Translate(n.value, place{w.migration, n, w.aliases})
	if reason := w.refused[n]; reason != "" {
		err = fmt.Errorf("%s", reason)
	}
	if err == nil {
		w.falsy = w.falsy || found.Falsy
		return found.Code, ""
	}
	w.open = append(w.open, opened{n.at(), n.value, err.Error()})
	var out strings.Builder
	fmt.Fprintf(&out, "# %s: %s\n# The original has:\n", n.at(), oneLine(err.Error()))
	for line := range strings.Lines(n.value) {
		out.WriteString("#   " + oneLine(strings.TrimRight(line, "\n")) + "\n")
	}
	return fmt.Sprintf("var.untranslated_%d", len(w.open)), out.String()
}

// oneLine makes a text part of a comment.
func oneLine(text string) string {
	return strings.Map(func(c rune) rune {
		if c < ' ' || c == 0x7f || c == 0x2028 || c == 0x2029 {
			return ' '
		}
		return c
	}, text)
}

// constant reports whether code in HCL is a constant.
func constant(code string) bool {
	return !strings.ContainsAny(code, "(") && !strings.Contains(code, "${") && !strings.Contains(code, "%{") &&
		!strings.Contains(code, "var.") && !strings.Contains(code, "local.") && !strings.Contains(code, "dep.") &&
		!strings.Contains(code, "deployster.") && !strings.Contains(code, "?")
}

func format(text string) []byte { return hclwrite.Format([]byte(text)) }

// types are the types of variables whose values have one in HCL.
var types = map[kind]string{boolean: "bool", integer: "number", float: "number", text: "string"}

// declarations writes the variables and the local values.
func (m *migration) declarations() string {
	w, locals := &writer{migration: m}, &writer{migration: m}
	values := map[*variable]string{}
	for _, v := range slices.Backward(m.order) { // a value may use earlier ones
		if v.local && (v.used || m.variables[v.of] == v) {
			_, values[v] = (&writer{migration: m}).value(v.value)
		}
	}
	for _, v := range m.order {
		if !v.local {
			m.declare(w, v.name, types[v.value.kind], v.value)
		} else if values[v] != "" {
			locals.line(v.name + " = " + values[v])
		}
	}
	for _, name := range expressions.Sorted(m.unset) {
		m.declareUnset(w, name)
	}
	for i, o := range m.open {
		w.line(fmt.Sprintf("variable \"untranslated_%d\" {", i+1))
		w.line("description = " + expressions.Quote("in the place of what has no counterpart at "+o.at+": "+oneLine(o.text)).Code)
		w.line("}\n")
	}
	if m.falsy {
		locals.line("# What is false in Jinja2, as JSON.")
		locals.line("false_values = " + expressions.FalseValues)
	}
	if text := locals.String(); text != "" {
		w.line("locals {\n" + text + "}")
	}
	if w.out.Len() == 0 {
		return ""
	}
	return strings.TrimRight(w.String(), "\n") + "\n"
}

func (m *migration) declare(w *writer, name, typ string, value *node) {
	w.line("variable " + expressions.Quote(name).Code + " {")
	if typ != "" {
		w.line("type = " + typ)
	}
	w.attribute("default", value)
	w.line("}\n")
}

// declareUnset writes a variable that has no value in a file.
func (m *migration) declareUnset(w *writer, name string) {
	u, before := m.unset[name], m.before[name]
	w.line("variable " + expressions.Quote(m.variableName(name)).Code + " {")
	switch {
	case before != nil && !before.plain && len(before.defaults) == 1 && constant(expressions.Sorted(before.defaults)[0]):
		w.line("default = " + expressions.Sorted(before.defaults)[0])
	case u.guarded:
		w.line("default = null")
	}
	w.line("}\n")
}
