package tffiles

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// Native converts a file in JSON to native syntax. Each key stays on its line, as far as
// there is room, so that errors can name lines.
func Native(text []byte) (out []byte, err error) {
	n := &nativeWriter{text: text, dec: json.NewDecoder(bytes.NewReader(text)), line: 1}
	n.dec.UseNumber()
	err = n.members(func(key string) error {
		labels, known := topLabels[key]
		if key == "//" || !known {
			if !known && key != "//" {
				return fmt.Errorf("line %d: there is no %s block here", n.now(), key)
			}
			return n.skip()
		}
		return n.blocks(key, labels, nil)
	})
	if err == nil && n.dec.More() {
		err = fmt.Errorf("line %d: text follows its end", n.now())
	}
	return n.out.Bytes(), err
}

// topLabels are the block types of a file, with their numbers of labels.
var topLabels = map[string]int{"terraform": 0, "provider": 1, "variable": 1, "locals": 0, "output": 1, "resource": 2, "data": 2,
	"module": 1, "moved": 0, "removed": 0, "import": 0, "check": 1, "ephemeral": 2}

// innerLabels are the nested block types that Terraform itself reads, by the type of the
// enclosing block. Blocks of providers are written as values, as the new manifests have them.
var innerLabels = map[string]map[string]int{
	"terraform": {"required_providers": 0, "backend": 1, "cloud": 0, "provider_meta": 1},
	"variable":  {"validation": 0},
	"output":    {"precondition": 0},
	"check":     {"assert": 0, "data": 2},
	"resource":  {"lifecycle": 0, "provisioner": 1, "connection": 0, "dynamic": 1},
	"data":      {"lifecycle": 0, "dynamic": 1},
	"removed":   {"lifecycle": 0},
	"lifecycle": {"precondition": 0, "postcondition": 0},
	"dynamic":   {"content": 0},
	"content":   {"dynamic": 1},
}

// references are the arguments whose strings are references or types, not templates.
var references = map[string][]string{
	"resource": {"provider", "depends_on"}, "data": {"provider", "depends_on"}, "module": {"providers", "depends_on"},
	"output":   {"depends_on"},
	"variable": {"type"}, "lifecycle": {"ignore_changes", "replace_triggered_by"}, "moved": {"from", "to"}, "removed": {"from"},
	"import": {"to"}, "dynamic": {"iterator"},
}

// nativeWriter reads JSON and writes HCL.
type nativeWriter struct {
	text []byte
	dec  *json.Decoder
	out  bytes.Buffer
	line int // the line that is being written
}

// now returns the line that is being read.
func (n *nativeWriter) now() int { return 1 + bytes.Count(n.text[:n.dec.InputOffset()], []byte("\n")) }

func (n *nativeWriter) write(text string) {
	n.out.WriteString(text)
	n.line += strings.Count(text, "\n")
}

// begin writes newlines up to the line that is being read.
func (n *nativeWriter) begin() {
	for n.line < n.now() {
		n.write("\n")
	}
}

// members reads an object and calls visit for each member.
func (n *nativeWriter) members(visit func(key string) error) error {
	if t, err := n.dec.Token(); err != nil || t != json.Delim('{') {
		return n.unexpected("an object", err)
	}
	for n.dec.More() {
		t, err := n.dec.Token()
		if err != nil {
			return n.unexpected("a name", err)
		}
		if err := visit(t.(string)); err != nil { // a key is always a string
			return err
		}
	}
	return n.end()
}

// end reads the end of an object or a list.
func (n *nativeWriter) end() error {
	if _, err := n.dec.Token(); err != nil {
		return n.unexpected("an end", err)
	}
	return nil
}

func (n *nativeWriter) unexpected(what string, err error) error {
	if err != nil {
		return fmt.Errorf("line %d: %w", n.now(), err)
	}
	return fmt.Errorf("line %d: %s was expected", n.now(), what)
}

func (n *nativeWriter) skip() error {
	var unused json.RawMessage
	return n.dec.Decode(&unused)
}

