package cli

import (
	"github.com/urfave/cli/v2"

	"deployster/plan"
)

// selectionFlags limit what a plan is about.
func selectionFlags() []cli.Flag {
	return []cli.Flag{
		&cli.GenericFlag{Name: "target", Value: &wordList{}, Usage: "only the resource, instance or module `ADDRESS`, with all that must be done before it; may be repeated"},
		&cli.GenericFlag{Name: "exclude", Value: &wordList{}, Usage: "everything but `ADDRESS` and what waits for it; may be repeated"},
	}
}

// refreshFlags say what is asked of what is there, and done to it.
func refreshFlags() []cli.Flag {
	return []cli.Flag{
		&cli.GenericFlag{Name: "replace", Value: &wordList{}, Usage: "destroy `ADDRESS` and make it again; may be repeated"},
		&cli.BoolFlag{Name: "refresh", Value: true, Usage: "-refresh=false: use what was recorded, ask only what the manifest changed"},
		&cli.BoolFlag{Name: "refresh-only", Usage: "record what is there, and do nothing to it"},
	}
}

// wordList collects a flag that may be repeated. Commas are part of the words:
// keys of for_each have them.
type wordList struct{ words []string }

func (l *wordList) Set(word string) error {
	l.words = append(l.words, word)
	return nil
}

func (l *wordList) String() string { return "" }

// wordsOf returns the values of such a flag.
func wordsOf(c *cli.Context, name string) []string {
	if list, ok := c.Generic(name).(*wordList); ok {
		return list.words
	}
	return nil
}

// selectionOf reads the flags. A command that has only some of them has the
// others as if they were not given.
func selectionOf(c *cli.Context) plan.Selection {
	return plan.Selection{Targets: wordsOf(c, "target"), Excludes: wordsOf(c, "exclude"), Replace: wordsOf(c, "replace"),
		NoRefresh: c.IsSet("refresh") && !c.Bool("refresh"), RefreshOnly: c.Bool("refresh-only")}
}
