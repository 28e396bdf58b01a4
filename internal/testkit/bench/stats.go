package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"deployster/internal/testkit/bench/meter"
)

// line is one line of the table: what it is about, what was measured of us and
// of what stands beside us, and what is to be reached.
type line struct {
	Row    string        `json:"row"` // the number by which ROWS chooses it
	What   string        `json:"what"`
	Ours   []meter.Usage `json:"ours,omitempty"`
	Beside string        `json:"beside,omitempty"` // what the others ran
	Theirs []meter.Usage `json:"theirs,omitempty"` // as many as Ours, each measured in turn with its like
	Growth *growth       `json:"growth,omitempty"`
	Boot   []float64     `json:"bootSeconds,omitempty"`
	Note   string        `json:"note,omitempty"`
	Goal   goal          `json:"goal"`
	Error  string        `json:"error,omitempty"` // why there is nothing
}

// growth is the time per resource of a large run, divided by that of a small one.
type growth struct {
	Small int     `json:"small"` // resources
	Large int     `json:"large"`
	Wall  float64 `json:"wall"`
	Work  float64 `json:"work"`
}

// goal is what is to be reached; zero fields are no goals.
type goal struct {
	Faster float64       `json:"faster,omitempty"` // the clock of the others, divided by ours
	Wall   time.Duration `json:"wallNanos,omitempty"`
	Memory int64         `json:"memoryMiB,omitempty"` // of the command and the embedded containerd together
	Growth float64       `json:"growth,omitempty"`
	Boot   time.Duration `json:"bootNanos,omitempty"`

	// More than the others, at the most; and the processor's time of all.
	More       time.Duration `json:"moreNanos,omitempty"`
	MoreMemory int64         `json:"moreMemoryMiB,omitempty"` // of the command's process
	Work       time.Duration `json:"workNanos,omitempty"`

	Slow  time.Duration `json:"slowNanos,omitempty"` // on the clock, of all but one in a hundred
	Share float64       `json:"share,omitempty"`     // of one processor
}

// spread is the median of some numbers, with the lowest and the highest.
type spread struct{ low, median, high float64 }

// spreadOf gives the spread of at least one number. Of an even number of them
// the median is the mean of the two in the middle.
func spreadOf(list []float64) spread {
	s := slices.Sorted(slices.Values(list))
	middle := len(s) / 2
	median := s[middle]
	if len(s)%2 == 0 {
		median = (s[middle-1] + s[middle]) / 2
	}
	return spread{s[0], median, s[len(s)-1]}
}

// percentile is the number that so many of a hundred do not exceed.
func percentile(list []float64, of int) float64 {
	s := slices.Sorted(slices.Values(list))
	return s[(len(s)*of+99)/100-1]
}

// percent writes a share of one.
func percent(share float64) string { return fmt.Sprintf("%.2g %%", 100*share) }

func (s spread) duration() string {
	text := round(time.Duration(s.median)).String()
	if s.low == s.high {
		return text
	}
	return fmt.Sprintf("%s (%s to %s)", text, round(time.Duration(s.low)), round(time.Duration(s.high)))
}

func (s spread) ratio() string {
	if s.low == s.high {
		return factor(s.median)
	}
	return fmt.Sprintf("%s (%s to %s)", factor(s.median), factor(s.low), factor(s.high))
}

// factor writes a ratio with as many digits as mean something.
func factor(f float64) string {
	if f >= 10 {
		return fmt.Sprintf("%.0f", f)
	}
	if f >= 2 {
		return fmt.Sprintf("%.1f", f)
	}
	return fmt.Sprintf("%.2f", f)
}

func round(d time.Duration) time.Duration {
	switch {
	case d > 10*time.Second:
		return d.Round(100 * time.Millisecond)
	case d > time.Second:
		return d.Round(10 * time.Millisecond)
	}
	return d.Round(time.Millisecond)
}

// each takes one number of each usage.
func each(list []meter.Usage, f func(meter.Usage) float64) []float64 {
	numbers := make([]float64, len(list))
	for i, u := range list {
		numbers[i] = f(u)
	}
	return numbers
}

func wallOf(u meter.Usage) float64   { return float64(u.Wall) }
func workOf(u meter.Usage) float64   { return float64(u.Work) }
func memoryOf(u meter.Usage) float64 { return float64(u.Memory) }
func serverOf(u meter.Usage) float64 { return float64(u.Server) }

func shareOf(u meter.Usage) float64 { return float64(u.Work) / float64(u.Wall) }

