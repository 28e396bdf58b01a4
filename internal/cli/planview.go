package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"deployster/internal/diag"
	"deployster/internal/strictjson"
	"deployster/plan"
	"deployster/protocol"
)

// planView prints what a plan would do, for a person to decide upon.
func (p printer) planView(pl *plan.Plan) {
	var quiet []string   // recorded nowhere yet, but right as they are
	var ignored []string // as declared, but for what ignore_changes says
	p.selectionHead(pl)
	shown := 0
	for _, addr := range pl.Order() {
		step := pl.Resources[addr]
		if len(step.Ignored) > 0 {
			ignored = append(ignored, fmt.Sprintf("%s (%s)", addr, ignoredChanges(step)))
		}
		switch {
		case step.Change == plan.Valid && step.Adopted && !step.MayChange:
			if more := wider(step.Settings); more != "" {
				addr += " (" + more + ")"
			}
			quiet = append(quiet, addr)
		case step.Change == plan.Valid && !step.MayChange && step.MovedFrom == "" && !p.verbose:
			continue
		default:
			if shown++; shown == 1 {
				p.printf("%s\n\n", p.legend(pl))
			}
			p.step(addr, step)
		}
	}
	if len(quiet) > 0 {
		p.printf("These exist already, just as declared, and are adopted: %s.\n\n", strings.Join(quiet, ", "))
	}
	if len(ignored) > 0 {
		p.printf("Changes of the manifest that ignore_changes leaves alone: %s.\n\n", strings.Join(ignored, ", "))
	}
	p.outputChanges(pl)
	p.checks(pl.Checks)
	p.printf("%s\n", p.summary(pl))
}

// mark is the symbol, the words and the colour of a change.
func (p printer) mark(s *plan.Step) (symbol, words string) {
	switch s.Change {
	case plan.Create:
		return p.style.green("+"), "will be created"
	case plan.Update:
		return p.style.yellow("~"), "will be updated"
	case plan.Destroy:
		return p.style.red("-"), "will be destroyed"
	case plan.Forget:
		return p.style.dim("."), "will be forgotten"
	case plan.Replace:
		return p.style.red("-") + p.style.green("+"), "will be destroyed and made again"
	case plan.Deferred:
		return p.style.cyan("?"), "is deferred"
	case plan.Record:
		return p.style.yellow("="), "will be recorded as it is"
	case plan.Left:
		return p.style.dim("."), "stays as it was recorded"
	case plan.ReadFailed:
		return p.style.red("!"), "could not be asked"
	}
	if s.MovedFrom != "" {
		return p.style.cyan(">"), "is as declared, under a new address"
	}
	return " ", "is as declared"
}

func (p printer) legend(pl *plan.Plan) string {
	s := pl.Summary
	var words []string
	add := func(n int, symbol, word string) {
		if n > 0 {
			words = append(words, symbol+" "+word)
		}
	}
	add(s.Create, p.style.green("+"), "create")
	add(s.Update, p.style.yellow("~"), "update")
	add(s.Replace, p.style.red("-")+p.style.green("+"), "destroy and make again")
	add(s.Destroy, p.style.red("-"), "destroy")
	add(s.Forget, p.style.dim("."), "forget")
	add(s.Deferred, p.style.cyan("?"), "deferred: decided when what it waits for is there")
	add(s.Record, p.style.yellow("="), "record as it is")
	add(s.Left, p.style.dim("."), "leave as recorded")
	add(s.ReadFailed, p.style.red("!"), "could not be asked")
	add(s.Move, p.style.cyan(">"), "move to a new address")
	return "What apply would do:  " + strings.Join(words, "   ")
}

