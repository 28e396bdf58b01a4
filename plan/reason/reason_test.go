package reason

import (
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

// codes returns the declared codes.
func codes(t *testing.T) (list []Code) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), "codes.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if value, is := n.(*ast.BasicLit); is {
			text, _ := strconv.Unquote(value.Value)
			list = append(list, Code(text))
		}
		return true
	})
	return list
}

func TestCodes_HaveWords(t *testing.T) {
	t.Parallel()
	seen := map[Code]bool{}
	for _, code := range codes(t) {
		r := New(code, "a", "b", "c").With(New(Asked), New(Owned, "d"))
		for _, words := range []string{r.Words(), r.OfMany()} {
			if texts[code] == "" || seen[code] || r.Invalid() || words == "" || strings.ContainsAny(words, "{}|") {
				t.Errorf("%s: %q", code, words)
			}
		}
		if empty := New(code); strings.ContainsAny(empty.Words(), "{}|") { // of a damaged file
			t.Errorf("%s without references: %q", code, empty.Words())
		}
		seen[code] = true
	}
	if len(seen) != len(texts) || len(seen) < 60 {
		t.Errorf("%d codes, %d texts", len(seen), len(texts))
	}
}

func TestWords_OfReasons(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reason    *Reason
		one, many string
	}{
		{nil, "", ""},
		{New(NotCreated, "b", "a"), "resource.a, resource.b do not exist yet", "resource.a, resource.b do not exist yet"},
		{New(UnknownValues, "resource.a.state.ip"), "resource.a.state.ip is known after apply", "resource.a.state.ip is known after apply"},
		{New(UnknownValues, "var.a, var.b"), "var.a, var.b are known after apply", "var.a, var.b are known after apply"},
		{New(HostUnknown, "web", "resource.vm.state.ip"), "its host.web is made of resource.vm.state.ip, which is known after apply",
			"their host.web is made of resource.vm.state.ip, which is known after apply"},
		{New(HostUnknown, "web", "a", "b"), "its host.web is made of a, b, which are known after apply",
			"their host.web is made of a, b, which are known after apply"},
		{New(Undeclared).With(New(KeptReadOnly)), "it is no longer in the configuration, and it was read_only: it is not destroyed",
			"they are no longer in the configuration, and they were read_only: they are not destroyed"},
		{New(RemovedBlock, "a.hcl:3").With(New(KeptByBlock), nil, New(Leftover)), "a removed block names it (a.hcl:3): it is not " +
			"destroyed; " +
			"an apply began to make it and did not finish, so something of it may be left",
			"a removed block names them (a.hcl:3): they are not destroyed; " +
				"an apply began to make them and did not finish, so something of them may be left"},
		{New(DestroyedLater, "a (deposed 1)").With(New(Differs, "/id", "1", "2", "/x", "{0}", "4")),
			"It is made before a (deposed 1) is destroyed, which it replaces (/id 1 -> 2, /x {0} -> 4).",
			"It is made before a (deposed 1) is destroyed, which it replaces (/id 1 -> 2, /x {0} -> 4)."},
		{New(Notified, "a"), "Will be refreshed: resource.a has changed or will change.", "Will be refreshed: resource.a has changed or will change."},
		{New(Notified, "a", "b"), "Will be refreshed: resource.a, resource.b have changed or will change.",
			"Will be refreshed: resource.a, resource.b have changed or will change."},
		{New("ghost"), "ghost", "ghost"},
	} {
		if one, many := c.reason.Words(), c.reason.OfMany(); one != c.one || many != c.many {
			t.Errorf("%+v:\n%q\n%q\nwant\n%q\n%q", c.reason, one, many, c.one, c.many)
		}
	}
}

func TestCommon_TakesTheFirstCode(t *testing.T) {
	t.Parallel()
	of := map[string]Code{"b": ToUpdate, "c": MayChange, "d": ToUpdate}
	got := Common([]string{"a", "b", "c", "d"}, func(addr string) Code { return of[addr] })
	if want := New(ToUpdate, "b", "d"); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := Common([]string{"a"}, func(addr string) Code { return of[addr] }); got != nil {
		t.Errorf("got %+v, want none", got)
	}
}

func TestMap_ReachesAllReferences(t *testing.T) {
	t.Parallel()
	r := New(Differs, "x").With(New(Owned, "y").With(New(Failed, "z")))
	got := r.Map(strings.ToUpper)
	want := New(Differs, "X").With(New(Owned, "Y").With(New(Failed, "Z")))
	if !reflect.DeepEqual(got, want) || r.Refs[0] != "x" || (*Reason)(nil).Map(strings.ToUpper) != nil {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
