package original

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"deployster/internal/base/diag"
)

// node is a value of a file, with its place.
type node struct {
	file    string
	line    int
	kind    kind
	value   string // of a scalar; of a number, in HCL
	items   []*node
	keys    []key // of an object, one for each item
	comment string
	scope   *scope // the variables that its expressions may use; nil: all
}

type key struct {
	name    string
	line    int
	comment string // above it
}

func (n *node) at() string { return fmt.Sprintf("%s:%d", n.file, n.line) }

// get returns the value of a key of an object; nil if there is none.
func (n *node) get(name string) *node {
	for i, k := range n.keys {
		if k.name == name {
			return n.items[i]
		}
	}
	return nil
}

// comments returns the comment above a key.
func (n *node) comments(name string) string {
	for _, k := range n.keys {
		if k.name == name {
			return k.comment
		}
	}
	return ""
}

// most limits how many values a file has with its aliases, and how deep they are.
const (
	most    = 100_000
	deepest = 100
)

// document reads a file.
type document struct {
	file  string
	count int
	open  map[*yaml.Node]bool // aliases that are being followed
}

// parse returns the content of a file; nil if it has none.
func parse(f File) (*node, error) {
	decoder := yaml.NewDecoder(strings.NewReader(string(f.Bytes)))
	var first, second yaml.Node
	if err := decoder.Decode(&first); err != nil {
		if err.Error() == "EOF" {
			return nil, nil //nolint:nilnil // an empty file has no content
		}
		return nil, malformed(f, err)
	}
	if err := decoder.Decode(&second); err == nil || err.Error() != "EOF" {
		if err != nil {
			return nil, malformed(f, err)
		}
		return nil, invalid(f.Name, second.Line, "a second document begins here: put it in a file of its own")
	}
	if first.Kind == 0 || len(first.Content) == 0 {
		return nil, nil //nolint:nilnil // an empty file has no content
	}
	d := &document{file: f.Name, open: map[*yaml.Node]bool{}}
	return d.node(first.Content[0], 0)
}

// bare matches a line with an expression that has no quotes.
var bare = regexp.MustCompile(`^\s*(?:-\s+)*(?:[^\s'"#][^'"#]*:\s+)?\{\{`)

var lineOf = regexp.MustCompile(`line (\d+): `)

// malformed returns the error for what is not valid YAML.
func malformed(f File, err error) error {
	text, line := strings.TrimPrefix(err.Error(), "yaml: "), 1
	if found := lineOf.FindStringSubmatch(text); found != nil {
		if n, err := strconv.Atoi(found[1]); err == nil {
			line = n
		}
		text = strings.Replace(text, found[0], "", 1)
	}
	number := 0
	for row := range strings.Lines(string(f.Bytes)) {
		if number++; bare.MatchString(row) {
			return unquoted(f.Name, number)
		}
	}
	return invalid(f.Name, line, "%s", text)
}

func unquoted(file string, line int) error {
	return invalid(file, line, "an expression has to be in quotes, as in '{{ NAME }}': without them YAML reads {{ as an object")
}

// invalid returns the error for a file that is not valid.
func invalid(file string, line int, format string, args ...any) error {
	text := fmt.Sprintf(format, args...)
	if !strings.HasSuffix(text, "?") {
		text += "."
	}
	return diag.Errorf("A file is not valid", "%s:%d: %s Nothing was written.", file, line, text)
}

func (d *document) node(y *yaml.Node, depth int) (*node, error) {
	if d.count++; d.count > most || depth > deepest {
		return nil, invalid(d.file, y.Line, "the file has too many values, or they are nested too deep")
	}
	if y.Kind == yaml.AliasNode {
		if d.open[y.Alias] {
			return nil, invalid(d.file, y.Line, "the alias *%s is a part of itself", y.Value)
		}
		d.open[y.Alias] = true
		defer delete(d.open, y.Alias)
		n, err := d.node(y.Alias, depth+1)
		if n != nil {
			n.line = y.Line
		}
		return n, err
	}
	n := &node{file: d.file, line: y.Line, comment: y.LineComment}
	switch y.Kind {
	case yaml.ScalarNode:
		problem := ""
		if n.kind, n.value, problem = scalar(y); problem != "" {
			return nil, invalid(d.file, y.Line, "%s", problem)
		}
		return n, nil
	case yaml.SequenceNode:
		n.kind = list
		for _, item := range y.Content {
			value, err := d.node(item, depth+1)
			if err != nil {
				return nil, err
			}
			n.items = append(n.items, value)
		}
		return n, nil
	}
	n.kind = object
	return n, d.object(n, y, depth)
}

// object reads the keys and the values of an object.
func (d *document) object(n *node, y *yaml.Node, depth int) error {
	var merged []*node
	for i := 0; i+1 < len(y.Content); i += 2 {
		k := y.Content[i]
		if k.Kind == yaml.MappingNode && y.Style&yaml.FlowStyle != 0 {
			return unquoted(d.file, y.Line)
		}
		value, err := d.node(y.Content[i+1], depth+1)
		if err != nil {
			return err
		}
		if k.Kind == yaml.ScalarNode && k.Value == "<<" && k.Style == 0 {
			if value.kind == list {
				merged = append(merged, value.items...)
			} else {
				merged = append(merged, value)
			}
			continue
		}
		if k.Kind == yaml.AliasNode {
			k = k.Alias
		}
		name, problem := keyName(k)
		if problem != "" {
			return invalid(d.file, k.Line, "%s", problem)
		}
		if n.get(name) != nil {
			return invalid(d.file, k.Line, "the key %s is declared twice: the original takes the last one", diag.Visible(name))
		}
		n.keys, n.items = append(n.keys, key{name, k.Line, k.HeadComment}), append(n.items, value)
		if value.comment == "" {
			value.comment = k.LineComment
		}
	}
	for _, from := range merged {
		if from.kind != object {
			return invalid(d.file, y.Line, "<< takes an object")
		}
		for i, k := range from.keys {
			if n.get(k.name) == nil {
				n.keys, n.items = append(n.keys, k), append(n.items, from.items[i])
			}
		}
	}
	return nil
}

// keyName returns the key of an object, as it is in JSON.
func keyName(k *yaml.Node) (name, problem string) {
	if k.Kind != yaml.ScalarNode {
		return "", "a key has to be a text"
	}
	kind, value, problem := scalar(k)
	if kind == float && problem == "" {
		problem = "a float is not a key: put it in quotes"
	}
	return value, problem
}