// blocks writes the blocks of one type; their labels are the enclosing keys.
func (n *nativeWriter) blocks(kind string, more int, labels []string) error {
	if more > 0 {
		return n.each(func() error {
			return n.members(func(label string) error { return n.blocks(kind, more-1, append(slices.Clone(labels), label)) })
		})
	}
	return n.each(func() error {
		n.begin()
		n.write(kind)
		for _, l := range labels {
			n.write(" " + quoted(l))
		}
		n.write(" {\n")
		if err := n.members(func(key string) error { return n.member(kind, key) }); err != nil {
			return err
		}
		n.write("}\n")
		return nil
	})
}

// each calls do once, or for each element if the next value is a list.
func (n *nativeWriter) each(do func() error) error {
	rest := bytes.TrimLeft(n.text[n.dec.InputOffset():], " \t\r\n:,")
	if !bytes.HasPrefix(rest, []byte("[")) {
		return do()
	}
	if _, err := n.dec.Token(); err != nil {
		return n.unexpected("a list", err)
	}
	for n.dec.More() {
		if err := do(); err != nil {
			return err
		}
	}
	return n.end()
}

// member writes a member of a block.
func (n *nativeWriter) member(kind, key string) error {
	if labels, is := innerLabels[kind][key]; is {
		return n.blocks(key, labels, nil)
	}
	n.begin()
	var value any
	if err := n.dec.Decode(&value); err != nil {
		return n.unexpected("a value", err)
	}
	if key == "//" {
		return nil
	}
	text, err := n.value(value, slices.Contains(references[kind], key))
	if err != nil {
		return err
	}
	n.write(key + " = " + text + "\n")
	return nil
}

// value returns a value in native syntax; with names, strings are written without quotes.
func (n *nativeWriter) value(v any, names bool) (string, error) {
	switch x := v.(type) {
	case string:
		if names {
			return x, nil
		}
		text, err := template(x)
		if err != nil {
			err = fmt.Errorf("line %d: %w", n.now(), err)
		}
		return text, err
	case []any:
		parts := make([]string, len(x))
		for i := range x {
			var err error
			if parts[i], err = n.value(x[i], names); err != nil {
				return "", err
			}
		}
		return "[" + strings.Join(parts, ", ") + "]", nil
	case map[string]any:
		var parts []string
		for _, name := range slices.Sorted(maps.Keys(x)) {
			key := name
			if !names && (name == "for" || !hclsyntax.ValidIdentifier(name)) {
				var err error
				if key, err = template(name); err != nil {
					return "", err
				}
			}
			inner, err := n.value(x[name], names)
			if err != nil {
				return "", err
			}
			parts = append(parts, key+" = "+inner)
		}
		return "{ " + strings.Join(parts, ", ") + " }", nil
	case nil:
		return "null", nil
	}
	return fmt.Sprint(v), nil
}

// template returns a template in native syntax: if it is only one ${ }, as that expression.
func template(text string) (string, error) {
	x, diags := hclsyntax.ParseTemplate([]byte(text), "", hcl.InitialPos)
	if diags.HasErrors() {
		return "", diags
	}
	if wrap, ok := x.(*hclsyntax.TemplateWrapExpr); ok {
		r := wrap.Wrapped.Range()
		return "(" + text[r.Start.Byte:r.End.Byte] + ")", nil
	}
	tokens, diags := hclsyntax.LexTemplate([]byte(text), "", hcl.InitialPos)
	if diags.HasErrors() {
		return "", diags
	}
	var b strings.Builder
	at, depth := 0, 0
	for _, t := range tokens {
		from, to := t.Range.Start.Byte, t.Range.End.Byte
		b.WriteString(text[at:from])
		switch t.Type {
		case hclsyntax.TokenTemplateInterp, hclsyntax.TokenTemplateControl:
			depth++
		case hclsyntax.TokenTemplateSeqEnd:
			depth--
		}
		if t.Type == hclsyntax.TokenStringLit && depth == 0 {
			b.WriteString(escaped(text[from:to]))
		} else {
			b.WriteString(text[from:to])
		}
		at = to
	}
	return `"` + b.String() + text[at:] + `"`, nil
}

// quoted returns a text as a label.
func quoted(text string) string { return `"` + escaped(text) + `"` }

func escaped(text string) string {
	return strings.NewReplacer("\\", "\\\\", `"`, `\"`, "\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(text)
}