// step prints one resource.
func (p printer) step(addr string, s *plan.Step) {
	symbol, words := p.mark(s)
	if s.MayChange {
		words += ", as far as can be known"
	}
	origin := diag.Visible(s.Type)
	if s.Init.Label != "" {
		origin = diag.Visible(s.Init.Label) + ", " + origin
	}
	if s.Source != "" {
		origin += ", " + diag.Visible(s.Source)
	}
	p.printf("%s %s %s  %s\n", symbol, p.style.bold(addr), words, p.style.dim("("+origin+")"))
	if why := because(s); why != "" {
		p.printf("    %s\n", p.style.dim(why))
	}
	if more := wider(s.Settings); more != "" {
		p.printf("    %s\n", p.style.yellow(more))
	}
	p.changes(s)
	p.actions(s)
	p.printf("\n")
}

// because says in a line why a step is what it is.
func because(s *plan.Step) string {
	var parts []string
	if s.MovedFrom != "" {
		parts = append(parts, "moved from "+s.MovedFrom)
	}
	if s.Reason != "" {
		parts = append(parts, "because "+diag.Visible(s.Reason))
	}
	if s.Drifted && s.Change == plan.Create {
		parts = append(parts, "it was there at the last apply, and is gone")
	} else if s.Drifted {
		parts = append(parts, "it was right at the last apply, and was changed since by something else")
	}
	if s.Adopted {
		parts = append(parts, "it exists already and is adopted")
	}
	return strings.Join(parts, "; ")
}

// changes shows values: all that is wanted of what is to be made, and what
// differs of what is there.
func (p printer) changes(s *plan.Step) {
	v := values{sensitive: s.Sensitive, unknown: s.Unknown}
	var rows []row
	switch s.Change {
	case plan.Create, plan.Deferred:
		rows = v.differences([]byte("{}"), s.Config)
		for i := range rows {
			rows[i].have = ""
		}
	case plan.Update:
		rows = p.updateRows(v, s)
	}
	width := 0
	for i, r := range rows {
		width = max(width, len(r.path))
		rows[i].have, rows[i].want = brief(r.have), brief(r.want)
	}
	for _, r := range rows {
		switch {
		case r.have == "":
			p.printf("      %s %s = %s\n", p.style.green("+"), padded(r.path, width), r.want)
		default:
			p.printf("      %s %s = %s %s %s\n", p.style.yellow("~"), padded(r.path, width), r.have, p.style.bold("->"), r.want)
		}
	}
	for _, reason := range s.Reasons {
		if reason.Message != "" {
			p.printf("      %s\n", scrub(diag.Visible(reason.Message), plan.Secrets(s.Config, s.Sensitive)))
		}
	}
}

// maxShown is how much of one value a person is shown, in bytes.
const maxShown = 1000

// brief cuts a value that nobody would read to its end, such as a whole file.
func brief(text string) string { return briefly(text, maxShown) }

// maxOutput is the same for the value of an output, of which a plan may show a
// page.
const maxOutput = 8000

func briefly(text string, most int) string {
	if len(text) <= most {
		return text
	}
	cut := strings.ToValidUTF8(text[:most/2], "")
	return fmt.Sprintf("%s... (%d bytes in all)", cut, len(text))
}

// updateRows takes the image's own reasons where it gives some, else compares
// what is there with the config, and with what the image forecasts.
func (p printer) updateRows(v values, s *plan.Step) []row {
	secrets := plan.Secrets(s.Config, s.Sensitive)
	stale := values{sensitive: slices.Concat(s.Sensitive, s.Hidden)}
	var rows []row
	for _, r := range s.Reasons {
		if len(r.Have) == 0 && len(r.Want) == 0 {
			continue
		}
		path := dotted(r.Path)
		if word := strictjson.Masked; touches(s.Sensitive, r.Path) {
			rows = append(rows, row{diag.Visible(path), "", word})
			continue
		}
		one := row{path: diag.Visible(path)}
		if len(r.Have) > 0 {
			one.have = values{sensitive: plan.SecretPointers(r.Have, secrets)}.text(r.Have, 8)
		}
		one.want = "(none)"
		if len(r.Want) > 0 {
			one.want = values{sensitive: plan.SecretPointers(r.Want, secrets)}.text(r.Want, 8)
		}
		rows = append(rows, one)
	}
	if len(rows) > 0 {
		return rows
	}
	stale.unknown = v.unknown
	rows = onlyCommon(stale.differences(s.Stale, s.Config))
	if len(s.Forecast) > 0 {
		rows = append(rows, stale.differences(s.Stale, s.Forecast)...)
	}
	seen := map[string]bool{}
	return slices.DeleteFunc(rows, func(r row) bool {
		again := seen[r.path]
		seen[r.path] = true
		return again
	})
}

