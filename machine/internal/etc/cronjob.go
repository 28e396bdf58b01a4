package etc

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"deployster/protocol"
)

// maxCommand is the longest command that cron reads.
const maxCommand = 998

// checkJob returns an error of the config: cron would ignore the whole file without a word.
func checkJob(c CronConfig, unknown func(string) bool) error {
	if !unknown("/schedule") {
		if err := checkSchedule(c.Schedule); err != nil {
			return protocol.Errorf(protocol.ConfigError, "/schedule", "%q is not a schedule of cron: %s", c.Schedule, err)
		}
	}
	fail := func(format string, args ...any) error {
		return protocol.Errorf(protocol.ConfigError, "/command", format, args...)
	}
	switch {
	case unknown("/command"):
	case strings.ContainsAny(c.Command, "\r\n\x00"):
		return fail("a command of cron is one line: put it into a file, and run that")
	case strings.TrimSpace(c.Command) != c.Command:
		return fail("%q has blanks around it, which cron does not keep", c.Command)
	case strings.Contains(c.Command, `\%`):
		return fail("cron cannot read a backslash before a %%: put the command into a file, and run that")
	case len(escapedCommand(c.Command)) > maxCommand:
		return fail("cron reads %d bytes of a command, and this has %d: put it into a file, and run that", maxCommand,
			len(escapedCommand(c.Command)))
	}
	for _, name := range slices.Sorted(maps.Keys(c.Env)) {
		value := c.Env[name]
		switch {
		case !variable.MatchString(name):
			return protocol.Errorf(protocol.ConfigError, "/env", "%q is not the name of a variable", name)
		case strings.ContainsAny(value, "\r\n\x00"), strings.Contains(value, `"`) && strings.Contains(value, "'"):
			return protocol.Errorf(protocol.ConfigError, "/env/"+name,
				"cron can read neither newlines nor both kinds of quotes in one value")
		case strings.TrimSpace(value) != value:
			return protocol.Errorf(protocol.ConfigError, "/env/"+name, "%q has blanks around it, which cron does not keep", value)
		}
	}
	return nil
}

var variable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

func escapedCommand(command string) string { return strings.ReplaceAll(command, "%", `\%`) }

const managed = "# Managed by deployster\n"

// renderedJob returns the text of the file.
func renderedJob(c CronConfig) string {
	var b strings.Builder
	b.WriteString(managed)
	for _, name := range slices.Sorted(maps.Keys(c.Env)) {
		quote := `"`
		if strings.Contains(c.Env[name], quote) {
			quote = "'"
		}
		fmt.Fprintf(&b, "%s=%s%s%s\n", name, quote, c.Env[name], quote)
	}
	fmt.Fprintf(&b, "%s %s %s\n", strings.Join(strings.Fields(c.Schedule), " "), c.User, escapedCommand(c.Command))
	return b.String()
}

var (
	environment = regexp.MustCompile(`^[ \t]*([A-Za-z_][A-Za-z0-9_]*)[ \t]*=[ \t]*(.*?)[ \t]*$`)
	jobLine     = regexp.MustCompile(`^[ \t]*(@[a-z]+|\S+(?:[ \t]+\S+){4})[ \t]+(\S+)[ \t]+(.*)$`)
)

// parsedJob returns the job of a file; ok is false if it has not just one. Comments do not count.
func parsedJob(text string) (c CronConfig, ok bool) {
	jobs := 0
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if trimmed := strings.TrimSpace(line); trimmed == "" || trimmed[0] == '#' {
			continue
		}
		if v := environment.FindStringSubmatch(line); v != nil {
			if c.Env == nil {
				c.Env = map[string]string{}
			}
			c.Env[v[1]] = unquoted(v[2])
			continue
		}
		job := jobLine.FindStringSubmatch(line)
		if jobs++; job == nil {
			return c, false
		}
		c.Schedule, c.User, c.Command = strings.Join(strings.Fields(job[1]), " "), job[2], strings.ReplaceAll(job[3], `\%`, "%")
		if strings.Contains(strings.ReplaceAll(job[3], `\%`, ""), "%") {
			return c, false // it has an input, which the config has not
		}
	}
	return c, jobs == 1
}

func unquoted(value string) string {
	for _, quote := range []string{`"`, "'"} {
		if len(value) > 1 && strings.HasPrefix(value, quote) && strings.HasSuffix(value, quote) {
			return value[1 : len(value)-1]
		}
	}
	return value
}

// nicknames are the words for schedules.
var nicknames = []string{"@reboot", "@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"}

// field is a field of a schedule: its range, and the names for its numbers from the lowest on.
type field struct {
	name     string
	low, top int
	names    []string
}

var fields = []field{
	{name: "the minute", top: 59},
	{name: "the hour", top: 23},
	{name: "the day of the month", low: 1, top: 31},
	{name: "the month", low: 1, top: 12, names: []string{"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov",
		"dec"}},
	{name: "the day of the week", top: 7, names: []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}},
}

// checkSchedule returns an error for a text that cron does not read as a time.
func checkSchedule(text string) error {
	parts := strings.Fields(text)
	switch {
	case strings.ContainsAny(text, "\r\n"):
		return fmt.Errorf("it has more than one line")
	case len(parts) == 1 && slices.Contains(nicknames, parts[0]):
		return nil
	case strings.HasPrefix(text, "@"):
		return fmt.Errorf("the words are %s", strings.Join(nicknames, ", "))
	case len(parts) != len(fields):
		return fmt.Errorf("it has %d fields, and must have minute, hour, day of the month, month and day of the week", len(parts))
	}
	for i, f := range fields {
		for one := range strings.SplitSeq(parts[i], ",") {
			if err := f.check(one); err != nil {
				return fmt.Errorf("%s %q: %w", f.name, parts[i], err)
			}
		}
	}
	return nil
}

// check returns an error for what is neither a number, a range nor *, with or without a step.
func (f field) check(text string) error {
	span, step, stepped := strings.Cut(text, "/")
	if n, err := strconv.Atoi(step); stepped && (err != nil || n < 1 || strings.HasPrefix(step, "+")) {
		return fmt.Errorf("%q is not a step", step)
	}
	from, to, ranged := strings.Cut(span, "-")
	switch {
	case span == "*":
		return nil
	case stepped && !ranged:
		return fmt.Errorf("a step needs a range or *")
	}
	low, err := f.number(from)
	if err != nil || !ranged {
		return err
	}
	high, err := f.number(to)
	if err == nil && high < low {
		return fmt.Errorf("%q ends before it begins", span)
	}
	return err
}

func (f field) number(text string) (int, error) {
	if i := slices.Index(f.names, strings.ToLower(text)); i >= 0 {
		return f.low + i, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < f.low || n > f.top || strings.HasPrefix(text, "+") {
		return 0, fmt.Errorf("%q is not from %d to %d", text, f.low, f.top)
	}
	return n, nil
}
