package exclusive

import (
	"math"
	"strconv"
	"strings"

	"deployster/internal/base/diag"
	"deployster/internal/base/words"
	"deployster/plan/reason"
)

// Map returns a set for people: its texts changed, and its reasons with their words.
func (s Set) Map(change func(string) string) Set {
	items := func(list []Item) []Item {
		var out []Item
		for _, item := range list {
			out = append(out, Item{change(item.Identity), item.Why.Map(change).Spelled()})
		}
		return out
	}
	s.Purge, s.Undone, s.Kept = items(s.Purge), items(s.Undone), items(s.Kept)
	var held []*reason.Reason
	for _, why := range s.Held {
		held = append(held, why.Map(change).Spelled())
	}
	s.Held = held
	return s
}

// Text returns a text about sets, with each in a paragraph; all names objects without a limit.
func Text(sets []Set, all bool) string {
	var b strings.Builder
	most := 10
	if all {
		most = math.MaxInt
	}
	for i := range sets {
		s, mark := &sets[i], " "
		if len(s.Undone)+len(s.Held) > 0 {
			mark = "!"
		} else if len(s.Purge) > 0 {
			mark = "-"
		}
		b.WriteString(mark + " " + s.Head() + "\n")
		for _, line := range s.Lines(most) {
			b.WriteString("    " + line + "\n")
		}
	}
	if len(sets) > 0 {
		b.WriteByte('\n')
	}
	return b.String()
}

// Head returns a line about a set: what it is of, and what becomes of its objects in numbers.
func (s *Set) Head() string {
	where := diag.Visible(s.Type)
	if s.Host != "" {
		where += ", host." + diag.Visible(s.Host)
	}
	counts := []string{strconv.Itoa(s.Declared) + " declared"}
	for _, c := range []struct {
		list []Item
		what string
	}{{s.Kept, "kept"}, {s.Purge, "to purge"}, {s.Undone, "neither declared nor kept"}} {
		if len(c.list) > 0 {
			counts = append(counts, strconv.Itoa(len(c.list))+" "+c.what)
		}
	}
	return "exclusive." + s.Name + " (" + where + "): " + strings.Join(counts, ", ")
}

// Lines returns lines about the objects of a set, with at most a number of names in each.
func (s *Set) Lines(most int) (lines []string) {
	if names := namesOf(s.Purge); len(names) > 0 {
		lines = append(lines, "purged: "+words.List(names, most))
	}
	if names := namesOf(s.Undone); len(names) > 0 && len(s.Held) == 0 {
		lines = append(lines, "neither declared nor kept, and destroyed only with -approve=purge: "+words.List(names, most))
	} else if len(names) > 0 {
		lines = append(lines, "neither declared nor kept: "+words.List(names, most))
	}
	for _, why := range s.Held {
		lines = append(lines, "nothing is purged now: "+diag.Visible(why.Words()))
	}
	kept := map[string]*reason.Reason{}
	for _, item := range s.Kept {
		kept[diag.Visible(item.Identity)] = item.Why
	}
	for _, line := range reason.Lines(kept, most) {
		lines = append(lines, "kept: "+line)
	}
	return lines
}

func namesOf(list []Item) (names []string) {
	for _, item := range list {
		names = append(names, diag.Visible(item.Identity))
	}
	return names
}
