package cli

import (
	"github.com/urfave/cli/v2"

	"deployster/config"
)

// varFlags makes the flags -var and -var-file of one command. They share a
// list, since the later one on the command line wins, whichever it is.
func varFlags() []cli.Flag {
	list := &varList{}
	return []cli.Flag{
		&cli.GenericFlag{Name: "var", Usage: "`NAME=VALUE` of a variable; may be repeated", Value: list},
		&cli.GenericFlag{Name: "var-file", Usage: "`FILE` with values of variables; may be repeated", Value: &varFiles{list}},
	}
}

// varList collects -var.
type varList struct{ flags []config.VarFlag }

func (l *varList) Set(v string) error {
	l.flags = append(l.flags, config.VarFlag{Value: v})
	return nil
}

func (l *varList) String() string { return "" }

// varFiles collects -var-file into the same list.
type varFiles struct{ list *varList }

func (f *varFiles) Set(v string) error {
	f.list.flags = append(f.list.flags, config.VarFlag{File: true, Value: v})
	return nil
}

func (f *varFiles) String() string { return "" }
