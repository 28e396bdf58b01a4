package turns

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/base/words"
	"deployster/plan"
	"deployster/plan/order"
)

// Waves report how many hosts each wave of an apply begins, and what follows each.
type Waves struct {
	Sizes []Size // the last one repeats; empty = the default
	Soak  time.Duration
	By    string // the label that the hosts of a group share; Sizes are numbers of groups. "" = each host is a group
}

// Size is a number of hosts, or a percentage of the plan's hosts.
type Size struct {
	N       int
	Percent bool
}

// ParseSizes reads a list such as 1,10%,50%.
func ParseSizes(text string) ([]Size, error) {
	var list []Size
	for _, word := range strings.Split(text, ",") {
		digits, percent := strings.CutSuffix(strings.TrimSpace(word), "%")
		n, err := strconv.Atoi(digits)
		switch {
		case err != nil || n < 1:
			return nil, fmt.Errorf("%q is not a number of hosts, 1 or more, and not a percentage, such as 10%%", word)
		case percent && n > 100:
			return nil, fmt.Errorf("%q is more than all hosts", word)
		}
		list = append(list, Size{n, percent})
	}
	return list, nil
}

// AtOnce is how many hosts are worked on concurrently at the most: a wave of hosts is not a reason to
// work on fewer than the default.
func (w Waves) AtOnce() int {
	if len(w.Sizes) == 1 && !w.Sizes[0].Percent {
		return w.Sizes[0].N
	}
	most := order.Hosts
	for _, s := range w.Sizes {
		if !s.Percent {
			most = max(most, s.N)
		}
	}
	return most
}

// Schedule is the waves of one apply.
type Schedule struct {
	Soak   time.Duration
	AtOnce int // how many hosts are worked on concurrently
	seats  []int
	waves  int // that have begun
	groups map[string]string
}

// NewSchedule returns the waves of a plan; nil = it begins its hosts without waves, as there is
// one number of hosts and nothing to do between them.
func NewSchedule(w Waves, p *plan.Plan, m *config.Manifest) (*Schedule, error) {
	plain := len(w.Sizes) == 0 || len(w.Sizes) == 1 && !w.Sizes[0].Percent
	gated := slices.ContainsFunc(p.Checks, func(c config.CheckResult) bool { return c.Gate })
	hosts := hostsOf(p)
	if plain && w.Soak == 0 && w.By == "" && !gated || len(hosts) == 0 {
		return nil, nil
	}
	s := &Schedule{Soak: w.Soak, AtOnce: max(w.AtOnce(), order.Hosts)}
	var err error
	if s.groups, err = groupsOf(hosts, m, w.By); err != nil {
		return nil, err
	}
	sizes := w.Sizes
	switch {
	case len(sizes) == 0 && w.By != "":
		sizes = []Size{{N: 1}}
	case len(sizes) == 0:
		sizes = []Size{{N: order.Hosts}}
	}
	all := len(slices.Compact(slices.Sorted(maps.Values(s.groups))))
	for _, size := range sizes {
		n := size.N
		if size.Percent {
			n = (all*size.N + 99) / 100
		}
		s.seats = append(s.seats, n)
	}
	return s, nil
}

// hostsOf returns the names of the hosts of a plan, sorted.
func hostsOf(p *plan.Plan) []string {
	names := slices.Collect(maps.Keys(p.Hosts))
	for _, step := range p.Resources {
		if name := HostName(step); name != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// groupsOf returns the group of each host, by their values of a label.
func groupsOf(hosts []string, m *config.Manifest, label string) (map[string]string, error) {
	groups, labels, lacking := map[string]string{}, map[string]map[string]string{}, []string(nil)
	for _, h := range m.Hosts() {
		labels[h.Name] = h.Labels
	}
	labelled := 0
	for _, name := range hosts {
		if label == "" {
			groups[name] = "host " + name
			continue
		}
		value, has := labels[name][label]
		if groups[name] = "label " + value; has {
			labelled++
		} else if _, declared := labels[name]; declared {
			lacking = append(lacking, "host."+name)
		} else {
			groups[name] = "not declared"
		}
	}
	if len(lacking) > 0 || label != "" && labelled == 0 {
		who := "No host of the plan has it"
		if len(lacking) > 0 {
			who = "Without it: " + words.List(lacking, 10)
		}
		return nil, diag.Errorf("A host has no such label", "-hosts-by=%s begins the hosts with the same value of the label %q together. "+
			"%s. Add it to `labels` in the host block.", label, label, who)
	}
	return groups, nil
}

// Group returns the group of a host.
func (s *Schedule) Group(host string) string {
	if s == nil {
		return ""
	}
	return s.groups[host]
}

// First returns how many groups the first wave may begin in addition to those of the hosts that are begun
// already, as by a killed run of the plan: it continues the wave that these have reached.
func (s *Schedule) First(begun []string) (seats int) {
	groups := map[string]bool{}
	for _, host := range begun {
		groups[s.groups[host]] = true
	}
	for seats = s.Next(); seats < len(groups); {
		seats += s.Next()
	}
	return seats - len(groups)
}

// Next returns how many groups the next wave may begin.
func (s *Schedule) Next() int {
	s.waves++
	return s.seats[min(s.waves, len(s.seats))-1]
}
