package planpage

import (
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"deployster/apply/guarding"
	"deployster/internal/ui/jsondiff"
	"deployster/internal/ui/render"
	"deployster/plan"
	"deployster/protocol"
)

// resource is the line of a resource, with all details of its step below it.
type resource struct {
	ID, Modules, Name, Type text
	Kind                    kind
	Traits                  []trait
	Open                    bool
	Body                    *body // nil = the page is too large for it
}

type body struct {
	Why             []sentence
	Rows            []row
	More, Unchanged int    // numbers of values without a row
	Reasons         []text // the image's remarks that belong to no row
	Actions         []actions
	Documents       []documentText
	Facts           []fact
	Near            []neighbours
}

// sentence explains an aspect of a step.
type sentence struct{ Class, Text text }

type actions struct {
	Title text
	List  []action
}

type action struct{ Name, Description, Command text }

// documentText is a whole value, shown collapsed.
type documentText struct{ Title, Text text }

type fact struct {
	Name   text
	Values []text
}

// neighbours are the resources at the other ends of edges.
type neighbours struct {
	Title     text
	Resources []neighbour
	More      int // the number of those that are not listed
}

type neighbour struct {
	ID   text
	Kind kind
}

// resources returns the resources one by one, so that a page of many is never in memory
// as a whole.
func (v *view) resources(addrs []string) iter.Seq[resource] {
	return func(yield func(resource) bool) {
		for _, addr := range addrs {
			if !yield(v.resource(addr, v.plan.Resources[addr])) {
				return
			}
		}
	}
}

func (v *view) resource(addr string, s *plan.Step) resource {
	group, name := SplitModules(addr)
	r := resource{ID: v.text(addr), Modules: v.text(strings.Join(group, ".")), Name: v.text(name), Type: v.clipped(s.Type),
		Kind: kindOf(s),
		Open: !s.Quiet() && len(v.plan.Resources) <= openUpTo}
	for _, t := range traits {
		if t.is(s) {
			r.Traits = append(r.Traits, t)
		}
	}
	if v.out.size < maxPage {
		b := body{Why: v.why(s), Actions: v.actions(s), Documents: v.documents(s), Facts: v.facts(s)}
		v.addChanges(&b, s)
		b.Near = append(v.neighbours("Depends on", v.needs[addr]), v.neighbours("Needed by", v.neededBy[addr])...)
		r.Body = &b
	}
	return r
}

// why returns sentences that explain a step.
func (v *view) why(s *plan.Step) (list []sentence) {
	say := func(class text, s string) { list = append(list, sentence{class, v.clipped(s)}) }
	if s.MovedFrom != "" {
		say("why", "It was "+render.MovedFrom(s)+".")
	}
	if s.Expected() != "" {
		say("why", "Apply decides when its dependencies exist, and is expected to "+string(s.Expected())+" it.")
	}
	switch {
	case s.Certainty == plan.Early:
		say("why", "Its image was queried early ("+s.Reason.Words()+"), and is queried again at its turn. If it answers otherwise then, "+
			"-deferred decides.")
	case s.Reason != nil:
		say("why", "Because "+s.Reason.Words()+".")
	}
	if s.DestroysAdopted() {
		say("warn", "What is destroyed was not created by deployster: it existed before.")
	}
	switch {
	case s.Drifted() && len(s.Inputs()) == 0 && s.Change() == plan.Create:
		say("why", "Deleted outside of deployster since the last apply.")
	case s.Drifted() && len(s.Inputs()) == 0:
		say("why", "Changed outside of deployster since the last apply.")
	}
	for _, text := range render.InputsChanged(s) {
		say("why", strings.ToUpper(text[:1])+text[1:]+".")
	}
	switch {
	case s.Adopted() && s.Publishes:
		say("why", "It was published, and is recorded now.")
	case s.Made():
		say("why", "It was created by an interrupted apply, and is recorded now.")
	case s.Adopted():
		say("why", "It exists already, and is adopted.")
	}
	if len(s.Edited()) > 0 {
		say("why", "Its config "+render.Edited(s)+".")
	}
	if s.Certainty == plan.MayChange {
		say("why", "Something that it depends on changes: what is shown is an expectation, and apply may do something else.")
	}
	if len(s.Ignored) > 0 {
		say("why", "The manifest differs here, which ignore_changes ignores: "+strings.Join(s.Ignored, ", ")+".")
	}
	for _, note := range s.Notes {
		say("warn", note.Words())
	}
	if host := s.Settings.Host; host != nil {
		say("why", "It is on "+host.Name+" ("+host.String()+").")
	}
	if words := guarding.Words(s); words != "" {
		say("warn", "It "+words+".")
	}
	if more := s.Settings.Widened(); len(more) > 0 {
		say("warn", "It runs with more than the defaults: "+strings.Join(more, ", ")+".")
	}
	if len(s.Weaker) > 0 {
		say("warn", "Not enforced there: "+strings.Join(s.Weaker, ", ")+".")
	}
	return list
}

