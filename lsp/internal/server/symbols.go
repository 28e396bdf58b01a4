package server

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"deployster/lsp/internal/project"
	"deployster/lsp/internal/wire"
)

// The kinds of symbols as the protocol counts them.
const (
	symbolModule    = 2
	symbolNamespace = 3
	symbolClass     = 5
	symbolProperty  = 7
	symbolFunction  = 12
	symbolVariable  = 13
	symbolObject    = 19
)

// maxSymbols is how many symbols of the folders are returned at a time.
const maxSymbols = 500

// kindOfSymbol returns the kind of a block or of what is declared.
func kindOfSymbol(kind string) int {
	switch kind {
	case "module":
		return symbolModule
	case "type":
		return symbolClass
	case "variable", "var", "local", "locals":
		return symbolVariable
	case "output", "check", "policy":
		return symbolFunction
	case "deployster":
		return symbolNamespace
	}
	return symbolObject
}

// symbols returns the blocks and attributes of a file.
func (s *Server) symbols(_ context.Context, in wire.At) (any, error) {
	file, _, err := s.file(s.project.View(), in.Document.URI)
	if err != nil || file.Body() == nil {
		return []wire.Symbol{}, err
	}
	return symbolsOf(file, file.Body(), 0), nil
}

func symbolsOf(file *project.File, body *hclsyntax.Body, depth int) []wire.Symbol {
	list := []wire.Symbol{}
	for _, b := range body.Blocks {
		name := b.Type
		for _, label := range b.Labels {
			name += ` "` + label + `"`
		}
		one := wire.Symbol{Name: name, Kind: kindOfSymbol(b.Type), Range: file.Lines.Range(b.Range()),
			Selection: file.Lines.Range(b.DefRange()), Children: symbolsOf(file, b.Body, depth+1)}
		list = append(list, one)
	}
	for _, a := range body.Attributes {
		kind := symbolProperty
		if depth == 0 {
			kind = symbolVariable
		}
		list = append(list, wire.Symbol{Name: a.Name, Kind: kind, Range: file.Lines.Range(a.SrcRange),
			Selection: file.Lines.Range(a.NameRange)})
	}
	slices.SortFunc(list, func(a, b wire.Symbol) int {
		return cmp.Or(a.Range.Start.Line-b.Range.Start.Line, a.Range.Start.Character-b.Range.Start.Character)
	})
	return list
}

// findSymbols returns what is declared in the folders and has the query in its address.
func (s *Server) findSymbols(ctx context.Context, in wire.Query) (any, error) {
	v, list := s.project.View(), []wire.FoundSymbol{}
	query := strings.ToLower(in.Query)
	for _, dir := range v.Dirs() {
		for _, file := range v.In(dir) {
			for _, d := range file.Decls {
				if !strings.Contains(strings.ToLower(d.Address()), query) {
					continue
				}
				if len(list) == maxSymbols || ctx.Err() != nil {
					return list, nil
				}
				list = append(list, wire.FoundSymbol{Name: d.Address(), Kind: kindOfSymbol(d.Kind),
					Location: wire.Location{URI: wire.URI(file.Path), Range: file.Lines.Range(d.Whole)}})
			}
		}
	}
	return list, nil
}
