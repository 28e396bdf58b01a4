package config

import (
	"strings"
	"testing"
)

func TestFunctions(t *testing.T) {
	t.Parallel()
	for expr, want := range map[string]string{
		`abs(-1)`: `1`, `ceil(1.2)`: `2`, `floor(-1.2)`: `-2`, `log(16, 2)`: `4`, `max(1, 3, 2)`: `3`, `min(3, 1)`: `1`,
		`parseint("ff", 16)`: `255`, `pow(2, 10)`: `1024`, `signum(-3)`: `-1`, `sum([1, 2.5])`: `3.5`,
		`chomp("a\n")`: `"a"`, `format("%s-%03d", "a", 7)`: `"a-007"`, `formatlist("%s!", ["a", "b"])`: `["a!","b!"]`,
		`indent(2, "a\nb")`: `"a\n  b"`, `join(",", ["a", "b"])`: `"a,b"`, `lower("AB")`: `"ab"`, `upper("ab")`: `"AB"`, `title("ab cd")`: `"Ab Cd"`,
		`regex("a(.)", "xab")`: `["b"]`, `regexall("a", "aa")`: `["a","a"]`, `replace("aXb", "X", "-")`: `"a-b"`, `replace("a1b22", "/[0-9]+/", "<$0>")`: `"a<1>b<22>"`,
		`split(",", "a,b")`: `["a","b"]`, `strrev("abc")`: `"cba"`, `substr("hello", 1, 3)`: `"ell"`,
		`trim("??a??", "?")`: `"a"`, `trimprefix("xa", "x")`: `"a"`, `trimsuffix("ax", "x")`: `"a"`, `trimspace(" a ")`: `"a"`,
		`startswith("abc", "ab")`: `true`, `endswith("abc", "ab")`: `false`, `strcontains("abc", "bc")`: `true`,
		`alltrue([true, false])`: `false`, `alltrue([])`: `true`, `anytrue([false, true])`: `true`, `anytrue([])`: `false`,
		`chunklist([1, 2, 3], 2)`: `[[1,2],[3]]`, `coalesce("", null, "b")`: `"b"`, `coalesce(null, 1)`: `1`, `coalescelist([], [1])`: `[1]`, `compact(["a", "", null])`: `["a"]`,
		`concat([1], [2])`: `[1,2]`, `contains(["a"], "a")`: `true`, `distinct(["a", "a"])`: `["a"]`, `element([1, 2], 3)`: `2`, `flatten([[1], [2, [3]]])`: `[1,2,3]`,
		`index(["a", "b"], "b")`: `1`, `keys({ b = 1, a = 2 })`: `["a","b"]`, `length("äb")`: `2`, `length([1])`: `1`, `length({ a = 1 })`: `1`, `length(toset(["a", "a"]))`: `1`,
		`lookup({ a = 1 }, "b", 2)`: `2`, `merge({ a = 1 }, { b = 2 })`: `{"a":1,"b":2}`, `one([1])`: `1`, `one([])`: `null`, `range(3)`: `[0,1,2]`, `range(1, 8, 3)`: `[1,4,7]`,
		`reverse([1, 2])`: `[2,1]`, `setintersection(["a", "b"], ["b"])`: `["b"]`, `setproduct(["a"], ["b", "c"])`: `[["a","b"],["a","c"]]`,
		`setsubtract(["a", "b"], ["b"])`: `["a"]`, `setunion(["a"], ["b"])`: `["a","b"]`, `slice([1, 2, 3], 1, 2)`: `[2]`, `sort(["b", "a"])`: `["a","b"]`,
		`values({ b = 1, a = 2 })`: `[2,1]`, `zipmap(["a"], [1])`: `{"a":1}`,
		`base64encode("a")`: `"YQ=="`, `base64decode("YQ==")`: `"a"`, `csvdecode("a,b\n1,2")`: `[{"a":"1","b":"2"}]`, `jsondecode("{\"a\":[1]}")`: `{"a":[1]}`, `jsonencode({ a = "<" })`: `"{\"a\":\"\\u003c\"}"`,
		`urlencode("a b&")`: `"a+b%26"`, `yamldecode("a: [1]")`: `{"a":[1]}`, `yamlencode({ a = 1 })`: `"\"a\": 1\n"`,
		`md5("a")`: `"0cc175b9c0f1b6a831c399e269772661"`, `sha1("a")`: `"86f7e437faa5a7fce15d1ddcb9eaeaea377667b8"`,
		`sha256("a")`: `"ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"`, `base64sha256("a")`: `"ypeBEsobvcr6wjGzmiPcTaeG7/gUfE5yuYB3ha/uSLs="`,
		`cidrhost("10.0.0.0/16", 258)`: `"10.0.1.2"`, `cidrnetmask("10.0.0.0/12")`: `"255.240.0.0"`, `cidrsubnet("10.0.0.0/16", 8, 2)`: `"10.0.2.0/24"`, `cidrsubnets("10.0.0.0/16", 8, 4)`: `["10.0.0.0/24","10.0.16.0/20"]`,
		`formatdate("YYYY-MM-DD", "2020-02-03T04:05:06Z")`: `"2020-02-03"`, `timeadd("2020-02-03T04:05:06Z", "1h")`: `"2020-02-03T05:05:06Z"`,
		`tobool("true")`: `true`, `tolist(["a"])`: `["a"]`, `tomap({ a = 1 })`: `{"a":1}`, `tonumber("1.50")`: `1.5`, `toset(["b", "a", "b"])`: `["a","b"]`, `tostring(1)`: `"1"`,
		`try({}.a, 1)`: `1`, `can({}.a)`: `false`, `issensitive(sensitive(1))`: `true`, `nonsensitive(sensitive(1))`: `1`,
		`0.1 + 0.2`: `0.3`, `1 / 4`: `0.25`, `100000000000000000000000000000001 + 1`: `100000000000000000000000000000002`,
	} {
		m := load(t, "resource \"a\" {\n  type = \"x\"\n  config = { v = "+expr+" }\n}\n")
		if got := config(t, m, "a", nil); string(got.Value) != `{"v":`+want+`}` {
			t.Errorf("%s: %s, want %s", expr, got.Value, want)
		}
	}
}

