package manual

import (
	"slices"
	"strings"
)

// Candidate is a word that may stand at the cursor.
type Candidate struct{ Word, Means string }

// Known returns the names that exist in the working directory or on this machine, by their
// kind in the manual: ADDRESS, ARTIFACT, IMAGE, OUTPUT. Nil = none.
type Known func(kind string) []string

// choices are the values of flags that take one of a fixed set of words.
var choices = map[string][]string{
	"confirm": {"once", "resource", "action"}, "deferred": {"apply", "ask", "stop"}, "unreachable": {"leave", "fail"},
	"format": {"dot", "mermaid", "svg"}, "as": {"done", "failed"}, "network": {"host", "none"},
	"approve": {"create", "update", "replace", "destroy", "forget", "deferred", "drift", "other-path", "purge"},
}

// Complete returns the possible completions of the last word, after the words before it.
// None means that the word is a file, which shells complete themselves.
func (p Page) Complete(words []string, known Known) []Candidate {
	last, command, args, value := words[len(words)-1], p, 0, ""
	for i := 0; i < len(words)-1; i++ {
		word := words[i]
		if len(word) < 2 || word[0] != '-' {
			switch below := command.Find([]string{word}); {
			case len(below.Path) > len(command.Path):
				command = below
			case len(command.Commands) > 0:
				return nil // there is no such command
			default:
				args++
			}
			continue
		}
		name := strings.TrimLeft(word, "-")
		if f, ok := command.flag(name); ok && f.Value != "" && !f.On {
			if i++; i == len(words)-1 {
				value = f.Names[0]
			}
		}
	}
	if name, typed, isFlag := strings.Cut(last, "="); isFlag && strings.HasPrefix(last, "-") {
		if f, ok := command.flag(strings.TrimLeft(name, "-")); ok {
			return beginning(typed, command.values(f, known))
		}
		return nil
	}
	switch {
	case value != "":
		f, _ := command.flag(value)
		return beginning(last, command.values(f, known))
	case strings.HasPrefix(last, "-"):
		return beginning(last, command.flagWords(strings.HasPrefix(last, "--")))
	case len(command.Commands) > 0:
		var list []Candidate
		for _, c := range command.Commands {
			list = append(list, Candidate{c.Path[len(c.Path)-1], c.Summary})
		}
		return beginning(last, list)
	}
	return beginning(last, command.arguments(args, known))
}

// flag returns the flag with a name, of the command or of all commands.
func (p Page) flag(name string) (Flag, bool) {
	for _, f := range slices.Concat(p.Flags, p.Common) {
		if slices.Contains(f.Names, name) {
			return f, true
		}
	}
	return Flag{}, false
}

func (p Page) flagWords(twoDashes bool) (list []Candidate) {
	dash := "-"
	if twoDashes {
		dash = "--"
	}
	for _, f := range slices.Concat(p.Flags, p.Common, []Flag{helpFlag}) {
		name := dash + f.Names[0]
		if f.On {
			name += "=false"
		}
		list = append(list, Candidate{name, f.Usage})
	}
	return list
}

func (p Page) values(f Flag, known Known) []Candidate {
	if f.Value == "ADDRESS" || f.Value == "IMAGE" {
		return plain(known(f.Value))
	}
	return plain(choices[f.Names[0]])
}

// arguments returns the words that the argument with an index may be.
func (p Page) arguments(index int, known Known) []Candidate {
	switch {
	case strings.Contains(p.Args, "ADDRESS"), p.Args == "FROM TO" && index == 0:
		return plain(known("ADDRESS"))
	case strings.Contains(p.Args, "bash"):
		return plain(strings.Split(p.Args, "|"))
	case p.argument(index) == "IMAGE":
		return plain(known("IMAGE"))
	case len(p.Path) > 1 && p.Path[len(p.Path)-2] == "artifact" && p.argument(index) == "NAME":
		return plain(known("ARTIFACT"))
	case p.Name() == "deployster output" && index == 0:
		return plain(known("OUTPUT"))
	}
	return nil
}

// argument returns the word in the manual for the argument with an index.
func (p Page) argument(index int) string {
	words := strings.Fields(strings.Trim(p.Args, "[]"))
	if repeated := len(words) > 0 && words[len(words)-1] == "..."; repeated {
		words = words[:len(words)-1]
		index = min(index, len(words)-1)
	}
	if index >= len(words) {
		return ""
	}
	return words[index]
}

func plain(words []string) (list []Candidate) {
	for _, w := range words {
		list = append(list, Candidate{Word: w})
	}
	return list
}

func beginning(with string, list []Candidate) []Candidate {
	return slices.DeleteFunc(list, func(c Candidate) bool { return !strings.HasPrefix(c.Word, with) })
}
