package apt

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"deployster/machine/internal/access"
)

// step is one package of a transaction.
type step struct {
	name string
	from string // the version that it has; "" = none
	to   string // the version that it gets; "" = it is removed
}

func (s step) String() string {
	switch {
	case s.to == "":
		return s.name
	case s.from == "":
		return s.name + " " + s.to
	}
	return s.name + " " + s.from + " -> " + s.to
}

// transaction is what apt would do, in its order.
type transaction []step

// parseTransaction reads what apt-get -s prints:
//
//	Inst nginx [1.0] (1.2 Debian:12/stable [amd64]) []
//	Remv mawk [1.3.4]
//	Conf nginx (1.2 Debian:12/stable [amd64])
func parseTransaction(text string) (t transaction, err error) {
	for line := range strings.Lines(text) {
		verb, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		if verb != "Inst" && verb != "Remv" && verb != "Purg" {
			continue
		}
		name, rest, _ := strings.Cut(rest, " ")
		s := step{name: name}
		if old, is := strings.CutPrefix(rest, "["); is {
			s.from, rest, _ = strings.Cut(old, "]")
		}
		if verb == "Inst" {
			_, inside, found := strings.Cut(rest, "(")
			if s.to, _, _ = strings.Cut(inside, " "); !found || s.to == "" {
				return nil, fmt.Errorf("apt-get -s printed %q, which names no version", strings.TrimSpace(line))
			}
		}
		t = append(t, s)
	}
	return t, nil
}

// of returns the step of a package; ok is false if the transaction does not touch it.
func (t transaction) of(name string) (s step, ok bool) {
	bare, _, _ := strings.Cut(name, ":")
	i := slices.IndexFunc(t, func(s step) bool { return s.name == name || s.name == bare })
	if i < 0 {
		return step{}, false
	}
	return t[i], true
}

// removed returns the names of the packages that go, other than these.
func (t transaction) removed(but ...string) (names []string) {
	for _, s := range t {
		if s.to == "" && !slices.Contains(but, s.name) {
			names = append(names, s.name)
		}
	}
	slices.Sort(names)
	return names
}

// others says in words what comes and goes next to a package; "" = nothing.
func (t transaction) others(name string) string {
	bare, _, _ := strings.Cut(name, ":")
	var parts []string
	for _, kind := range []struct {
		says string
		has  func(s step) bool
	}{
		{"also installs ", func(s step) bool { return s.from == "" && s.to != "" }},
		{"also changes ", func(s step) bool { return s.from != "" && s.to != "" }},
		{"removes ", func(s step) bool { return s.to == "" }},
	} {
		var names []string
		for _, s := range t {
			if s.name != name && s.name != bare && kind.has(s) {
				names = append(names, s.String())
			}
		}
		if len(names) > 0 {
			slices.Sort(names)
			parts = append(parts, kind.says+listed(names))
		}
	}
	return strings.Join(parts, "; ")
}

// listed returns names for a description: the first 30.
func listed(names []string) string {
	if more := len(names) - 30; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:30], ", "), more)
	}
	return strings.Join(names, ", ")
}

// unsolvable is what apt has against a transaction.
type unsolvable struct{ text string }

func (e *unsolvable) Error() string { return e.text }

// simulate returns what an apt-get with these arguments would do. It needs no lock.
func simulate(ctx context.Context, m *access.Machine, args ...string) (transaction, error) {
	if t, ok, err := summarized(ctx, m, args...); ok || err != nil {
		return t, err
	}
	return ordered(ctx, m, args...)
}

// ordered returns the same from a simulation, in apt's order.
func ordered(ctx context.Context, m *access.Machine, args ...string) (transaction, error) {
	var out, errs bytes.Buffer
	err := m.Run(ctx, access.Command{Args: append([]string{"apt-get", "-s", "-q", "-o", unkept, "-o", "Debug::NoLocking=1"}, args...),
		Env: quiet, Stdout: &out, Stderr: &errs})
	if exit, ok := errors.AsType[*access.ExitError](err); ok && exit.Code > 0 {
		return nil, &unsolvable{refusal(out.String() + errs.String())}
	}
	if err != nil {
		return nil, err
	}
	return parseTransaction(out.String())
}

// refusalHeadings are the headings of what cannot be satisfied: of apt, and of apt 3 where it is set to print columns.
var refusalHeadings = []string{"The following packages have unmet dependencies:", "Unsatisfied dependencies:"}

// refusal returns the lines in which apt says why it does not do something. What apt 3 prints below an error belongs to it.
func refusal(text string) string {
	var why []string
	listed, below := false, false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		said, short := strings.CutPrefix(line, "E: ")
		said, long := strings.CutPrefix(said, "Error: ")
		words := strings.Join(strings.Fields(line), " ")
		switch indented := strings.HasPrefix(line, " "); {
		case short || long:
			why, listed, below = append(why, said), false, true
		case slices.Contains(refusalHeadings, line):
			listed, below = true, false
		case listed && indented:
			why = append(why, words)
		case below && indented:
			why[len(why)-1] += " " + words
		default:
			listed, below = false, false
		}
	}
	return cmp.Or(strings.Join(why, "; "), strings.TrimSpace(text))
}
