package mutation

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// ListName is where a package has its list, from its directory.
const ListName = "testdata/mutants.txt"

// Read returns the faults in the list of the package that runs the test.
func Read(t *testing.T) []Fault {
	t.Helper()
	text, err := os.ReadFile(filepath.FromSlash(ListName))
	if err != nil {
		t.Fatal(err)
	}
	list, err := Parse(string(text))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// Parse reads a list.
func Parse(text string) (list []Fault, err error) {
	var in []string // package and declaration
	number := 0
	fail := func(why string) ([]Fault, error) { return nil, fmt.Errorf("line %d of the faults: %s", number, why) }
	for line := range strings.Lines(text) {
		number++
		body := strings.TrimSpace(line)
		last := len(list) - 1
		switch depth := len(line) - len(strings.TrimLeft(line, "\t")); {
		case body == "", strings.HasPrefix(line, "#"):
		case depth == 0:
			if in = strings.Fields(line); len(in) != 3 || in[0] != "in" {
				return fail("expected `in PACKAGE DECLARATION`")
			}
		case in == nil:
			return fail("a fault comes after `in PACKAGE DECLARATION`")
		case depth == 1:
			if last >= 0 && list[last].Place == "" {
				return fail("the fault before it has no place")
			}
			list = append(list, Fault{Name: body, Package: in[1], In: in[2]})
		case last < 0:
			return fail("expected the name of a fault")
		case depth > 2:
			list[last].Change += "\n" + strings.TrimRight(line[3:], "\n")
		case list[last].Place == "":
			place, change, ok := strings.Cut(body, " => ")
			if !ok {
				return fail("expected `PLACE => CHANGE`")
			}
			list[last].Place, list[last].Change = place, change
		default:
			seen, ok := strings.CutPrefix(body, "seen by ")
			if !ok || list[last].Seen != "" {
				return fail("expected `seen by WHAT`, once")
			}
			list[last].Seen = seen
		}
	}
	if len(list) == 0 || list[len(list)-1].Place == "" {
		return fail("expected a fault with a place")
	}
	return list, nil
}
