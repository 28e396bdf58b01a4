package settings

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"

	"deployster/machine/internal/access"
	"deployster/machine/internal/files"
	"deployster/protocol"
)

// LocaleConfig is what a user writes about the language of the machine.
type LocaleConfig struct {
	File string `json:"file" default:"/etc/default/locale" pattern:"^/etc/(default/)?locale(\\.conf)?$" deployster:"identity"`

	Lang      string            `json:"lang" pattern:"^[A-Za-z0-9_.@-]+$"`
	Variables map[string]string `json:"variables,omitempty" deployster:"computed"`
}

var localeDocs = map[string]string{
	"file":      "The file that has it: a machine has one. Debian and Ubuntu read this one, others /etc/locale.conf.",
	"lang":      "The locale, such as de_CH.UTF-8 or C.UTF-8. One that the machine has not yet is generated.",
	"variables": "More variables, such as LC_TIME or LANGUAGE: then the file has no others than these. Left out, others are not managed.",
}

// LocaleState is what exists.
type LocaleState struct {
	Lang      string            `json:"lang" doc:"the locale in the file"`
	Variables map[string]string `json:"variables,omitempty" doc:"the other variables in the file"`
	Missing   []string          `json:"missing,omitempty" doc:"locales of the config that the machine has not"`
}

type localeCall = protocol.Call[LocaleConfig, LocaleState]

// Locale is the kind of the language of the machine.
type Locale struct{ Machine *access.Machine }

// NewLocale returns the kind locale.
func NewLocale(m *access.Machine) protocol.Kind {
	return protocol.NewKind(Locale{m}, protocol.About{Label: "Language", Kind: "linux/locale", Worker: true, Unknowns: true,
		Docs: localeDocs})
}

const (
	langVariable  = "LANG"
	supported     = "/usr/share/i18n/SUPPORTED"
	generatedList = "/etc/locale.gen"
)

var variableName = regexp.MustCompile(`^(LANGUAGE|LC_[A-Z]+)$`)

func (k Locale) check(c *localeCall) error {
	for name, value := range c.Config.Variables {
		switch {
		case !variableName.MatchString(name):
			return protocol.Errorf(protocol.ConfigError, "/variables", "%q is neither LANGUAGE nor LC_ and a category", name)
		case name == "LC_ALL":
			return protocol.Errorf(protocol.ConfigError, "/variables/LC_ALL",
				"LC_ALL overrides all others, also what a user chooses: set lang")
		case !localeName.MatchString(value):
			return protocol.Errorf(protocol.ConfigError, "/variables/"+name, "%q is not a locale", value)
		}
	}
	return nil
}

var localeName = regexp.MustCompile(`^[A-Za-z0-9_.@:-]+$`)

// wanted returns the locales of the config that are not part of the C library itself.
func (c LocaleConfig) wanted() (list []string) {
	all := []string{c.Lang}
	for _, name := range slices.Sorted(maps.Keys(c.Variables)) {
		if name != "LANGUAGE" { // a list of languages
			all = append(all, c.Variables[name])
		}
	}
	for _, one := range all {
		switch normalLocale(one) {
		case "C", "POSIX", "C.utf8", "":
		default:
			if !slices.Contains(list, one) {
				list = append(list, one)
			}
		}
	}
	return list
}

// normalLocale writes the charset as locale -a does: de_CH.UTF-8 is de_CH.utf8.
func normalLocale(name string) string {
	language, charset, has := strings.Cut(name, ".")
	if !has {
		return name
	}
	charset, modifier, modified := strings.Cut(charset, "@")
	name = language + "." + strings.ToLower(strings.ReplaceAll(charset, "-", ""))
	if modified {
		name += "@" + modifier
	}
	return name
}

// missing returns the locales of the config that the machine has not.
func (k Locale) missing(ctx context.Context, c LocaleConfig) (list []string, err error) {
	wanted := c.wanted()
	if len(wanted) == 0 {
		return nil, nil
	}
	var out bytes.Buffer
	if err := k.Machine.Run(ctx, access.Command{Args: []string{"locale", "-a"}, Stdout: &out}); err != nil {
		return nil, err
	}
	have := strings.Fields(out.String())
	for i := range have {
		have[i] = normalLocale(have[i])
	}
	for _, one := range wanted {
		if !slices.Contains(have, normalLocale(one)) {
			list = append(list, one)
		}
	}
	return list, nil
}

// charsets returns the lines of locales that the machine can generate, by their names; nil = it
// can generate none yet.
func (k Locale) charsets() map[string]string {
	text, err := os.ReadFile(k.Machine.Path(supported))
	if err != nil {
		return nil
	}
	lines := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if words := strings.Fields(line); len(words) == 2 {
			lines[words[0]] = words[0] + " " + words[1]
		}
	}
	return lines
}

