package text

import (
	"regexp"
	"strconv"
	"strings"

	"deployster/protocol"
)

// Place is where new lines go, if they are not in the file yet.
type Place struct {
	After  string `json:"after,omitempty"`
	Before string `json:"before,omitempty"`
}

// placeDocs describe a place, with the other keys of a config.
func placeDocs(with map[string]string) map[string]string {
	docs := map[string]string{
		"path": "The absolute path of the file, which must exist; a link is followed.",
		"id":   "A name that distinguishes this resource from others of the same file.",
		"after": "A regular expression: a new entry goes after the last line that matches it. " +
			"Without after and before it goes to the end. An entry that is in the file stays where it is.",
		"before": "A regular expression: a new entry goes before the first line that matches it.",
		"validate": "A command that checks the new content of the file before it is visible, as a list of words; " +
			"%s stands for the path of the new file. If it fails, the file is unchanged.",
	}
	for name, doc := range with {
		docs[name] = doc
	}
	return docs
}

// pattern compiles a regular expression of the config.
func pattern(pointer, expression string) (*regexp.Regexp, error) {
	re, err := regexp.Compile(expression)
	if err != nil {
		return nil, protocol.Errorf(protocol.ConfigError, pointer, "%q is not a valid regular expression: %s", expression, err)
	}
	return re, nil
}

// check returns an error of the config.
func (p Place) check() error {
	if p.After != "" && p.Before != "" {
		return protocol.Errorf(protocol.ConfigError, "/before", "after and before exclude each other: give one of them")
	}
	_, err := pattern("/after", p.After)
	if err == nil {
		_, err = pattern("/before", p.Before)
	}
	return err
}

// in returns the number of the line before which new lines go.
func (p Place) in(d document) (int, error) {
	pointer, expression := "/after", p.After
	if p.Before != "" {
		pointer, expression = "/before", p.Before
	}
	if expression == "" {
		return len(d), nil
	}
	re, err := pattern(pointer, expression)
	if err != nil {
		return 0, err
	}
	at := d.find(re.MatchString)
	switch {
	case len(at) == 0:
		return 0, protocol.Errorf(protocol.ConfigError, pointer, "no line of the file matches %q, so there is no place for the new lines",
			expression)
	case pointer == "/before":
		return at[0], nil
	}
	return at[len(at)-1] + 1, nil
}

// numbered lists line numbers as people count them.
func numbered(at []int) string {
	var list []string
	for _, i := range at {
		list = append(list, strconv.Itoa(i+1))
	}
	return strings.Join(list, ", ")
}
