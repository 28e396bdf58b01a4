package mutation

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strings"
)

// Fault is a change of one place in a package.
type Fault struct {
	Name    string // what is wrong then
	Package string // its directory, from the root of the module
	In      string // a function, a method as Type.method, a type or a variable of it
	Place   string
	Change  string // what is there instead; $ in it is what was there
	Seen    string // what the list has of who must see it
}

// Removed is the change that takes away what is at the place.
const Removed = "-"

// Changed returns the path of the file that has the place, from the root of the
// module, and its source with the fault.
func (s *Sources) Changed(f Fault) (path string, source []byte, err error) {
	file, declaration, at, err := s.find(f)
	if err != nil {
		return "", nil, err
	}
	from, to, text := at.from, at.to, ""
	if f.Change == Removed {
		if from, to = at.gone[0], at.gone[1]; !from.IsValid() {
			return "", nil, fmt.Errorf("what %q names cannot be removed", f.Place)
		}
	} else {
		text = f.Change
	}
	first, last := s.files.Position(from).Offset, s.files.Position(to).Offset
	was := string(file.source[first:last])
	if text, err = filled(text, was, receiver(declaration)); err != nil {
		return "", nil, err
	}
	if text == was || text == grouped(was) {
		return "", nil, fmt.Errorf("%q changes nothing", f.Change)
	}
	source = slices.Concat(file.source[:first], []byte(text), file.source[last:])
	if _, err := parser.ParseFile(token.NewFileSet(), "", source, parser.SkipObjectResolution); err != nil {
		return "", nil, fmt.Errorf("what %q makes of %q is not Go: %w", f.Change, file.source[first:last], err)
	}
	return file.path, source, nil
}

var placeholder = regexp.MustCompile(`\$[rf1-9]?`)

// filled puts what was there into a change: all of it for $, and one of its parts for
// $1 and on; $f is what a call calls, and $r the receiver of the method.
func filled(change, was, receiver string) (text string, err error) {
	f, parts := parts(was)
	text = placeholder.ReplaceAllStringFunc(change, func(p string) string {
		n := int(p[len(p)-1] - '1')
		switch {
		case p == "$":
			return grouped(was)
		case p == "$r" && receiver != "":
			return receiver
		case p == "$f" && f != "":
			return f
		case n >= 0 && n < len(parts):
			return grouped(parts[n])
		}
		err = fmt.Errorf("%q has no %s for %q", was, p, change)
		return ""
	})
	return text, err
}

// parts divides a list of values, or the only one into its operands or arguments.
func parts(text string) (f string, list []string) {
	e, err := parser.ParseExpr("_(" + text + ")")
	call, ok := e.(*ast.CallExpr)
	if err != nil || !ok {
		return "", nil
	}
	cut := func(e ast.Expr) string { return text[e.Pos()-3 : e.End()-3] }
	values := call.Args
	if len(values) == 1 {
		switch one := values[0].(type) {
		case *ast.CallExpr:
			f, values = cut(one.Fun), one.Args
		case *ast.BinaryExpr:
			values = []ast.Expr{one.X, one.Y}
		case *ast.UnaryExpr:
			values = []ast.Expr{one.X}
		case *ast.SelectorExpr:
			values = []ast.Expr{one.X}
		case *ast.IndexExpr:
			values = []ast.Expr{one.X, one.Index}
		}
	}
	for _, v := range values {
		list = append(list, cut(v))
	}
	return f, list
}

// receiver is its name in a method.
func receiver(declaration ast.Node) string {
	if d, ok := declaration.(*ast.FuncDecl); ok && d.Recv != nil && len(d.Recv.List[0].Names) > 0 {
		return d.Recv.List[0].Names[0].Name
	}
	return ""
}

// grouped puts an expression of two operands into parentheses.
func grouped(text string) string {
	if e, err := parser.ParseExpr(text); err == nil {
		if _, two := e.(*ast.BinaryExpr); two {
			return "(" + text + ")"
		}
	}
	return text
}

// find returns the only site that a fault names.
func (s *Sources) find(f Fault) (*file, ast.Node, site, error) {
	file, declaration, err := s.declaration(f.Package, f.In)
	if err != nil {
		return nil, nil, site{}, err
	}
	path, err := steps(f.Place)
	if err != nil {
		return nil, nil, site{}, err
	}
	local := locals(declaration)
	at := site{node: declaration}
	for i, step := range path {
		found := matching(step, at.node, i > 0, local)
		switch {
		case step.n > len(found), len(found) == 0, step.n == 0 && len(found) > 1:
			return nil, nil, site{}, fmt.Errorf("%s in %s: step %d of %q names %d places%s",
				f.In, file.path, i+1, f.Place, len(found), s.lines(found))
		case step.n > 0:
			at = found[step.n-1]
		default:
			at = found[0]
		}
	}
	return file, declaration, at, nil
}

func (s *Sources) lines(list []site) string {
	var b strings.Builder
	before := ": line"
	for _, x := range list {
		fmt.Fprintf(&b, "%s %d", before, s.files.Position(x.from).Line)
		before = ","
	}
	return b.String()
}

// matching are the sites of a step. Of those that have the names because one of them
// is within another, it is the one within.
func matching(step step, root ast.Node, below bool, local map[string]bool) (list []site) {
	ast.Inspect(root, func(n ast.Node) bool {
		if n == nil || below && n == root && step.kind != "operand" {
			return n != nil
		}
		for _, x := range sites(step.kind, n) {
			known := slices.ContainsFunc(list, func(y site) bool { return y.node == x.node })
			if !known && matches(step, x, local) {
				list = append(list, x)
			}
		}
		return true
	})
	slices.SortStableFunc(list, func(x, y site) int { return cmp.Compare(x.from, y.from) })
	if (step.kind == "if" || step.kind == "case" || step.kind == "for") && len(step.then) == 0 {
		return list
	}
	all := slices.Clone(list)
	return slices.DeleteFunc(list, func(x site) bool {
		return slices.ContainsFunc(all, func(y site) bool {
			return y.node != x.node && x.node.Pos() <= y.node.Pos() && y.node.End() <= x.node.End()
		})
	})
}

func matches(step step, x site, local map[string]bool) bool {
	names := step.names
	if x.name != "" && len(names) > 0 {
		if names[0] != x.name {
			return false
		}
		if step.kind != "name" {
			names = names[1:]
		}
	}
	return has(x.head, names, local) && has(x.body, step.then, local) && has(x.before, step.after, local)
}

func has(code []ast.Node, names []string, local map[string]bool) bool {
	if len(names) == 0 {
		return true
	}
	all := mentions(code, local)
	return !slices.ContainsFunc(names, func(name string) bool { return !all[name] })
}
