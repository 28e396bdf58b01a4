package cli

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"deployster/internal/base/diag"
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
		&cli.BoolFlag{Name: "refresh", Value: true, Usage: "-refresh=false: believe what was recorded, ask only what the manifest changed"},
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

// words gives the values of such a flag.
func words(c *cli.Context, name string) []string {
	if list, ok := c.Generic(name).(*wordList); ok {
		return list.words
	}
	return nil
}

// selectionOf reads the flags. A command that has only some of them has the
// others as if they were not given.
func selectionOf(c *cli.Context) plan.Selection {
	return plan.Selection{Targets: words(c, "target"), Excludes: words(c, "exclude"), Replace: words(c, "replace"),
		NoRefresh: c.IsSet("refresh") && !c.Bool("refresh"), RefreshOnly: c.Bool("refresh-only")}
}

// maxListed is how many addresses a sentence lists.
const maxListed = 10

// selectionHead says what a plan was limited to, before anything else.
func (p printer) selectionHead(pl *plan.Plan) {
	s := pl.Selection
	if s.IsZero() {
		return
	}
	var lines []string
	add := func(text string, args ...any) { lines = append(lines, fmt.Sprintf(text, args...)) }
	for _, addr := range s.Targets {
		add("-target=%s  only this, and what must be done before it", addr)
	}
	for _, addr := range s.Excludes {
		add("-exclude=%s  not this, nor what waits for it", addr)
	}
	for _, addr := range s.Replace {
		add("-replace=%s  destroyed, and made again", addr)
	}
	if s.NoRefresh {
		believed := 0
		for _, step := range pl.Resources {
			if step.Trusted {
				believed++
			}
		}
		add("-refresh=false  what was recorded as VALID is believed: %s not asked", are(believed, "resource"))
	}
	if s.RefreshOnly {
		add("-refresh-only  what is there is recorded, and nothing is done to it")
	}
	p.printf("%s\n", p.style.bold("This is not a plan of everything:"))
	for _, line := range lines {
		p.printf("  %s\n", diag.Visible(line))
	}
	if len(pl.LeftOut) > 0 {
		p.printf("  Left out: %s.\n", someOf(pl.LeftOut))
	}
	p.printf("\n")
}

// are is "1 resource was", "2 resources were".
func are(n int, noun string) string {
	if n == 1 {
		return counted(n, noun) + " was"
	}
	return counted(n, noun) + " were"
}

// someOf lists addresses, and counts those that nobody would read.
func someOf(addresses []string) string {
	if len(addresses) <= maxListed {
		return diag.Visible(strings.Join(addresses, ", "))
	}
	return fmt.Sprintf("%s and %d more", diag.Visible(strings.Join(addresses[:maxListed], ", ")), len(addresses)-maxListed)
}
