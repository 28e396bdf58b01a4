package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// Operands of each kind that an expression treats in its own way: known, null with and without
// a type, unknown with and without a type, sensitive, and combinations of these.
var (
	boolOperands = []string{"true", "false", `"true"`, `"x"`, "1", "null", "var.nb", "var.ns", "local.ub", "local.ud", "sensitive(true)",
		"sensitive(false)", "sensitive(var.nb)", "sensitive(local.ub)", "[][0]"}
	numberOperands = []string{"1", "0", `"2"`, `"x"`, "true", "null", "var.nn", "var.ns", "local.un", "local.us", "local.ud", "sensitive(1)",
		"sensitive(var.nn)", "sensitive(local.un)", "[][0]"}
	anyOperands = []string{"1", `"1"`, "-0", "true", "null", "var.ns", "var.nl", "local.us", "local.un", "local.ud", "local.ul", `sensitive("1")`,
		"sensitive(var.ns)", "sensitive(local.us)", `["a"]`, `tolist(["a"])`, `toset(["a"])`, `{ a = "a" }`, `tomap({ a = "a" })`,
		"[null]", "[var.ns]", "[local.us]", `[sensitive("a")]`, "{ a = null }", "{ a = local.us }", `{ a = sensitive("a") }`}
	collectionOperands = []string{"null", "var.nl", "var.nm", "var.no", "var.ns", "local.ul", "local.um", "local.ut", "local.ud", "[]", `["a", "b"]`,
		`tolist(["a", "b"])`, `toset(["a", "b"])`, `{ a = "b" }`, `tomap({ a = "b" })`, "[null]", "[var.ns]", `["a", local.us]`, `["a", sensitive("b")]`,
		"{ a = null }", "{ a = local.us }", `{ a = sensitive("b") }`, `sensitive(["a", "b"])`, "sensitive(var.nl)", "sensitive(local.ul)", `"text"`}
)

// operandExpressions returns expressions that give each operator, each other part of an expression
// and each parameter of each function operands of each kind. The rows are the answers for the list of
// expressions, which are not repeated: the first successful call of each function in them is the pattern
// for its parameters.
func operandExpressions(ours *Manifest, rows []answer) []string {
	all := slices.Concat(operatorExpressions(), partExpressions(), functionExpressions(ours, rows))
	slices.Sort(all)
	there := map[string]bool{}
	for _, row := range rows {
		there[row.Expr] = true
	}
	return slices.DeleteFunc(slices.Compact(all), func(expr string) bool { return there[expr] })
}

// each returns the format with each of the operands.
func each(format string, operands []string) []string {
	var out []string
	for _, a := range operands {
		out = append(out, fmt.Sprintf(format, a))
	}
	return out
}

// pairs returns the format with each two of the operands.
func pairs(format string, operands []string) []string {
	var out []string
	for _, a := range operands {
		for _, b := range operands {
			out = append(out, fmt.Sprintf(format, a, b))
		}
	}
	return out
}

func operatorExpressions() []string {
	out := slices.Concat(pairs("%s && %s", boolOperands), pairs("%s || %s", boolOperands), each("!%s", boolOperands), each("-%s", numberOperands),
		pairs("%s + %s", numberOperands), pairs("%s < %s", numberOperands), pairs("%s == %s", anyOperands))
	for _, operator := range []string{"-", "*", "/", "%", "<=", ">", ">="} {
		for _, other := range []string{"2", "var.nn", "local.un"} {
			out = append(out, each("%s "+operator+" "+other, numberOperands)...)
			out = append(out, each(other+" "+operator+" %s", numberOperands)...)
		}
	}
	for _, other := range []string{"null", `"1"`, "local.us"} {
		out = append(out, each("%s != "+other, anyOperands)...)
		out = append(out, each(other+" != %s", anyOperands)...)
	}
	return out
}