// Every function must survive arguments of every kind, known and unknown,
// without a panic that reaches the user.
func TestFunctionsSurviveAnyArguments(t *testing.T) {
	t.Parallel()
	arguments := []string{`null`, `""`, `"a"`, `1e300`, `-1`, `[]`, `["a", null]`, `{}`, `{ a = [1] }`, `true`, `sensitive("s")`, `sensitive([sensitive("x")])`,
		`resource.r.state.x`, `[resource.r.state.x]`, `{ k = resource.r.state.x }`, `toset(["a"])`, `tomap({ a = "b" })`, `tolist([resource.r.state.x])`}
	for name := range newManifest(Sources{}, Builtins{}).root.functions {
		var b strings.Builder
		b.WriteString("resource \"r\" {\n  type = \"x\"\n}\nresource \"a\" {\n  type = \"x\"\n  config = {\n")
		n := 0
		for _, first := range arguments {
			for _, args := range []string{first, first + ", " + first, first + `, "a"`, first + ", 1, 1"} {
				n++
				b.WriteString("    " + name + strings.Repeat("x", n) + " = try(" + name + "(" + args + "), 0)\n")
			}
		}
		_, diags := Load(sources(t.TempDir(), b.String()+"  }\n}\n"), nil, Builtins{})
		for _, d := range diags {
			if strings.Contains(d.Detail, "bug in deployster") || strings.Contains(d.Detail, "panic") {
				t.Errorf("%s: %v", name, d)
			}
		}
	}
}

func TestFunctionsHaveLimits(t *testing.T) {
	t.Parallel()
	for _, expr := range []string{`pow(10, 1000000)`, `pow(pow(10, 400), 400)`, `tonumber("1e100000000")`, `jsondecode("1e100000000")`, `yamldecode("1e100000000")`,
		`jsondecode(join("", [for i in range(500) : "["]))`, `yamldecode(join("", [for i in range(500) : "- "]))`,
		`setproduct(range(1000), range(1000))`, `format("%0*d", 100000000, 1)`, `format("%.99999999f", 1)`, `formatlist("%99999999d", [1])`, `indent(100000000, "a\nb")`,
		`replace(join("", [for i in range(1000) : "aaaaaaaaaaaaaaaaaaaa"]), "a", join("", [for i in range(1000) : "bbbbbbbbbbb"]))`,
		`replace(join("", [for i in range(1000) : "aaaaaaaaaaaaaaaaaaaa"]), "/a*?/", join("", [for i in range(1000) : "bbbbbbbbbbb"]))`,
		`[for i in range(101) : range(1000)]`, `[for i in range(1000) : "${format("%9999s", i)}${format("%9999s", i)}"]`} {
		_, diags := Load(sources(t.TempDir(), "locals {\n  x = "+expr+"\n}\n"), nil, Builtins{})
		if !diags.HasErrors() {
			t.Errorf("%s passed", expr)
		}
	}
}
