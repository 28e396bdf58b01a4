package flagvalues

import "deployster/config"

// Variables collects -var.
type Variables struct{ Flags []config.VarFlag }

func (l *Variables) Set(v string) error {
	l.Flags = append(l.Flags, config.VarFlag{Value: v})
	return nil
}

func (l *Variables) String() string { return "" }

// VariableFiles collects -var-file into the same list.
type VariableFiles struct{ List *Variables }

func (f *VariableFiles) Set(v string) error {
	f.List.Flags = append(f.List.Flags, config.VarFlag{File: true, Value: v})
	return nil
}

func (f *VariableFiles) String() string { return "" }

// Words collects a flag that may be repeated. Commas are part of the words:
// keys of for_each have them.
type Words struct{ List []string }

func (l *Words) Set(word string) error {
	l.List = append(l.List, word)
	return nil
}

func (l *Words) String() string { return "" }
