package server

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl-lang/lang"
	"github.com/hashicorp/hcl-lang/reference"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"deployster/config"
	"deployster/lsp/internal/project"
	"deployster/lsp/internal/wire"
)

// filler is put behind a dot at which nothing stands yet: without a name the parser drops the whole expression.
const filler = "x"

// complete returns what can stand at a place.
func (s *Server) complete(ctx context.Context, in wire.At) (any, error) {
	out := wire.Completions{Items: []wire.Completion{}}
	v := s.project.View()
	file, dir, err := s.file(v, in.Document.URI)
	if err != nil || file.Body() == nil {
		return out, err
	}
	p := s.place(v, file, dir, file.Lines.Offset(in.Position))
	src, extra := filled(file, p.offset)
	targets := p.targets(src, typed(file.Lines.Text[:p.offset]))
	d, err := p.decoder(src, targets.list)
	if err != nil {
		return out, nil
	}
	found, err := d.CompletionAtPos(ctx, file.Path, file.Lines.Pos(p.offset))
	if err != nil || len(found.List) == 0 {
		found = p.inExpression(targets)
	}
	out.Incomplete = targets.more || !found.IsComplete
	for _, c := range found.List {
		out.Items = append(out.Items, s.completion(file, c, p.offset, extra))
	}
	return out, nil
}

// inExpression returns the references and functions that can stand in an expression of which hcl-lang knows
// nothing, such as a value in an object whose schema is not known. It returns none where a value cannot begin.
func (p *place) inExpression(t *targets) lang.Candidates {
	src := p.file.Lines.Text[:p.offset]
	start := p.offset - len(t.prefix)
	text := strings.TrimRight(string(src[:start]), " \t")
	begins := text != "" && (strings.HasSuffix(text, "${") || strings.ContainsRune("=([,?:!&|+-*/%<>", rune(text[len(text)-1])))
	if !p.file.Manifest || !begins {
		return lang.ZeroCandidates()
	}
	at := hcl.Range{Filename: p.file.Path, Start: hcl.Pos{Byte: start}, End: hcl.Pos{Byte: p.offset}}
	out := lang.Candidates{IsComplete: true}
	add := func(label, detail, text, doc string, kind lang.CandidateKind) {
		out.List = append(out.List, lang.Candidate{Label: label, Detail: detail, Kind: kind, Description: lang.Markdown(doc),
			TextEdit: lang.TextEdit{Range: at, NewText: text}})
	}
	var walk func(list reference.Targets)
	walk = func(list reference.Targets) {
		for _, one := range list {
			address := one.Addr.String()
			if strings.HasPrefix(address, t.prefix) {
				add(address, one.Name, address, one.Description.Value, lang.ReferenceCandidateKind)
			} else if strings.HasPrefix(t.prefix, address) {
				walk(one.NestedTargets)
			}
		}
	}
	walk(t.list)
	for _, name := range slices.Sorted(maps.Keys(p.s.language.Functions)) {
		if f := p.s.language.Functions[name]; strings.HasPrefix(name, t.prefix) {
			add(name, "function", name+"(", f.Description, lang.FunctionCandidateKind)
		}
	}
	return out
}

// filled returns the syntax of a file for completion at an offset, and by how much it is longer there.
func filled(file *project.File, offset int) (*hcl.File, int) {
	src := file.Lines.Text
	if offset == 0 || src[offset-1] != '.' || offset < len(src) && isNameByte(src[offset]) {
		return file.HCL, 0
	}
	longer := make([]byte, 0, len(src)+len(filler))
	longer = append(append(append(longer, src[:offset]...), filler...), src[offset:]...)
	if config.IsNested(longer) {
		return file.HCL, 0
	}
	f, _ := hclsyntax.ParseConfig(longer, file.Path, hcl.InitialPos) // its mistakes are those of the file
	return f, len(filler)
}

func isNameByte(c byte) bool {
	return c == '_' || c == '-' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// typed returns the part of a reference at the end of a text: resource.web["a"].st
func typed(src []byte) string {
	i, quoted := len(src), false
	for ; i > 0; i-- {
		c := src[i-1]
		switch {
		case c == '"':
			if !quoted && !(i < len(src) && src[i] == ']') {
				return string(src[i:])
			}
			quoted = !quoted
		case c == '\n', !quoted && c == '[' && (i < 2 || !isNameByte(src[i-2]) && src[i-2] != ']'): // a list
			return string(src[i:])
		case !quoted && c != '.' && c != '[' && c != ']' && !isNameByte(c):
			return string(src[i:])
		}
	}
	return string(src[i:])
}

// completion returns a candidate as an editor takes it.
func (s *Server) completion(file *project.File, c lang.Candidate, offset, extra int) wire.Completion {
	start, end := c.TextEdit.Range.Start.Byte, c.TextEdit.Range.End.Byte
	if end > offset { // what follows in the same word is replaced too
		end = max(offset, end-extra)
	}
	out := wire.Completion{Label: c.Label, Kind: kindOf(c.Kind), Detail: c.Detail, Documentation: wire.Markdown(c.Description.Value),
		Format: 1, Edit: wire.TextEdit{Range: file.Lines.Bytes(start, end), NewText: c.TextEdit.NewText}}
	if s.snippets.Load() && c.TextEdit.Snippet != "" {
		out.Format, out.Edit.NewText = 2, c.TextEdit.Snippet
	}
	return out
}

// kindOf returns the kind of a completion as the protocol counts them.
func kindOf(k lang.CandidateKind) int {
	const function, variable, class, property, value, keyword, structure = 3, 6, 7, 10, 12, 14, 22
	switch k {
	case lang.AttributeCandidateKind:
		return property
	case lang.BlockCandidateKind:
		return class
	case lang.KeywordCandidateKind, lang.BoolCandidateKind:
		return keyword
	case lang.ReferenceCandidateKind:
		return variable
	case lang.FunctionCandidateKind:
		return function
	case lang.ListCandidateKind, lang.MapCandidateKind, lang.ObjectCandidateKind, lang.SetCandidateKind, lang.TupleCandidateKind:
		return structure
	}
	return value
}
