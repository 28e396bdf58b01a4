package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"deployster/internal/testkit/bench/meter"
)

// line begins a line of the table.
func (s *script) line(args []string) error {
	s.lines = append(s.lines, line{What: strings.Join(args, " ")})
	s.sides = map[string]side{}
	return nil
}

// current is the line that a command is about.
func (s *script) current() (*line, error) {
	if len(s.lines) == 0 {
		return &line{}, errors.New("no line has begun")
	}
	return &s.lines[len(s.lines)-1], nil
}

func (s *script) goal(args []string) error {
	l, err := s.current()
	if err == nil {
		l.Goal, err = parseGoal(args)
	}
	return err
}

// parseGoal reads names of goals, each with its value.
func parseGoal(args []string) (g goal, err error) {
	durations := map[string]*time.Duration{"wall": &g.Wall, "boot": &g.Boot, "more": &g.More, "work": &g.Work, "slow": &g.Slow}
	numbers := map[string]*float64{"faster": &g.Faster, "growth": &g.Growth, "share": &g.Share}
	sizes := map[string]*int64{"memory": &g.Memory, "more-memory": &g.MoreMemory}
	for len(args) > 1 {
		name, value := args[0], args[1]
		switch {
		case durations[name] != nil:
			*durations[name], err = time.ParseDuration(value)
		case numbers[name] != nil:
			*numbers[name], err = strconv.ParseFloat(value, 64)
		case sizes[name] != nil:
			*sizes[name], err = strconv.ParseInt(value, 10, 64)
		default:
			err = fmt.Errorf("%q is not a goal", name)
		}
		if err != nil {
			return g, err
		}
		args = args[2:]
	}
	if len(args) > 0 {
		return g, fmt.Errorf("the goal %s has no value", args[0])
	}
	return g, nil
}

// textCommand sets a text of the line.
func textCommand(of func(*line) *string) func(*script, []string) error {
	return func(s *script, args []string) error {
		l, err := s.current()
		*of(l) = strings.Join(args, " ")
		return err
	}
}

// sideCommand is a side of the line: ours or theirs.
func sideCommand(who string) func(*script, []string) error {
	return func(s *script, args []string) (err error) {
		s.sides[who], err = s.side(args)
		return err
	}
}

// containers counts those of one turn of each side, in $mine and $other.
func (s *script) containers([]string) error {
	for name, who := range map[string]string{"mine": "ours", "other": "theirs"} {
		if s.sides[who].run == nil {
			continue
		}
		n, err := s.bed.containersOf(s.ctx, s.sides[who])
		if err != nil {
			return err
		}
		s.ts.Setenv(name, strconv.FormatInt(n, 10))
	}
	return nil
}

// turns measures the sides of the line in turns. "warm" has an unmeasured pair first; a
// number says how many pairs there are, "xN" how many times as many as usual.
func (s *script) turns(args []string) error {
	l, err := s.current()
	if err != nil {
		return err
	}
	warm, some := false, *s.lab
	for _, arg := range args {
		if arg == "warm" {
			warm = true
		} else if n, err := strconv.Atoi(strings.TrimPrefix(arg, "x")); err != nil {
			return err
		} else if some.pairs = n; arg[0] == 'x' {
			some.pairs = n * s.lab.pairs
		}
	}
	l.Ours, l.Theirs, err = some.inTurns(warm, s.sides["ours"], s.sides["theirs"])
	return err
}

// take takes what was measured under a name into the line.
func (s *script) take(args []string) error {
	l, err := s.current()
	if err == nil && len(args) != 1 || err == nil && s.series[args[0]] == nil {
		err = fmt.Errorf("%q was not measured", args)
	}
	if err == nil {
		l.Ours = s.series[args[0]]
	}
	return err
}

// together adds the memory of one more turn of ours to the line: it takes a command longer to
// be watched.
func (s *script) together([]string) error {
	l, err := s.current()
	if err != nil {
		return err
	}
	s.bed.together = true
	defer func() { s.bed.together = false }()
	u, err := s.sides["ours"].turn()
	for i := range l.Ours {
		l.Ours[i].Together = u.Together
	}
	return err
}

// small takes the line out of the table: it is what one of many resources is compared with.
func (s *script) small(args []string) error {
	l, err := s.current()
	if err != nil || len(args) != 1 {
		return errors.Join(err, errors.New("usage: small NAME"))
	}
	s.series[args[0]] = l.Ours
	s.lines = s.lines[:len(s.lines)-1]
	return nil
}

// grown compares the line with the small one of a name: the time for each resource.
func (s *script) grown(args []string) error {
	l, err := s.current()
	few, err2 := number(args, 1, 1)
	many, err3 := number(args, 2, 1)
	if err := errors.Join(err, err2, err3); err != nil {
		return err
	}
	small, per := s.series[args[0]], float64(many)/float64(few)
	if len(small) == 0 || len(l.Ours) == 0 {
		return fmt.Errorf("%s was not measured", args[0])
	}
	l.Note = fmt.Sprintf("%d: %s", few, describe(small))
	l.Growth = &growth{few, many, wallOf(l.Ours[0]) / spreadOf(each(small, wallOf)).median / per,
		workOf(l.Ours[0]) / spreadOf(each(small, workOf)).median / per}
	return nil
}

// boot runs a command twice with each of new data directories.
func (s *script) boot(args []string) error {
	l, err := s.current()
	if err != nil {
		return err
	}
	var repeated []meter.Usage
	for range s.lab.pairs {
		if err := s.openBed(nil); err != nil {
			return err
		}
		command := s.bed.ours(s.ctx, nil, args...)
		first, err := command.run()
		if err != nil {
			return err
		}
		again, err := command.run()
		if err := errors.Join(err, s.closeBed(nil)); err != nil {
			return err
		}
		l.Ours, repeated = append(l.Ours, first), append(repeated, again)
		l.Boot = append(l.Boot, (first.Wall - again.Wall).Seconds())
	}
	l.Note = "again: " + describe(repeated)
	return nil
}
