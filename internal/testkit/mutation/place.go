package mutation

import (
	"fmt"
	"go/ast"
	"go/scanner"
	"go/token"
	"strconv"
	"strings"
)

// step is one step of a place: a kind of code, and what it must have.
type step struct {
	kind  string
	names []string // in its head: the condition of an if, the whole of a statement
	then  []string // in its body
	after []string // in the statement before it
	n     int      // which one of several, from 1; with 0 there must be just one
}

// steps reads a place, as "if Removed then failJournal > return #2".
func steps(place string) (list []step, err error) {
	for text := range strings.SplitSeq(place, " > ") {
		words, err := words(text)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", place, err)
		}
		if len(words) == 0 || !kinds[words[0]] {
			return nil, fmt.Errorf("%q: %q does not begin with a kind of code", place, text)
		}
		s := step{kind: words[0]}
		into := &s.names
		for _, word := range words[1:] {
			switch number, numbered := strings.CutPrefix(word, "#"); {
			case word == "then":
				into = &s.then
			case word == "after":
				into = &s.after
			case numbered:
				if s.n, err = strconv.Atoi(number); err != nil || s.n < 1 {
					return nil, fmt.Errorf("%q: %q is not a number from 1", place, word)
				}
			default:
				*into = append(*into, word)
			}
		}
		list = append(list, s)
	}
	return list, nil
}

// words divides a step. A Go string is one word.
func words(text string) (list []string, err error) {
	var s scanner.Scanner
	file := token.NewFileSet().AddFile("", -1, len(text))
	s.Init(file, []byte(text), func(_ token.Position, msg string) { err = fmt.Errorf("%q: %s", text, msg) }, 0)
	hash := strings.LastIndex(text, " #")
	if hash >= 0 {
		list, text = []string{text[hash+1:]}, text[:hash]
		rest, err := words(text)
		return append(rest, list...), err
	}
	for {
		_, tok, literal := s.Scan()
		switch {
		case tok == token.EOF, tok == token.SEMICOLON && literal == "\n":
			return list, err
		case literal == "":
			literal = tok.String()
		}
		list = append(list, literal)
	}
}

// site is code that a step can name.
type site struct {
	node     ast.Node     // where the next step searches
	from, to token.Pos    // the part that a change replaces
	gone     [2]token.Pos // the part that goes when it is removed; none where it cannot be
	name     string       // the first name of the step, where that must be a certain one
	head     []ast.Node
	body     []ast.Node
	before   []ast.Node // the statement before it
}

var kinds = map[string]bool{
	"if": true, "case": true, "for": true, "defer": true, "statement": true, "set": true, "target": true, "return": true,
	"call": true, "operand": true, "key": true, "name": true, "text": true, "tag": true,
}

// sites are those of a kind that a node is or has directly.
func sites(kind string, node ast.Node) []site {
	switch n := node.(type) {
	case *ast.BlockStmt:
		return branches(kind, n.List)
	case *ast.IfStmt:
		if other, more := n.Else.(*ast.IfStmt); kind == "if" && more {
			return []site{branch(other)}
		}
	case *ast.CaseClause:
		if kind == "case" && len(n.List) > 0 {
			s := site{node: n, from: n.List[0].Pos(), to: n.List[len(n.List)-1].End()}
			s.head, s.body = widened(n.List), widened(n.Body)
			return []site{s}
		}
		return branches(kind, n.Body)
	case *ast.CommClause:
		if kind == "case" && n.Comm != nil {
			return []site{{node: n, from: n.Comm.Pos(), to: n.Comm.End(), head: nodes(n.Comm), body: widened(n.Body)}}
		}
		return branches(kind, n.Body)
	case *ast.ForStmt:
		if kind == "for" && n.Cond != nil {
			return []site{{node: n, from: n.Cond.Pos(), to: n.Cond.End(), head: nodes(n.Init, n.Cond, n.Post), body: nodes(n.Body)}}
		}
	case *ast.RangeStmt:
		if kind == "for" {
			return []site{{node: n, from: n.X.Pos(), to: n.X.End(), head: nodes(n.X), body: nodes(n.Body)}}
		}
	case ast.Stmt:
		return statements(kind, n)
	case *ast.CallExpr:
		if kind == "call" {
			return []site{{node: n, from: n.Pos(), to: n.End(), name: called(n.Fun), head: nodes(n)}}
		}
	case *ast.BinaryExpr:
		if kind == "operand" && (n.Op == token.LAND || n.Op == token.LOR) {
			return operands(n)
		}
	case *ast.CompositeLit:
		if kind == "key" {
			return pairs(n)
		}
	case *ast.SelectorExpr:
		if kind == "name" {
			return []site{{node: n.Sel, from: n.Sel.Pos(), to: n.Sel.End(), name: n.Sel.Name, head: nodes(n)}}
		}
	case *ast.Ident:
		if kind == "name" {
			return []site{{node: n, from: n.Pos(), to: n.End(), name: n.Name, head: nodes(n)}}
		}
	case *ast.BasicLit:
		if kind == "text" {
			return []site{{node: n, from: n.Pos(), to: n.End(), name: n.Value, head: nodes(n)}}
		}
	case *ast.Field:
		if kind == "tag" && n.Tag != nil && len(n.Names) > 0 {
			return []site{{node: n, from: n.Tag.Pos(), to: n.Tag.End(), name: n.Names[0].Name, head: nodes(n)}}
		}
	}
	return nil
}