// partExpressions returns expressions with the operands in the parts that are no operands of operators.
func partExpressions() []string {
	var out []string
	for _, format := range []string{`%s ? 1 : 2`, `%s ? "a" : local.us`, `%s ? var.nn : 1`, `[for x in ["a", "b"] : x if %s]`, `{ for x in ["a", "b"] : x => 1 if %s }`,
		`[for x in local.ul : x if %s]`, `"%%{ if %s }y%%{ else }n%%{ endif }"`, `[for x in [true, false] : x if x && %s]`, `(%s) && !(var.nb == null)`,
		`true && %s ? 1 : 0`, `"%%{ for x in ["a"] }%%{ if %s || false }y%%{ endif }%%{ endfor }"`} {
		out = append(out, each(format, boolOperands)...)
	}
	for _, format := range []string{`true ? %s : "a"`, `false ? "a" : %s`, `local.ub ? %s : null`, `sensitive(true) ? %s : null`, `"${%s}"`, `"a${%s}"`, `[%s]`, `{ a = %s }`,
		`{ (%s) = 1 }`, `{ for x in ["a"] : x => %s }`, `{ for x in ["a"] : %s => x }`, `["a", "b"][%s]`, `{ a = 1 }[%s]`, `tomap({ a = "b" })[%s]`,
		`"%%{ for x in [%s] }${x}%%{ endfor }"`} {
		out = append(out, each(format, anyOperands)...)
	}
	for _, format := range []string{`%s[0]`, `%s["a"]`, `%s.a`, `%s[*]`, `%s[*].a`, `%s.*.a`, `[for x in %s : x]`, `[for k, v in %s : k]`, `{ for k, v in %s : k => v }`,
		`{ for v in %s : "k" => v... }`, `"%%{ for x in %s }${x},%%{ endfor }"`, `max(%s...)`, `try(%s[0], "none")`, `can(%s.a)`} {
		out = append(out, each(format, collectionOperands)...)
	}
	return out
}

// unlike are the functions whose results differ each time, and those that only the console has.
var unlike = map[string]bool{"timestamp": true, "uuid": true, "bcrypt": true, "plantimestamp": true, "type": true}

func functionExpressions(ours *Manifest, rows []answer) []string {
	var out []string
	known := ours.tree.Root.Functions
	done := map[string]int{}
	for _, row := range rows {
		expr, diags := hclsyntax.ParseExpression([]byte(row.Expr), "row", hcl.InitialPos)
		call, ok := expr.(*hclsyntax.FunctionCallExpr)
		if diags.HasErrors() || !ok || row.Printed == failed || call.ExpandFinal || unlike[call.Name] || done[call.Name] > len(call.Args) {
			continue
		}
		if _, ok := known[call.Name]; !ok || strings.Contains(row.Expr, "local.") || strings.Contains(row.Expr, "sensitive(") || strings.Contains(row.Expr, "null") {
			continue
		}
		args := make([]string, len(call.Args))
		for i, a := range call.Args {
			args[i] = string(a.Range().SliceBytes([]byte(row.Expr)))
		}
		for i := done[call.Name]; i < len(args); i++ { // more parameters than the pattern so far
			for _, operand := range likeArgument(ours, args[i]) {
				changed := slices.Clone(args)
				changed[i] = operand
				out = append(out, call.Name+"("+strings.Join(changed, ", ")+")")
			}
		}
		done[call.Name] = max(done[call.Name], len(args))
	}
	return out
}

// likeArgument returns operands to put in the place of an argument, of its type where they have one.
func likeArgument(ours *Manifest, arg string) []string {
	kind, diags := ours.Evaluate("type("+arg+")", nil)
	if diags.HasErrors() { // an argument of try
		return []string{"null", "local.ud"}
	}
	out := []string{"null", "local.ud", "sensitive(" + arg + ")", "sensitive(local.ud)"}
	switch {
	case kind == "string":
		return append(out, "var.ns", "local.us", `"${`+arg+`}${local.us}"`, "sensitive(local.us)", "sensitive(var.ns)")
	case kind == "number":
		return append(out, "var.nn", "local.un", "sensitive(local.un)", "sensitive(var.nn)")
	case kind == "bool":
		return append(out, "var.nb", "local.ub", "sensitive(local.ub)", "sensitive(var.nb)")
	case strings.HasPrefix(kind, "object"), strings.HasPrefix(kind, "map"):
		return append(out, "var.nm", "var.no", "local.um", "{ a = null }", "{ a = var.ns }", "{ a = local.us }", `{ a = sensitive("b") }`, `{ a = local.ud }`,
			"merge("+arg+", { z = null })", "merge("+arg+", { z = local.us })", "sensitive(local.um)", "sensitive(var.nm)")
	}
	return append(out, "var.nl", "local.ul", "local.ut", "[null]", "[var.ns]", "[local.us]", "[local.ud]", `[sensitive("a")]`,
		"concat("+arg+", [null])", "concat("+arg+", [local.us])", "["+arg+", null]", "sensitive(local.ul)", "sensitive(var.nl)")
}
