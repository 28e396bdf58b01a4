package server

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/creachadair/jrpc2"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"deployster/lsp/internal/project"
	"deployster/lsp/internal/wire"
)

// prepareRename returns the name at a place that can be changed.
func (s *Server) prepareRename(_ context.Context, in wire.At) (any, error) {
	v := s.project.View()
	file, _, err := s.file(v, in.Document.URI)
	if err != nil {
		return nil, err
	}
	symbol, at, ok := v.At(file, file.Lines.Offset(in.Position))
	if !ok || len(v.Declared(symbol)) == 0 || v.Fetched(symbol.Dir) {
		return nil, nil
	}
	return wire.Prepared{Range: file.Lines.Range(at), Placeholder: symbol.Name}, nil
}

// rename gives a symbol another name wherever it stands. What has an address in a state gets a moved block too.
func (s *Server) rename(_ context.Context, in wire.At) (any, error) {
	v := s.project.View()
	file, _, err := s.file(v, in.Document.URI)
	if err != nil {
		return nil, err
	}
	symbol, _, ok := v.At(file, file.Lines.Offset(in.Position))
	declared := v.Declared(symbol)
	switch {
	case !ok || len(declared) == 0:
		return nil, jrpc2.Errorf(codeFailed, "nothing that has a name is declared for this place")
	case v.Fetched(symbol.Dir):
		return nil, jrpc2.Errorf(codeFailed, "%s is declared in a module that was fetched, whose files are pinned", symbol.Address())
	case !hclsyntax.ValidIdentifier(in.NewName):
		return nil, jrpc2.Errorf(codeFailed, "%q cannot be a name: a name begins with a letter, and has letters, digits, _ and - only",
			in.NewName)
	case in.NewName == symbol.Name:
		return wire.WorkspaceEdit{Changes: map[string][]wire.TextEdit{}}, nil
	}
	next := symbol
	next.Name = in.NewName
	if taken := v.Declared(next); len(taken) > 0 {
		at, _ := location(v, taken[0].At)
		return nil, jrpc2.Errorf(codeFailed, "%s is already declared at %s:%d", next.Address(), taken[0].At.Filename, at.Range.Start.Line+1)
	}
	e := edits{v: v, files: map[string][]wire.TextEdit{}}
	for _, d := range declared {
		e.replace(d.At, in.NewName)
	}
	for _, r := range v.References(symbol) {
		if !r.Moved { // an address of the past stays
			e.replace(r.At, in.NewName)
		}
	}
	switch symbol.Kind {
	case project.Resource, project.Module, project.Publish:
		e.moved(symbol, next, declared[0])
	}
	return wire.WorkspaceEdit{Changes: e.files}, nil
}

// edits are changes of files, by their URIs.
type edits struct {
	v     *project.View
	files map[string][]wire.TextEdit
}

func (e edits) replace(r hcl.Range, text string) {
	if l, ok := location(e.v, r); ok {
		one := wire.TextEdit{Range: l.Range, NewText: text}
		if !slices.Contains(e.files[l.URI], one) {
			e.files[l.URI] = append(e.files[l.URI], one)
		}
	}
}

// moved adds a moved block at the end of the file with the declaration. Where one has the reverse, which was not
// applied yet, both would form a cycle: then that one goes.
func (e edits) moved(from, to project.Symbol, at project.Decl) {
	for _, file := range e.v.In(from.Dir) {
		body := file.Body()
		if body == nil {
			continue
		}
		for _, b := range body.Blocks {
			if b.Type == "moved" && written(b, "from") == to.Address() && written(b, "to") == from.Address() {
				start, end := around(file.Lines.Text, b.Range())
				e.files[wire.URI(file.Path)] = append(e.files[wire.URI(file.Path)], wire.TextEdit{Range: file.Lines.Bytes(start, end)})
				return
			}
		}
	}
	file := e.v.File(at.Whole.Filename)
	if file == nil {
		return
	}
	src := file.Lines.Text
	text := fmt.Sprintf("\nmoved {\n  from = %s\n  to   = %s\n}\n", from.Address(), to.Address())
	if len(src) > 0 && src[len(src)-1] != '\n' {
		text = "\n" + text
	}
	uri := wire.URI(file.Path)
	e.files[uri] = append(e.files[uri], wire.TextEdit{Range: file.Lines.Bytes(len(src), len(src)), NewText: text})
}

// written returns an address in a moved block, as it is written without keys; "" = it is another expression.
func written(b *hclsyntax.Block, name string) string {
	a := b.Body.Attributes[name]
	if a == nil {
		return ""
	}
	t, diags := hcl.AbsTraversalForExpr(a.Expr)
	if diags.HasErrors() || len(t) != 2 {
		return ""
	}
	if step, ok := t[1].(hcl.TraverseAttr); ok {
		return t.RootName() + "." + step.Name
	}
	return ""
}

// around returns the place of a block with its line ends, and the empty line before it.
func around(src []byte, r hcl.Range) (start, end int) {
	start, end = r.Start.Byte, r.End.Byte
	if i := bytes.IndexByte(src[end:], '\n'); i >= 0 && len(bytes.TrimSpace(src[end:end+i])) == 0 {
		end += i + 1
	}
	if bytes.HasSuffix(src[:start], []byte("\n\n")) {
		start--
	}
	return start, end
}
