package source

import (
	"bytes"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	ctyyaml "github.com/zclconf/go-cty-yaml"
	"github.com/zclconf/go-cty/cty"
	"go.yaml.in/yaml/v3"

	"deployster/config/limits"
)

// yamlVars parses a variable file in YAML. It takes the values from cty's YAML
// library, and their places from another library, because cty's has none.
func yamlVars(data []byte, shown string) ([]VarInput, hcl.Diagnostics) {
	fail := func(at hcl.Range, detail string, args ...any) ([]VarInput, hcl.Diagnostics) {
		return nil, hcl.Diagnostics{Failure(at, "Not a variable file", detail, args...)}
	}
	value, err := decodeYAML(data)
	if err != nil {
		at, why := yamlError(data, shown, err)
		return fail(at, "It is not YAML that can be used: %s.", why)
	}
	if value.IsNull() {
		return nil, nil // an empty file
	}
	var root yaml.Node
	if err := yaml.Unmarshal(data, &root); err != nil || len(root.Content) != 1 || !value.Type().IsObjectType() {
		return fail(fileStart(shown), "A YAML variable file has lines NAME: VALUE.")
	}
	members := root.Content[0]
	if twice := yamlTwice(members); twice != nil {
		return fail(yamlRange(data, shown, twice), "The key %q is given twice.", twice.Value)
	}
	var out []VarInput
	for i := 0; i+1 < len(members.Content); i += 2 {
		key, node := members.Content[i], members.Content[i+1]
		attr := yamlName(value.Type(), key.Value)
		if attr == "" {
			continue // a merge key, <<, whose names are elsewhere
		}
		in := fileVar(key.Value, value.GetAttr(attr), data, yamlRange(data, shown, key))
		in.within = func(steps []string) hcl.Range { return yamlRange(data, shown, yamlPart(node, steps)) }
		out = append(out, in)
	}
	for _, name := range slices.Sorted(maps.Keys(value.Type().AttributeTypes())) {
		if !yamlHas(value.Type(), members, name) {
			out = append(out, fileVar(name, value.GetAttr(name), data, yamlRange(data, shown, members)))
		}
	}
	return out, nil
}

// decodeYAML decodes YAML that is within the limits.
func decodeYAML(data []byte) (cty.Value, error) {
	if err := limits.YAML(string(data)); err != nil {
		return cty.NilVal, err
	}
	typ, err := ctyyaml.ImpliedType(data)
	if err != nil {
		return cty.NilVal, err
	}
	return ctyyaml.Unmarshal(data, typ)
}

// yamlError returns the place of an error, and its text without the place. The
// library counts lines from 1 in errors about characters, from 0 in others.
func yamlError(data []byte, shown string, err error) (hcl.Range, string) {
	var e ctyyaml.Error
	if !errors.As(err, &e) {
		if _, name, ok := strings.Cut(err.Error(), "undefined anchor "); ok {
			if i := bytes.Index(data, []byte("*"+strings.Trim(name, `"`))); i >= 0 {
				return rangeAt(data, shown, i, i), err.Error()
			}
		}
		return fileStart(shown), err.Error()
	}
	why := e.Cause().Error()
	line, column := e.Line, 1
	for _, start := range []string{"found ", "could not find ", "mapping ", "block sequence entries "} {
		if strings.HasPrefix(why, start) {
			return yamlPlace(data, shown, line, column, 0), why
		}
	}
	return yamlPlace(data, shown, line+1, e.Column, 0), why
}

// yamlTwice returns a key that occurs twice in one mapping, nil if there is none.
func yamlTwice(n *yaml.Node) *yaml.Node {
	seen := map[string]bool{}
	for i, child := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 {
			if seen[child.Value] && child.Kind == yaml.ScalarNode {
				return child
			}
			seen[child.Value] = true
		}
		if twice := yamlTwice(child); twice != nil {
			return twice
		}
	}
	return nil
}

// yamlName returns the library's name of a key, "" if it has none. The library takes
// words such as y and off for true and false, which they are not as names.
func yamlName(object cty.Type, key string) string {
	word := ""
	switch strings.ToLower(key) {
	case "y", "yes", "on":
		word = "true"
	case "n", "no", "off":
		word = "false"
	}
	switch {
	case object.HasAttribute(key):
		return key
	case word != "" && object.HasAttribute(word):
		return word
	}
	return ""
}

func yamlHas(object cty.Type, mapping *yaml.Node, name string) bool {
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if yamlName(object, mapping.Content[i].Value) == name {
			return true
		}
	}
	return false
}

// yamlPart follows steps into a value, as far as they exist.
func yamlPart(n *yaml.Node, steps []string) *yaml.Node {
	for _, step := range steps {
		next := (*yaml.Node)(nil)
		if n.Kind == yaml.AliasNode {
			n = n.Alias
		}
		for i := range n.Content {
			switch {
			case n.Kind == yaml.MappingNode && i%2 == 1 && n.Content[i-1].Value == step,
				n.Kind == yaml.SequenceNode && strconv.Itoa(i) == step:
				next = n.Content[i]
			}
		}
		if next == nil {
			break
		}
		n = next
	}
	return n
}

// yamlRange returns the range of a node: its beginning, with the width of a scalar on one line.
func yamlRange(data []byte, shown string, n *yaml.Node) hcl.Range {
	width := 0
	if n.Kind == yaml.ScalarNode && !strings.Contains(n.Value, "\n") {
		width = len(n.Value)
		if n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0 {
			width += 2
		}
	}
	return yamlPlace(data, shown, n.Line, n.Column, width)
}

// yamlPlace returns the range at a line, a column in characters, and a width in
// bytes, cut off at the end of the line.
func yamlPlace(data []byte, shown string, line, column, width int) hcl.Range {
	start := 0
	for range line - 1 {
		i := bytes.IndexByte(data[start:], '\n')
		if i < 0 {
			break
		}
		start += i + 1
	}
	end := len(data)
	if i := bytes.IndexByte(data[start:], '\n'); i >= 0 {
		end = start + i
	}
	for ; column > 1 && start < end; column-- {
		_, size := utf8.DecodeRune(data[start:end])
		start += size
	}
	return rangeAt(data, shown, start, min(start+width, end))
}