// bothOf is what a goal is held against.
func bothOf(u meter.Usage) float64 {
	if u.Together > 0 {
		return float64(u.Together)
	}
	return float64(u.Memory + u.Server)
}

// describe tells what one side took, as the table has it.
func describe(list []meter.Usage) string {
	if len(list) == 0 {
		return ""
	}
	text := spreadOf(each(list, wallOf)).duration() + ", processor " + round(time.Duration(spreadOf(each(list, workOf)).median)).String()
	var memory []string
	if m := spreadOf(each(list, memoryOf)).median; m > 0 {
		memory = append(memory, fmt.Sprintf("%.0f MiB", m))
	}
	if m := spreadOf(each(list, serverOf)).median; m > 0 {
		memory = append(memory, fmt.Sprintf("%.0f MiB of its containerd", m))
	}
	if len(memory) > 0 {
		text += ", " + strings.Join(memory, " and ")
	}
	return text
}

// faster gives how many times faster we were, pair by pair; nil without others.
func (l line) faster() []float64 {
	var list []float64
	for i := range min(len(l.Ours), len(l.Theirs)) {
		list = append(list, float64(l.Theirs[i].Wall)/float64(l.Ours[i].Wall))
	}
	return list
}

// more is what we took more than the others: the median of the pairs.
func (l line) more(of func(meter.Usage) float64) float64 {
	var list []float64
	for i := range min(len(l.Ours), len(l.Theirs)) {
		list = append(list, of(l.Ours[i])-of(l.Theirs[i]))
	}
	return spreadOf(list).median
}

// goals gives the words of the goal, and of what was reached. Whether it was is
// said only of runs of the whole size, whose goal it is.
func (l line) goals(whole bool) (want, got string) {
	var wants, gots []string
	add := func(want, got string, met bool) {
		if whole {
			got += map[bool]string{true: " ✓", false: " ✗"}[met]
		}
		wants, gots = append(wants, want), append(gots, got)
	}
	if g := l.Goal.Faster; g > 0 && len(l.Theirs) > 0 {
		f := spreadOf(l.faster()).median
		add(factor(g)+" times faster", factor(f), f >= g)
	}
	if g := l.Goal.Wall; g > 0 && len(l.Ours) > 0 {
		w := time.Duration(spreadOf(each(l.Ours, wallOf)).median)
		add(g.String(), round(w).String(), w <= g)
	}
	if g := l.Goal.Slow; g > 0 && len(l.Ours) > 0 {
		w := percentile(each(l.Ours, wallOf), 99)
		add("99 of 100 in "+g.String(), round(time.Duration(w)).String(), w <= float64(g))
	}
	if g := l.Goal.Share; g > 0 && len(l.Ours) > 0 {
		s := spreadOf(each(l.Ours, shareOf)).median
		add(percent(g)+" of a processor", percent(s), s <= g)
	}
	if g := l.Goal.Memory; g > 0 && len(l.Ours) > 0 {
		m := spreadOf(each(l.Ours, bothOf)).median
		add(fmt.Sprintf("%d MiB", g), fmt.Sprintf("%.0f MiB in all", m), m <= float64(g))
	}
	if g := l.Goal.Growth; g > 0 && l.Growth != nil {
		add(fmt.Sprintf("%.1f times the time per resource", g), fmt.Sprintf("%.2f (processor %.2f)", l.Growth.Wall, l.Growth.Work),
			l.Growth.Wall <= g)
	}
	if g := l.Goal.Boot; g > 0 && len(l.Boot) > 0 {
		b := time.Duration(spreadOf(l.Boot).median * float64(time.Second))
		add("boot "+g.String(), round(b).String(), b <= g)
	}
	if g := l.Goal.Work; g > 0 && len(l.Ours) > 0 {
		w := time.Duration(spreadOf(each(l.Ours, workOf)).median)
		add("processor "+g.String(), round(w).String(), w <= g)
	}
	if g := l.Goal.More; g > 0 && len(l.Theirs) > 0 {
		m := time.Duration(l.more(wallOf))
		add(g.String()+" more", round(m).String()+" more", m <= g)
	}
	if g := l.Goal.MoreMemory; g > 0 && len(l.Theirs) > 0 {
		m := l.more(memoryOf)
		add(fmt.Sprintf("%d MiB more", g), fmt.Sprintf("%.0f MiB more", m), m <= float64(g))
	}
	return strings.Join(wants, ", "), strings.Join(gots, ", ")
}