// onlyCommon keeps the rows of values that the state speaks of too: a config
// key that a state never mentions, such as a password, differs from nothing.
func onlyCommon(rows []row) []row {
	return slices.DeleteFunc(rows, func(r row) bool { return r.have == "" && r.want != knownAfterApply })
}

// actions lists what would be run.
func (p printer) actions(s *plan.Step) {
	list := s.Actions
	if s.Shutdown != nil {
		p.printf("      %s %s\n", p.style.dim("first, before everything else:"), actionText(*s.Shutdown))
	}
	for i, a := range list {
		p.printf("      %s %s\n", p.style.dim(fmt.Sprintf("action %d:", i+1)), actionText(a))
	}
}

func actionText(a protocol.Action) string {
	if a.Description == "" || a.Description == a.Name {
		return diag.Visible(a.Name)
	}
	return diag.Visible(a.Name) + " - " + diag.Visible(a.Description)
}

// outputChanges shows the outputs that will have other values.
func (p printer) outputChanges(pl *plan.Plan) {
	first := true
	for _, name := range slices.Sorted(maps.Keys(pl.Outputs)) {
		o := pl.Outputs[name]
		if !o.Changed {
			continue
		}
		if first {
			p.printf("Outputs that change:\n")
			first = false
		}
		if o.Removed {
			p.printf("  %s is declared no more\n", name)
			continue
		}
		v := values{unknown: o.Unknown}
		if o.Sensitive {
			v.sensitive = []string{""}
		}
		p.printf("  %s = %s\n", name, briefly(v.text(o.Value, 2), maxOutput))
	}
	if !first {
		p.printf("\n")
	}
}

// summary is the last line of a plan.
func (p printer) summary(pl *plan.Plan) string {
	s := pl.Summary
	if !pl.HasChanges() {
		switch {
		case pl.Selection.RefreshOnly:
			return p.style.bold("No changes.") + " What is there is as it was recorded."
		case len(pl.LeftOut) > 0:
			return p.style.bold("No changes.") + fmt.Sprintf(" Of what the plan is about, %s as declared.", are(s.Valid, "resource"))
		}
		if s.Valid == 0 {
			return p.style.bold("No changes.") + " No resources are declared, and none are recorded."
		}
		if s.Valid == 1 {
			return p.style.bold("No changes.") + " The one resource is as declared."
		}
		return p.style.bold("No changes.") + fmt.Sprintf(" All %d resources are as declared.", s.Valid)
	}
	parts := []string{fmt.Sprintf("%d to create", s.Create), fmt.Sprintf("%d to update", s.Update)}
	if pl.Selection.RefreshOnly {
		parts = nil
	}
	for _, c := range []struct {
		n    int
		word string
	}{{s.Replace, "to replace"}, {s.Destroy, "to destroy"}, {s.Forget, "to forget"}, {s.Deferred, "deferred"}, {s.Record, "to record"},
		{s.Left, "to leave as recorded"}, {s.ReadFailed, "that could not be asked"}, {s.Move, "to move"}} {
		if c.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", c.n, c.word))
		}
	}
	parts = append(parts, fmt.Sprintf("%d as declared", s.Valid))
	if n := len(pl.LeftOut); n > 0 {
		parts = append(parts, fmt.Sprintf("%d left out", n))
	}
	return p.style.bold("Plan:") + " " + strings.Join(parts, ", ") + "."
}