// branches are the ifs of a list of statements.
func branches(kind string, list []ast.Stmt) (found []site) {
	for i, statement := range list {
		if n, ok := statement.(*ast.IfStmt); ok && kind == "if" {
			s := branch(n)
			if i > 0 && simple(list[i-1]) {
				s.before = nodes(list[i-1])
			}
			found = append(found, s)
		}
	}
	return found
}

func simple(n ast.Stmt) bool {
	switch n.(type) {
	case *ast.AssignStmt, *ast.ExprStmt, *ast.DeclStmt, *ast.SendStmt, *ast.IncDecStmt:
		return true
	}
	return false
}

func branch(n *ast.IfStmt) site {
	return site{node: n, from: n.Cond.Pos(), to: n.Cond.End(), head: nodes(n.Init, n.Cond), body: nodes(n.Body)}
}

// statements are those without a body of their own.
func statements(kind string, node ast.Stmt) []site {
	s := site{node: node, from: node.Pos(), to: node.End(), gone: [2]token.Pos{node.Pos(), node.End()}, head: nodes(node)}
	switch n := node.(type) {
	case *ast.AssignStmt:
		if kind == "set" {
			s.from, s.gone = n.Rhs[0].Pos(), [2]token.Pos{}
			return []site{s}
		}
		if kind == "target" {
			s.to, s.gone = n.Lhs[len(n.Lhs)-1].End(), [2]token.Pos{}
			return []site{s}
		}
	case *ast.ReturnStmt:
		if kind == "return" {
			if s.gone = [2]token.Pos{}; len(n.Results) > 0 {
				s.from = n.Results[0].Pos()
			}
			return []site{s}
		}
	case *ast.DeferStmt:
		if kind == "defer" {
			s.gone[1] = n.Call.Pos()
			return []site{s}
		}
	case *ast.ExprStmt, *ast.GoStmt, *ast.SendStmt, *ast.IncDecStmt, *ast.BranchStmt, *ast.DeclStmt:
	default:
		return nil
	}
	if kind == "statement" {
		return []site{s}
	}
	return nil
}

// operands are the two of && or ||. Those of a chain, a && b && c, are three.
func operands(n *ast.BinaryExpr) (list []site) {
	if x, chain := n.X.(*ast.BinaryExpr); !chain || x.Op != n.Op {
		list = append(list, site{node: n.X, from: n.X.Pos(), to: n.X.End(), gone: [2]token.Pos{n.X.Pos(), n.Y.Pos()}, head: nodes(n.X)})
	}
	return append(list, site{node: n.Y, from: n.Y.Pos(), to: n.Y.End(), gone: [2]token.Pos{n.X.End(), n.Y.End()}, head: nodes(n.Y)})
}

// pairs are those of a key and a value.
func pairs(n *ast.CompositeLit) (list []site) {
	for i, element := range n.Elts {
		pair, ok := element.(*ast.KeyValueExpr)
		if !ok {
			continue
		}
		s := site{node: pair, from: pair.Value.Pos(), to: pair.End(), gone: [2]token.Pos{pair.Pos(), pair.End()}, head: nodes(pair)}
		switch {
		case i > 0:
			s.gone[0] = n.Elts[i-1].End()
		case len(n.Elts) > 1:
			s.gone[1] = n.Elts[1].Pos()
		}
		if key, ok := pair.Key.(*ast.Ident); ok {
			s.name = key.Name
		}
		list = append(list, s)
	}
	return list
}

// called is the last name of what a call calls.
func called(fun ast.Expr) string {
	switch f := fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	case *ast.IndexExpr:
		return called(f.X)
	}
	return "func"
}

// nodes leaves out what is not there.
func nodes(list ...ast.Node) (out []ast.Node) {
	for _, n := range list {
		if n != nil {
			out = append(out, n)
		}
	}
	return out
}

func widened[N ast.Node](list []N) (out []ast.Node) {
	for _, n := range list {
		out = append(out, n)
	}
	return out
}
