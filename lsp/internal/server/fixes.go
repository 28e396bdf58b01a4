package server

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"deployster/internal/base/diag"
	"deployster/internal/base/words"
	"deployster/lsp/internal/text"
	"deployster/lsp/internal/wire"
)

// fix is how a problem is mended: a word becomes another.
type fix struct {
	at       wire.Range
	old, new string
}

var (
	suggestion = regexp.MustCompile(`Did you mean (?:"([^"]+)"|([A-Za-z_][\w.\-\[\]"]*))(?:\?| or |,)`)
	word       = regexp.MustCompile(`[A-Za-z_][\w-]*`)
	address    = regexp.MustCompile(`[A-Za-z_][\w.-]*`)
)

// fixOf returns how a problem is mended whose text suggests a name; nil = it is not known. The word that is
// replaced is the one in the range that is most like the name.
func fixOf(problem string, lines *text.Lines, r diag.Range) *fix {
	found := suggestion.FindStringSubmatch(problem)
	if found == nil || r.Start.Byte < 0 || r.Start.Byte > r.End.Byte || r.End.Byte > len(lines.Text) {
		return nil
	}
	name := found[1] + found[2]
	src := string(lines.Text[r.Start.Byte:r.End.Byte])
	start, end := nearest(src, name)
	if start < 0 {
		return nil
	}
	return &fix{at: lines.Bytes(r.Start.Byte+start, r.Start.Byte+end), old: src[start:end], new: name}
}

// nearest returns where the word is in a text that a name replaces; -1 = there is none.
func nearest(src, name string) (start, end int) {
	if whole := address.FindAllStringIndex(src, -1); strings.ContainsAny(name, ".[") {
		if len(whole) == 1 && src[whole[0][0]:whole[0][1]] != name {
			return whole[0][0], whole[0][1]
		}
		return -1, -1
	} else if strings.HasPrefix(name, "./") || strings.HasPrefix(name, "../") {
		return -1, -1
	}
	least := -1
	start, end = -1, -1
	for _, at := range word.FindAllStringIndex(src, -1) {
		one := src[at[0]:at[1]]
		letters, near := words.Distance(one, name)
		if len(one) >= 3 && strings.HasPrefix(name, one) {
			letters, near = 0, true
		}
		if near && one != name && (least < 0 || letters < least) {
			least, start, end = letters, at[0], at[1]
		}
	}
	return start, end
}

// actions offers to mend the problems in a part of a text.
func (s *Server) actions(_ context.Context, in wire.Actions) (any, error) {
	list := []wire.CodeAction{}
	if len(in.Context.Only) > 0 && !slices.ContainsFunc(in.Context.Only, func(kind string) bool {
		return kind == "" || kind == wire.QuickFix
	}) {
		return list, nil
	}
	v := s.project.View()
	file, _, err := s.file(v, in.Document.URI)
	if err != nil {
		return nil, err
	}
	for _, d := range s.checker.fixes(file.Path) {
		if before(d.Range.End, in.Range.Start) || before(in.Range.End, d.Range.Start) {
			continue
		}
		l := file.Lines
		start, end := l.Offset(d.fix.at.Start), l.Offset(d.fix.at.End)
		if string(l.Text[start:max(start, end)]) != d.fix.old {
			continue // the text has changed since
		}
		one := wire.CodeAction{Title: "Change " + d.fix.old + " to " + d.fix.new, Kind: wire.QuickFix, Preferred: true,
			Diagnostics: []wire.Diagnostic{d.Diagnostic},
			Edit: wire.WorkspaceEdit{Changes: map[string][]wire.TextEdit{
				wire.URI(file.Path): {{Range: d.fix.at, NewText: d.fix.new}}}}}
		if !slices.ContainsFunc(list, func(o wire.CodeAction) bool { return o.Title == one.Title && o.Diagnostics[0] == d.Diagnostic }) {
			list = append(list, one)
		}
	}
	return list, nil
}

func before(a, b wire.Position) bool {
	return a.Line < b.Line || a.Line == b.Line && a.Character < b.Character
}
