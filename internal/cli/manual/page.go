package manual

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// Page is the documentation of one command.
type Page struct {
	Path        []string // the words after "deployster"
	Summary     string
	Args        string // such as "[PATH ...]"
	Description string
	Flags       []Flag
	Common      []Flag // flags of all commands
	Commands    []Page
	Examples    []string
}

// Flag is one flag of a command.
type Flag struct {
	Names   []string
	Value   string // the placeholder of its value; "" = a switch
	Usage   string
	Default string // "" = not mentioned
	On      bool   // a switch that is on by default
}

// Of returns the page of a program, with the pages of all commands in it.
func Of(app *cli.App) Page {
	common := flagsOf(app.Flags)
	p := Page{Summary: app.Usage, Args: "COMMAND", Flags: common, Examples: examples[""]}
	p.Commands = pagesOf(nil, app.Commands, common)
	return p
}

func pagesOf(path []string, commands []*cli.Command, common []Flag) (pages []Page) {
	for _, c := range commands {
		if c.Hidden {
			continue
		}
		p := Page{Path: append(slices.Clone(path), c.Name), Summary: c.Usage, Args: c.ArgsUsage, Description: c.Description,
			Flags: flagsOf(c.Flags), Common: common}
		p.Examples = examples[strings.Join(p.Path, " ")]
		if p.Commands = pagesOf(p.Path, c.Subcommands, common); len(p.Commands) > 0 {
			p.Args = "COMMAND"
		}
		pages = append(pages, p)
	}
	return pages
}

func flagsOf(flags []cli.Flag) (list []Flag) {
	for _, flag := range flags {
		f := Flag{Names: flag.Names()}
		if known, ok := flag.(cli.DocGenerationFlag); ok {
			f.Usage = known.GetUsage()
			if known.TakesValue() {
				f.Value, f.Default = "VALUE", strings.Trim(known.GetDefaultText(), `"`)
			}
			if before, rest, quoted := strings.Cut(f.Usage, "`"); quoted {
				word, after, _ := strings.Cut(rest, "`")
				f.Value, f.Usage = word, before+word+after
			}
		}
		if switched, ok := flag.(*cli.BoolFlag); ok {
			f.On, f.Default = switched.Value, ""
		}
		if length, ok := flag.(*cli.DurationFlag); ok && length.Value == 0 && length.DefaultText == "" {
			f.Default = ""
		}
		list = append(list, f)
	}
	return list
}

// Find returns the page of a command, or of the nearest command above if it does not exist.
func (p Page) Find(path []string) Page {
	for _, word := range path {
		at := slices.IndexFunc(p.Commands, func(c Page) bool { return c.Path[len(c.Path)-1] == word })
		if at < 0 {
			break
		}
		p = p.Commands[at]
	}
	return p
}

// All returns the page and all below it, each before those below it.
func (p Page) All() []Page {
	all := []Page{p}
	for _, c := range p.Commands {
		all = append(all, c.All()...)
	}
	return all
}

// Name returns the words that call the command.
func (p Page) Name() string { return strings.Join(append([]string{"deployster"}, p.Path...), " ") }

// Usage returns the form of the command line.
func (p Page) Usage() string {
	usage := p.Name() + " [FLAGS]"
	if p.Args != "" {
		usage += " " + p.Args
	}
	return usage
}

// Form returns the flag as users type it: "-t, -tag NAME", "-refresh=false".
func (f Flag) Form() string {
	text := "-" + strings.Join(f.Names, ", -")
	switch {
	case f.On:
		return text + "=false"
	case f.Value != "":
		return text + " " + f.Value
	}
	return text
}

// Meaning returns the description of the flag, with its default.
func (f Flag) Meaning() string {
	if f.Default == "" || strings.Contains(f.Usage, "default:") {
		return f.Usage
	}
	return f.Usage + " (default: " + f.Default + ")"
}
