package limits

import (
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// YAML checks the nesting, the numbers and the size of a YAML document, including what its
// aliases expand to: nested aliases multiply, and the library that converts it to values
// has no limit of its own. Text that is not YAML passes, because the library reports that.
func YAML(text string) error {
	if d := JSON([]byte(text), ""); d != nil { // brackets and numbers are as in JSON
		return errors.New(d.Detail)
	}
	if n := strings.Count(text, "\n") + strings.Count(text, "- ") + strings.Count(text, "? "); n > Tokens {
		return fmt.Errorf("it has more than %d lines and items", Tokens)
	}
	for line := range strings.Lines(text) {
		if opened(line) > Depth || strings.HasPrefix(line, strings.Repeat(" ", 8*Depth)) {
			return fmt.Errorf("it is nested deeper than %d levels", Depth)
		}
	}
	var root yaml.Node
	if yaml.Unmarshal([]byte(text), &root) != nil {
		return nil
	}
	c := yamlCount{known: map[*yaml.Node]yamlSize{}}
	_, err := c.size(&root, 0)
	return err
}

// opened returns how many lists and mappings a line begins: "- - ? " begins three.
func opened(line string) int {
	n := 0
	for {
		line = strings.TrimLeft(line, " \t")
		if len(line) < 2 || line[0] != '-' && line[0] != '?' || line[1] != ' ' && line[1] != '\t' {
			return n
		}
		line = line[1:]
		n++
	}
}

// yamlSize is the size of a node as a value.
type yamlSize struct{ elements, text int }

// yamlCount adds up sizes, and visits each node once.
type yamlCount struct {
	known map[*yaml.Node]yamlSize // the sizes of nodes with an anchor
}

func (c yamlCount) size(n *yaml.Node, depth int) (yamlSize, error) {
	if depth > Depth {
		return yamlSize{}, fmt.Errorf("it is nested deeper than %d levels", Depth)
	}
	if n.Kind == yaml.AliasNode {
		return c.known[n.Alias], nil // unknown so far: it contains itself, which is an error of its own
	}
	sum := yamlSize{elements: 1, text: len(n.Value)}
	for _, child := range n.Content {
		s, err := c.size(child, depth+1)
		if err != nil {
			return sum, err
		}
		sum.elements, sum.text = sum.elements+s.elements, sum.text+s.text
		if sum.elements > Elements || sum.text > Text {
			return sum, fmt.Errorf("it has, through aliases too, more than %d elements or %d bytes of text", Elements, Text)
		}
	}
	if n.Anchor != "" {
		c.known[n] = sum
	}
	return sum, nil
}