// addChanges adds the diff, with the image's remarks next to their values.
func (v *view) addChanges(b *body, s *plan.Step) {
	diff, notes := v.page.Changes(s)
	b.More, b.Unchanged = diff.More, diff.Unchanged
	for _, r := range diff.Rows {
		b.Rows = append(b.Rows, v.row(r, notes[r.Pointer]))
		delete(notes, r.Pointer)
	}
	for _, r := range s.Answer().Reasons {
		b.Reasons = append(b.Reasons, v.clippedAll(notes[r.Path])...)
		delete(notes, r.Path)
	}
}

// actions returns the actions that apply would run.
func (v *view) actions(s *plan.Step) (lists []actions) {
	add := func(title text, all ...protocol.Action) {
		list := actions{Title: title}
		for _, a := range all {
			if a.Description == a.Name {
				a.Description = ""
			}
			list.List = append(list.List, action{v.clipped(a.Name), v.clipped(a.Description), v.clipped(commandText(a.Command))})
		}
		if len(all) > 0 {
			lists = append(lists, list)
		}
	}
	if s.Answer().Shutdown != nil {
		add("First, before everything else", *s.Answer().Shutdown)
	}
	if s.Old() != nil {
		add("To destroy the old one", s.Old().Answer().Actions...)
	}
	add("Actions", s.Answer().Actions...)
	return lists
}

// commandText describes the command of an action where it differs from the image's default.
func commandText(c protocol.Command) string {
	var parts []string
	if c.Image != "" {
		parts = append(parts, "image "+c.Image)
	}
	if c.Entrypoint != "" {
		parts = append(parts, "entrypoint "+strconv.Quote(c.Entrypoint))
	}
	if len(c.Args) > 0 {
		quoted := make([]string, len(c.Args))
		for i, a := range c.Args {
			quoted[i] = strconv.Quote(a)
		}
		parts = append(parts, "args "+strings.Join(quoted, " "))
	}
	return strings.Join(parts, ", ")
}

// documents returns the config, and the recorded and the present state.
func (v *view) documents(s *plan.Step) (list []documentText) {
	add := func(title text, value jsondiff.Value) {
		if len(value.JSON) > 0 && string(value.JSON) != "{}" {
			list = append(list, documentText{title, v.text(jsondiff.TextWithin(value, 0, v.maxValue, v.hide))})
		}
	}
	if s.Change() != plan.Create && s.Change() != plan.Deferred { // the diff shows it
		add("Config", jsondiff.Value{JSON: s.Config, Sensitive: s.Sensitive, Unknown: s.Unknown, MayChange: s.MayChangeAt})
	}
	if s.Was() != nil {
		title := text("State that was recorded")
		if s.Change() == plan.Deferred || s.Change() == plan.Publish {
			title = "Config that was recorded"
		}
		add(title, jsondiff.Value{JSON: s.Was().State, Sensitive: s.Was().Sensitive})
	}
	add("State that was found", jsondiff.Value{JSON: s.Answer().State, Sensitive: s.Answer().Hidden})
	add("State that was found", jsondiff.Value{JSON: s.Answer().Stale, Sensitive: slices.Concat(s.Sensitive, s.Answer().Hidden)})
	return list
}

// facts returns the origin and the settings of a resource.
func (v *view) facts(s *plan.Step) (list []fact) {
	add := func(name text, values ...string) {
		if len(values) > 0 && values[0] != "" {
			list = append(list, fact{name, v.clippedAll(values)})
		}
	}
	add("Label", s.Init.Label)
	add("Image", s.Init.Digest)
	if s.Verify != nil {
		add("Signed with", s.Verify.KeyName)
	}
	add("Declared at", s.Source)
	var mounts []string
	for _, m := range s.Mounts {
		mode := "read-only"
		if m.Writable {
			mode = "writable"
		}
		mounts = append(mounts, fmt.Sprintf("%s at %s, %s", m.Source, m.Target, mode))
	}
	add("Mounts", mounts...)
	var timeouts []string
	if s.Timeouts.State > 0 {
		timeouts = append(timeouts, "state "+time.Duration(s.Timeouts.State).String())
	}
	if s.Timeouts.Action > 0 {
		timeouts = append(timeouts, "actions "+time.Duration(s.Timeouts.Action).String())
	}
	add("Timeouts", strings.Join(timeouts, ", "))
	add("When removed", s.OnRemove)
	return list
}

// maxNeighbours is the maximum number of neighbours that are listed.
const maxNeighbours = 24

// neighbours returns an empty list when there are no neighbours.
func (v *view) neighbours(title text, addrs []string) []neighbours {
	if len(addrs) == 0 {
		return nil
	}
	n := neighbours{Title: title, More: max(0, len(addrs)-maxNeighbours)}
	for _, addr := range addrs[:len(addrs)-n.More] {
		n.Resources = append(n.Resources, neighbour{v.text(addr), kindOf(v.plan.Resources[addr])})
	}
	return []neighbours{n}
}
