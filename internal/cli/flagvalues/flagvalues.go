package flagvalues

import "deployster/config"

// Variables collects -var or -var-file. Both collect into one list, since of them the last counts.
type Variables struct {
	Into *[]config.VarFlag
	File bool // it is -var-file
}

func (l *Variables) Set(v string) error {
	*l.Into = append(*l.Into, config.VarFlag{File: l.File, Value: v})
	return nil
}

func (l *Variables) String() string { return "" }

// Words collects a flag that may be repeated. Commas are part of the words:
// keys of for_each have them.
type Words struct{ List []string }

func (l *Words) Set(word string) error {
	l.List = append(l.List, word)
	return nil
}

func (l *Words) String() string { return "" }
