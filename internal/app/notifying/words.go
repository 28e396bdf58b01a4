package notifying

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"deployster/apply"
	"deployster/internal/base/words"
	"deployster/internal/ui/events"
)

// NameOf returns the name of an event in a notify block; "" = none may want it.
func NameOf(e events.Event) string {
	switch body := e.Body.(type) {
	case events.ResourceWatch:
		return events.TypeOf(body) + "." + body.Status
	case events.RepairEnded:
		return events.TypeOf(body) + "." + string(body.Status)
	case events.Report:
		return events.TypeOf(body) + "." + string(body.Report.Status)
	}
	return ""
}

// listed is how many resources and problems a summary lists.
const listed = 20

// Summary returns an event for people: what happened and where, and of a report the resources that need attention.
func Summary(where string, e events.Event) string {
	text := where + ": " + e.Message
	switch body := e.Body.(type) {
	case events.RepairEnded:
		text = fmt.Sprintf("%s: the repair of %s ended: %s", where, words.List(body.Resources, listed), body.Status)
	case events.Report:
		text = where + ": " + reported(body.Report)
	}
	return text
}

// reported returns a report for people.
func reported(r *apply.Report) string {
	counts, lines := map[apply.Status]int{}, []string(nil)
	for _, addr := range slices.Sorted(maps.Keys(r.Resources)) {
		one := r.Resources[addr]
		counts[one.Status]++
		switch one.Status {
		case apply.OK, apply.Unchanged, apply.Skipped, apply.Kept:
		default:
			lines = append(lines, strings.TrimSuffix(fmt.Sprintf("%s: %s: %s", addr, plain(one.Status), one.Reason), ": "))
		}
	}
	var parts []string
	for _, status := range slices.SortedFunc(maps.Keys(counts), func(a, b apply.Status) int {
		return cmp.Or(counts[b]-counts[a], strings.Compare(string(a), string(b)))
	}) {
		parts = append(parts, fmt.Sprintf("%d %s", counts[status], plain(status)))
	}
	for _, problem := range r.Problems {
		if problem.Address == "" { // otherwise its resource has it
			lines = append(lines, strings.TrimSuffix(problem.Summary+": "+problem.Detail, ": "))
		}
	}
	if more := len(lines) - listed; more > 0 {
		lines = append(lines[:listed], fmt.Sprintf("and %d more", more))
	}
	head := plain(r.Status)
	if len(parts) > 0 {
		head += ": " + strings.Join(parts, ", ")
	}
	return strings.Join(append([]string{head}, lines...), "\n")
}

func plain(s apply.Status) string { return strings.ReplaceAll(string(s), "_", " ") }