// Read returns the variables of the file; nil if it has none, or if the resource is to be gone.
func (k Locale) Read(ctx context.Context, c *localeCall) (*LocaleState, error) {
	if c.Intent == protocol.Absent {
		return nil, nil
	}
	if err := k.check(c); err != nil {
		return nil, err
	}
	text, err := k.text(c.Config.File)
	if err != nil {
		return nil, err
	}
	s := &LocaleState{Variables: map[string]string{}}
	for line := range strings.Lines(text) {
		if v := assignment.FindStringSubmatch(strings.TrimRight(line, "\r\n")); v != nil {
			s.Variables[v[1]] = strings.Trim(v[2], `"'`)
		}
	}
	s.Lang = s.Variables[langVariable]
	delete(s.Variables, langVariable)
	if len(s.Variables) == 0 {
		s.Variables = nil
	}
	if len(c.Unknown) > 0 {
		return s, nil
	}
	if s.Missing, err = k.missing(ctx, c.Config); err != nil {
		return nil, err
	}
	if lines := k.charsets(); lines != nil {
		for _, one := range s.Missing {
			if lines[one] == "" {
				return nil, protocol.Errorf(protocol.ConfigError, "", "%s has no locale %q: write it as that file has it", supported, one)
			}
		}
	}
	return s, nil
}

var assignment = regexp.MustCompile(`^[ \t]*(?:export[ \t]+)?([A-Z_]+)=(.*?)[ \t]*$`)

// text returns the content of a file; "" if there is none.
func (k Locale) text(path string) (string, error) {
	text, err := os.ReadFile(k.Machine.Path(path))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return string(text), err
}

// Plan adds what is to be generated.
func (k Locale) Plan(_ context.Context, c *localeCall, have *LocaleState) (*protocol.Plan, error) {
	plan, err := c.DefaultPlan(have)
	if err != nil || len(have.Missing) == 0 {
		return plan, err
	}
	if plan == nil {
		plan = &protocol.Plan{Actions: []protocol.Action{{Name: "update"}}}
	}
	plan.Unknown = append(plan.Unknown, "/missing")
	plan.Reasons = append(plan.Reasons, protocol.Reason{Path: "/lang",
		Message: "the machine has to generate " + strings.Join(have.Missing, ", ")})
	if k.charsets() == nil {
		plan.Reasons = append(plan.Reasons, protocol.Reason{Path: "/lang",
			Message: supported + " does not exist yet: the package locales brings it"})
	}
	return plan, nil
}

// Write generates locales that are missing, and writes the file: one that does not exist is left out.
func (k Locale) Write(ctx context.Context, c *localeCall) error {
	missing, err := k.missing(ctx, c.Config)
	if err != nil {
		return err
	}
	if len(missing) > 0 {
		if err := k.generate(ctx, missing); err != nil {
			return err
		}
	}
	path, err := files.Followed(k.Machine, c.Config.File)
	if err != nil {
		return err
	}
	text, err := k.text(path)
	if err != nil {
		return err
	}
	return writeText(ctx, k.Machine, path, k.assigned(text, c.Config))
}

func (k Locale) generate(ctx context.Context, missing []string) error {
	lines := k.charsets()
	if lines == nil {
		return errors.New("this machine cannot generate locales: install the package locales first")
	}
	text, err := k.text(generatedList)
	if err != nil {
		return err
	}
	for _, one := range missing {
		line := lines[one]
		commented := regexp.MustCompile(`(?m)^[ \t]*#?[ \t]*` + regexp.QuoteMeta(line) + `[ \t]*$`)
		if at := commented.FindStringIndex(text); at != nil {
			text = text[:at[0]] + line + text[at[1]:]
			continue
		}
		if text != "" && !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		text += line + "\n"
	}
	if err := writeText(ctx, k.Machine, generatedList, text); err != nil {
		return err
	}
	if err := k.Machine.Run(ctx, access.Command{Args: []string{"locale-gen", "--keep-existing"}}); err != nil {
		return fmt.Errorf("%s cannot be generated: %w", strings.Join(missing, ", "), err)
	}
	return nil
}

// assigned returns the text of the file with the variables of the config; comments stay.
func (k Locale) assigned(text string, c LocaleConfig) string {
	want := maps.Clone(c.Variables)
	if want == nil {
		want = map[string]string{}
	}
	want[langVariable] = c.Lang
	var b strings.Builder
	done := map[string]bool{}
	for line := range strings.Lines(text) {
		v := assignment.FindStringSubmatch(strings.TrimRight(line, "\r\n"))
		switch {
		case v == nil:
			b.WriteString(strings.TrimSuffix(line, "\n") + "\n")
		case done[v[1]]:
		case want[v[1]] != "":
			b.WriteString(v[1] + "=" + want[v[1]] + "\n")
		case c.Variables == nil:
			b.WriteString(strings.TrimSuffix(line, "\n") + "\n")
		}
		if v != nil {
			done[v[1]] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if !done[name] {
			b.WriteString(name + "=" + want[name] + "\n")
		}
	}
	return b.String()
}

// Delete does nothing: a machine always has a language.
func (k Locale) Delete(context.Context, *localeCall) error { return nil }

// Watch reports changes of the file.
func (k Locale) Watch(ctx context.Context, c *localeCall, tell func(detail string)) error {
	return files.WatchFollowed(ctx, k.Machine, c.Config.File, tell)
}
