package terminal

import (
	"errors"
	"strings"
	"testing"
	"time"

	"deployster/apply"
	"deployster/plan"
)

// What an apply says of a resource whose action ends well, and of one whose
// action fails, by how many there are and who reads it.
func TestProgress_OfManyIsShort(t *testing.T) {
	const all = "a: make ...\na: make done in 1s\na: created (2s)\nb: make ...\nb: make failed after 1s\nb: failed (make) (2s)\n"
	const ends = "a: created (2s)\nb: make failed after 1s\nb: failed (make) (2s)\n"
	const failures = "b: make failed after 1s\nb: failed (make) (2s)\n"
	for _, c := range []struct {
		what              string
		total             int
		terminal, verbose bool
		want              string
	}{
		{"a log of few", manyResources, false, false, all},
		{"a log of many", manyResources + 1, false, false, ends},
		{"a log of many, all of it", manyResources + 1, false, true, all},
		{"a terminal of few", quietAbove, true, false, ends},
		{"a terminal of many", quietAbove + 1, true, false, failures},
		{"a terminal of many, all of it", quietAbove + 1, true, true, all},
	} {
		var said strings.Builder
		p := progress{Printer: Printer{Out: &said, Verbose: c.verbose}, total: func() int { return c.total }}
		if c.terminal {
			p.live = &live{p: progressState{Total: c.total}}
		}
		bad := errors.New("exit code 1")
		for _, e := range []apply.Event{
			apply.ActionStarted{Address: "a", Action: "make"},
			apply.ActionEnded{Address: "a", Action: "make", Took: time.Second},
			apply.ResourceEnded{Address: "a", Change: plan.Create, Report: apply.ResourceReport{Status: apply.OK}, Took: 2 * time.Second},
			apply.ActionStarted{Address: "b", Action: "make"},
			apply.ActionEnded{Address: "b", Action: "make", Took: time.Second, Err: bad},
			apply.ResourceEnded{Address: "b", Change: plan.Create, Report: apply.ResourceReport{Status: apply.Error, Failed: "make"}, Took: 2 * time.Second},
		} {
			p.Applying(e)
		}
		if said.String() != c.want {
			t.Errorf("%s: it said\n%swant\n%s", c.what, &said, c.want)
		}
	}
}

// A batch is one line, whatever a terminal shows, unless all is shown.
func TestProgress_BatchIsOneLine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind    string
		verbose bool
		want    string
	}{
		{"linux/package", false, "package (2 resources): install\n"},
		{"acme/machine:1#package", false, "package (2 resources): install\n"},
		{"reg:5000/acme/shelf:1", false, "shelf (2 resources): install\n"},
		{"linux/package", true, "a: install (together with 1 other resource) ...\nb: install (together with 1 other resource) ...\n"},
	} {
		var said strings.Builder
		p := progress{Printer: Printer{Out: &said, Verbose: c.verbose}, total: func() int { return 2 }}
		for i, addr := range []string{"a", "b"} {
			p.Applying(apply.ActionStarted{Address: addr, Action: "install", Together: 2, Leads: i == 0, Kind: c.kind})
		}
		if said.String() != c.want {
			t.Errorf("%s: it printed\n%swant\n%s", c.kind, &said, c.want)
		}
	}
}
